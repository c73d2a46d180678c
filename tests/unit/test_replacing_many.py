"""New notes that change something are compared with what is known, in time that does not grow with both numbers."""

from __future__ import annotations

import pytest

from mnemic.algo import slots
from mnemic.memory import Memory


def test_each_known_note_is_read_once_however_many_new_ones_change_something(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    found = slots.slots

    def counted(text: str) -> list[slots.Slot]:
        read.append(text)
        return found(text)

    monkeypatch.setattr(slots, "slots", counted)
    said = [
        f"I moved to {first}{last}." for first in ("Li", "Ber", "Gra", "Por", "Tu") for last in ("sbon", "gen", "tz")
    ]
    said *= 3
    messages = [
        {"id": f"m{place}", "role": "user", "name": "Ana", "content": text, "timestamp": 86400 * place}
        for place, text in enumerate(said)
    ]
    memory.add(messages, user_id="ana")
    # A few times each; of every pair, it would be a thousand times.
    assert len(said) <= len(read) <= 6 * len(said)
    current = [note.text for note in memory.notes(user_id="ana")]
    assert len([text for text in current if "moved to" in text]) == 1


@pytest.mark.parametrize(
    ("new", "old", "how"),
    [
        ("I moved to Lisbon.", "I live in Bergen.", "changed"),
        ("Correction: I live in Lisbon.", "I live in Bergen.", "corrected"),
        ("I live in Lisbon.", "I live in Bergen.", None),
        ("I moved to Lisbon.", "I live in Lisbon.", None),
        ("I moved to Lisbon.", "I like tea.", None),
    ],
)
def test_a_change_replaces_what_gives_another_value(new: str, old: str, how: str | None) -> None:
    said = slots.change(new)
    replaces = said is not None and said.replaces(slots.slots(old))
    assert (said.how if said is not None and replaces else None) == how == slots.conflict(new, old)
