"""Arguments of another type than they should have, in every method: errors of ours, and nothing done."""

from __future__ import annotations

import pytest
from sqlalchemy.exc import StatementError

from mnemic.errors import InvalidInput, StoreError

CALLS = {
    "get": lambda memory, wrong: memory.get(wrong, user_id="u"),
    "delete": lambda memory, wrong: memory.delete(turn_id=wrong, user_id="u"),
    "update": lambda memory, wrong: memory.update(wrong, user_id="u", metadata={}),
    "update with a text": lambda memory, wrong: memory.update(wrong, user_id="u", metadata={}, text="x"),
    "history": lambda memory, wrong: memory.history(wrong, user_id="u"),
    "get_all after": lambda memory, wrong: memory.get_all(after=wrong, user_id="u"),
    "notes about": lambda memory, wrong: memory.notes(about=wrong, user_id="u"),
    "filters": lambda memory, wrong: memory.search("tea", filters=wrong, user_id="u"),
}
OPTIONAL = [CALLS[name] for name in ("history", "get_all after", "notes about", "filters")]


@pytest.mark.parametrize("wrong", [5, None, b"1", ["1"], "", object()], ids=lambda wrong: type(wrong).__name__)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_is_no_id_is_invalid_input(memory, call, wrong):
    memory.add({"role": "user", "content": "I love green tea.", "id": "1"}, user_id="u")
    if wrong is None and call in OPTIONAL:
        call(memory, wrong)
    elif wrong == 5 and call is CALLS["get_all after"]:
        assert call(memory, wrong) == []  # a place in the order of turns is none's id
    else:
        with pytest.raises(InvalidInput):
            call(memory, wrong)
    assert [turn.turn_id for turn in memory.get_all(user_id="u")] == ["1"]
    assert memory.history("1", user_id="u") == []


def test_what_sqlalchemy_refuses_is_an_error_of_the_store(memory):
    with pytest.raises(StoreError, match=r"memory\.db") as caught:
        memory._store.turns("u", turn_ids=[5])
    assert isinstance(caught.value.__cause__, StatementError)
