"""Erasing: what is left of the words of a turn, a session, a user. Nothing, in answers, in rows and in bytes."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import numpy as np
import pytest

from mnemic.errors import EmbeddingFailed, InvalidInput, NotFound
from mnemic.models.doubles import HashEmbedder

NOON = datetime(2023, 5, 8, 12, 0, tzinfo=UTC)
LOST = ("zymurgy", "Quokkaville", "heliotrope")


def user(text, turn_id, **more):
    return {"role": "user", "content": text, "id": turn_id, **more}


TALK = [
    user("We met at the harbour on Monday.", "a", session_id="one"),
    user(
        "I love zymurgy and I live in Quokkaville since May 2021!", "b", session_id="one", metadata={"k": "heliotrope"}
    ),
    user("The harbour was closed for a week.", "c", session_id="one"),
    user("Call me at the harbour.", "d", session_id="two", agent_id="x"),
]


@pytest.fixture
def talk(memory):
    memory.add(TALK, user_id="u", timestamp=NOON)
    memory.add(TALK, user_id="bystander", timestamp=NOON)
    memory.update("b", user_id="u", metadata={"again": "heliotrope"})
    memory.search("zymurgy in Quokkaville", user_id="u", explain=True)
    return memory


def bytes_of(folder):
    """What stands in the database and in every file beside it."""
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


def everything(memory, user_id="u"):
    """All that a memory tells of a user, as one text."""
    questions = ("zymurgy", "Quokkaville", "What did we do at the harbour?", "heliotrope", "May 2021")
    return repr(
        [
            [
                memory.search(question, user_id=user_id, config=config, granularity=granularity, explain=True)
                for question in questions
                for config in ("default", "hero")
                for granularity in ("trace", "turn")
            ],
            [memory.context(question, user_id=user_id) for question in questions],
            memory.notes(user_id=user_id),
            memory.get_all(user_id=user_id),
            list(memory.export(user_id=user_id)),
            memory._store.operations(user_id),
            memory._store.load(user_id, since=0),
        ]
    )


def mentioned(text):
    return [word for word in LOST if word in text.lower() or word in text]


def asked_back(memory):
    """The same without the questions, which explain repeats."""
    return re.sub(r"Step\(kind='query'[^)]*\)", "", everything(memory))


def untimed(text):
    return re.sub(r"took_ms=[0-9.e-]+", "", text)


def test_before_the_erasure_everything_is_there(talk):
    assert set(mentioned(asked_back(talk))) == set(LOST)


def test_of_an_erased_turn_nothing_is_left(talk, tmp_path):
    before = talk.status(user_id="u").counts
    assert talk.delete_all(user_id="bystander") == 4
    assert talk.delete(user_id="u", turn_id="b") == 1
    assert mentioned(asked_back(talk)) == []
    after = talk.status(user_id="u").counts
    assert (after.turns, after.units, after.notes) == (before.turns - 1, before.units - 1, before.notes - 1)
    assert after.cues < before.cues
    assert [turn.turn_id for turn in talk.get_all(user_id="u")] == ["a", "c", "d"]
    for gone in ("b", "N2"):
        with pytest.raises(NotFound):
            talk.get(gone, user_id="u")
        assert talk.history(gone, user_id="u") == []
    assert talk.check() == []
    assert mentioned(bytes_of(tmp_path).decode("latin-1")) == []
    talk.close()
    assert mentioned(bytes_of(tmp_path).decode("latin-1")) == []


def test_its_neighbours_stay_and_are_found(talk):
    talk.delete(user_id="u", turn_id="b")
    hits = talk.search("harbour", user_id="u").results
    assert sorted(turn for hit in hits for turn in hit.turn_ids) == ["a", "c", "d"]
    (repacked,) = [hit for hit in hits if "a" in hit.turn_ids]
    assert repacked.turn_ids == ("a", "c")
    assert repacked.quotes == (TALK[0]["content"], TALK[2]["content"])
    (trace,) = talk._store.traces("u", trace_ids=[repacked.trace_id])
    ((_, vector),) = [entry for entry in talk._store.load("u", since=0).traces if entry[0] == trace]
    expected = HashEmbedder().embed(["\n".join(repacked.quotes)])[0]
    np.testing.assert_allclose(vector, expected, atol=1e-3)


def test_other_users_lose_nothing(talk):
    before = everything(talk, "bystander")
    talk.delete(user_id="u", turn_id="b")
    talk.delete(user_id="u", session_id="one")
    talk.delete_all(user_id="u")

    assert untimed(everything(talk, "bystander")) == untimed(before)


@pytest.mark.fault("B142")
@pytest.mark.fault("B143")
@pytest.mark.fault("B148")
def test_erasing_a_user_leaves_the_others_and_counts_all(open_memory, tmp_path):
    memory = open_memory()
    for name in ("ann", "bo"):
        memory.add([{"role": "user", "content": f"{name} says zymurgy {n}."} for n in range(250)], user_id=name)
    assert memory.delete_all(user_id="ann") == 250
    assert memory.get_all(user_id="ann") == []
    assert (memory.users(), len(memory.get_all(user_id="bo"))) == (["bo"], 250)
    assert memory.delete_all(user_id="ann") == 0
    assert memory.delete_all(user_id="never seen") == 0
    assert memory.search("zymurgy", user_id="ann").results == ()
    assert len(memory.search("zymurgy", user_id="bo", top_k=500, granularity="turn").results) == 250
    assert memory.delete_all(user_id="bo") == 250
    assert b"zymurgy" not in bytes_of(tmp_path)
    assert b"ann says" not in bytes_of(tmp_path)


def test_erasing_a_session(talk):
    assert talk.delete(user_id="u", session_id="one") == 3
    assert [turn.turn_id for turn in talk.get_all(user_id="u")] == ["d"]
    assert mentioned(asked_back(talk)) == []
    assert talk.status(user_id="u").counts.sessions == 1
    with pytest.raises(NotFound, match="session 'one'"):
        talk.delete(user_id="u", session_id="one")


@pytest.mark.fault("B107")
def test_what_was_erased_can_be_said_again(talk):
    talk.delete(user_id="u", turn_id="b")
    assert talk.add(TALK[1], user_id="u").new == 1
    assert talk.get("b", user_id="u").timestamp is None
    assert talk.search("zymurgy", user_id="u").results[0].quotes == (TALK[1]["content"],)
    talk.delete(user_id="u", session_id="one")
    assert talk.add(TALK, user_id="u").new == 3
    talk.delete_all(user_id="u")
    assert talk.add(user("The lamp is green.", "b", session_id="one"), user_id="u").new == 1
    assert [hit.quotes for hit in talk.search("harbour zymurgy lamp", user_id="u").results] == [("The lamp is green.",)]
    assert mentioned(asked_back(talk)) == []


def test_a_long_turn_goes_with_all_its_traces(memory):
    long = " ".join(f"Sentence {n} is about zymurgy and some other thing." for n in range(200))
    memory.add([user("before", "a"), user(long, "b"), user("after", "c")], user_id="u")
    assert memory.status(user_id="u").counts.traces > 10
    memory.delete(user_id="u", turn_id="b")
    assert [trace.spans[0].turn_id for trace in memory._store.traces("u")] == ["a", "c"]
    assert memory.search("zymurgy", user_id="u").nothing_relevant


def test_what_to_erase_must_be_said_exactly(talk):
    for wrong in ({}, {"turn_id": "a", "session_id": "one"}):
        with pytest.raises(InvalidInput, match="either"):
            talk.delete(user_id="u", **wrong)
    for wrong in ({"turn_id": "x"}, {"turn_id": "A"}, {"turn_id": "%"}, {"session_id": "x"}, {"session_id": "ONE"}):
        with pytest.raises(NotFound, match="'u'"):
            talk.delete(user_id="u", **wrong)
    with pytest.raises(NotFound):
        talk.delete(user_id="stranger", turn_id="a")
    assert len(talk.get_all(user_id="u")) == 4


class Failing(HashEmbedder):
    fails = False

    def embed(self, texts, *, kind="passage"):
        if self.fails:
            raise EmbeddingFailed("the model is gone")
        return super().embed(texts, kind=kind)


@pytest.mark.fault("B126")
@pytest.mark.parametrize("how", ["embedder fails", "no embedder"])
def test_repacked_traces_get_their_vectors_later(open_memory, how):
    failing = Failing()
    memory = open_memory(embedder=failing)
    memory.add(TALK, user_id="u")
    failing.fails = True
    eraser = memory if how == "embedder fails" else open_memory(embedder=None)
    assert eraser.delete(user_id="u", turn_id="b") == 1
    assert memory.status(user_id="u").counts.pending == 1
    failing.fails = False
    memory.add("Something new.", user_id="u")
    assert memory.status(user_id="u").counts.pending == 0
    assert list(memory._store.unembedded(failing.fingerprint, user_id="u", limit=9)) == []


@pytest.mark.fault("B187")
def test_very_many_turns_are_added_read_and_erased(open_memory):
    memory = open_memory(embedder=None)
    count = 3000
    memory.add([user("ok", str(n), session_id=f"s{n % 2}") for n in range(count)], user_id="u")
    assert memory.add([user("ok", str(n)) for n in range(count + 1)], user_id="u").new == 1
    assert memory.delete(user_id="u", session_id="s0") == count // 2
    assert len(memory.get_all(user_id="u")) == count // 2 + 1
    assert memory.delete_all(user_id="u") == count // 2 + 1


def test_a_receipt_names_what_stays_and_where(talk):
    receipt = talk.erase(user_id="u", session_id="one")
    assert (receipt.what, receipt.name, receipt.erased.turns, receipt.erased.units) == ("session", "one", 3, 3)
    assert receipt.erased.operations >= 1
    assert receipt.lingers == ()
    reach = "\n".join(receipt.unreached)
    for where in ("mnemic backup", "exports", "providers of models", "memory of other processes", "file system"):
        assert where in reach


def test_all_that_a_speaker_said_goes_and_what_others_said_about_them_stays(memory):
    memory.add(
        [user("I keep zymurgy books.", "a", name="Quo"), user("Quo told me of it.", "b", name="Ana")], user_id="u"
    )
    receipt = memory.erase(user_id="u", speaker="Quo")
    assert (receipt.what, receipt.name, receipt.erased.turns) == ("speaker", "Quo", 1)
    assert receipt.unreached[0].startswith("what others said about the speaker")
    assert [turn.text for turn in memory.get_all(user_id="u")] == ["Quo told me of it."]
    assert "zymurgy" not in everything(memory).replace("query='zymurgy", "").lower().replace("text='zymurgy", "")
    with pytest.raises(NotFound, match="no speaker 'Quo'"):
        memory.erase(user_id="u", speaker="Quo")


def test_a_copy_from_before_a_migration_is_named(talk, tmp_path):
    (database,) = tmp_path.glob("*.db")
    (tmp_path / f"{database.name}.backup-0004").write_bytes(b"old")
    receipt = talk.erase(user_id="u", turn_id="d")
    assert receipt.unreached[0].startswith("copies from before a migration, beside the database: .backup-0004")


@pytest.mark.parametrize("given", [{}, {"turn_id": "a", "speaker": "user"}, {"session_id": "one", "everything": True}])
def test_erase_takes_exactly_one(talk, given):
    with pytest.raises(InvalidInput, match="exactly one of"):
        talk.erase(user_id="u", **given)
    assert len(talk.get_all(user_id="u")) == 4


def test_erasing_empties_what_functions_remember(talk):
    from mnemic.algo import cues, lexical

    lexical.terms("zymurgy")
    cues.normalise("zymurgy")
    held = [cues._cached_key, lexical._word, lexical._ascii_term]
    assert min(cached.cache_info().currsize for cached in held) > 0
    talk.erase(user_id="u", turn_id="b")
    assert max(cached.cache_info().currsize for cached in held) == 0
