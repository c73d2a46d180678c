"""Notes that a person or another program gives: stored once, found again, embedded, erased with their sources."""

from __future__ import annotations

import asyncio
import json
import threading
from datetime import UTC, datetime

import numpy as np
import pytest

from mnemic import AsyncMemory, Fusion
from mnemic.errors import EmbeddingFailed, InvalidInput, InvalidScope, NotFound
from mnemic.models.doubles import HashEmbedder
from mnemic.types import Added, Interval, Span

NOON = datetime(2023, 5, 8, 12, 0, tzinfo=UTC)
MODEL = HashEmbedder()
TALK = [
    {"id": "a", "name": "Ana", "content": "The kiln came at last. It is heavy.", "session_id": "one"},
    {"id": "b", "name": "Bo", "content": "I love zymurgy.", "session_id": "one"},
    {"id": "c", "name": "Ana", "content": "See you on Monday.", "session_id": "two"},
]
KILN = {"id": "kiln", "text": "Ana owns a pottery kiln", "about": "Ana", "sources": ["a"]}
BEER = {"text": "Bo brews ale in Quokkaville", "about": "Bo", "sources": ["b", "c"], "kind": "preference"}


class Broken(HashEmbedder):
    """Fails until it is told not to."""

    broken = True

    def embed(self, texts, *, kind="passage"):
        if self.broken:
            raise EmbeddingFailed("broken")
        return super().embed(texts, kind=kind)


@pytest.fixture
def talk(memory):
    memory.add(TALK, user_id="u", timestamp=NOON)
    return memory


def vectors(memory, user_id="u"):
    """note_id -> vector of its current version."""
    return {note.note_id: vector for note, vector in memory._store.load(user_id, since=0).notes}


def graph(memory, user_id="u"):
    with memory._indexes.graph(user_id) as (found, _):
        return found


def given_notes(memory):
    """The texts of the given notes that the graph knows."""
    found = graph(memory)
    return [found.note_text[slot] for slot in np.flatnonzero(found.note_given & found.note_alive)]


def give(memory, notes, user_id="u"):
    """The notes of a call as they are stored."""
    return [memory.get(note_id, user_id=user_id) for note_id in memory.add_notes(notes, user_id=user_id).notes]


def is_embedding(vector, text):
    return np.allclose(vector, MODEL.embed([text])[0], atol=1e-3)


def test_given_notes_are_stored_and_read_like_others(talk):
    before = talk.notes(user_id="u")
    assert talk.add_notes([KILN, BEER], user_id="u") == Added((), 2, ("N2", "N3"))
    given = [talk.get(note_id, user_id="u") for note_id in ("N2", "N3")]
    assert [(note.version, note.kind, note.about, note.text, note.status) for note in given] == [
        (1, "fact", "Ana", KILN["text"], "current"),
        (1, "preference", "Bo", BEER["text"], "current"),
    ]
    assert [note.given_id for note in (*before, given[0])] == [None, "kiln"]
    assert given[0].sources == (Span("a", 0, len(TALK[0]["content"])),)
    assert given[0].valid == Interval(NOON, None)
    assert talk.notes(user_id="u") == [*before, *given]
    assert [(entry.action, entry.trigger, entry.after) for entry in talk.history("N2", user_id="u")] == [
        ("ADD", "person", KILN["text"])
    ]
    assert talk.status(user_id="u").counts.notes == 3
    assert talk.status(user_id="u").counts.pending == 0
    assert talk.check() == []


def test_metadata_times_slices_and_one_note_alone(talk):
    note = {**KILN, "sources": [["a", 0, 4]], "valid": ["2024-01-01", "2025-01-01"], "metadata": {"by": "Cy", "n": [1]}}
    added = talk.add_notes(note, user_id="u", timezone="+02:00")
    [stored] = [found for found in talk.notes(user_id="u", as_of="2024-06-01") if (found.note_id,) == added.notes]
    assert stored.metadata == {"by": "Cy", "n": [1]}
    assert stored.valid.start.isoformat() == "2024-01-01T00:00:00+02:00"
    assert stored.sources == (Span("a", 0, 4),)
    assert stored not in talk.notes(user_id="u", as_of="2025-06-01")
    found = graph(talk)
    assert [(int(note), int(unit)) for note, unit in zip(found.source_note, found.source_unit, strict=True)] == [
        (0, 2), (1, 0),
    ]  # fmt: skip


def test_each_has_the_vector_of_its_own_words_without_the_names(talk):
    talk.add_notes([KILN, BEER], user_id="u")
    found = vectors(talk)
    assert is_embedding(found["N2"], "owns a pottery kiln")
    assert is_embedding(found["N3"], "brews ale in Quokkaville")
    assert is_embedding(found["N1"], "I love zymurgy.")


def test_the_graph_knows_their_sources_and_cues(talk):
    talk.add_notes([KILN, BEER], user_id="u")
    found = graph(talk)
    assert found.note_given.tolist() == [False, True, True]
    assert [(int(note), int(unit)) for note, unit in zip(found.source_note, found.source_unit, strict=True)] == [
        (0, 2), (1, 0), (1, 1), (2, 2), (2, 3),
    ]  # fmt: skip
    rows, columns = len(found.unit_turn) + 2, found.cue_slot["quokkaville"]
    assert columns in found.mentions.columns[found.mentions.starts[rows] : found.mentions.starts[rows + 1]]


def test_a_question_in_the_words_of_a_note_finds_what_it_rests_on(talk):
    before = talk.search("Who brews ale in Quokkaville?", user_id="u", granularity="turn")
    assert all("note" not in hit.signals for hit in before.results)
    talk.add_notes([KILN, BEER], user_id="u")
    found = talk.search("Who brews ale in Quokkaville?", user_id="u", granularity="turn")
    lent = {hit.turn_ids: hit.signals.get("note", 0.0) for hit in found.results}
    assert lent["b",] == lent["c",] > lent["a",]
    assert sum(found.results[0].signals.values()) > sum(found.results[1].signals.values())
    # The words are the turns' own.
    assert not any("Quokkaville" in hit.text for hit in found.results)
    without = talk.search("Who brews ale in Quokkaville?", user_id="u", granularity="turn", config=Fusion(note=0))
    assert all("note" not in hit.signals for hit in without.results)


def test_a_note_lends_nothing_to_what_passes_a_filter_its_other_sources_do_not(talk):
    talk.add_notes([KILN, BEER], user_id="u")
    question = "Who brews ale in Quokkaville?"
    two = talk.search(question, user_id="u", session_id="two")
    assert [hit.turn_ids for hit in two.results] == [("c",)]
    assert "note" not in two.results[0].signals
    one = talk.search(question, user_id="u", session_id="one", granularity="turn")
    assert {hit.turn_ids for hit in one.results if hit.signals.get("note")} <= {("a",)}


def test_what_is_known_is_not_stored_again(talk):
    first = talk.add_notes([KILN, BEER, BEER], user_id="u")
    assert (first.new, first.notes) == (2, ("N2", "N3", "N3"))
    revision = talk._store.revision("u")
    again = talk.add_notes([{**BEER, "sources": ["c", "b"], "metadata": {"again": True}}, KILN], user_id="u")
    assert again == Added((), 0, ("N3", "N2"))
    assert talk._store.revision("u") == revision
    # What rules quoted is another kind of note.
    others = [{**BEER, "about": "Ana"}, {**BEER, "sources": ["b"]}, {"text": "I love zymurgy.", "sources": ["b"]}]
    assert talk.add_notes([*others, KILN], user_id="u") == Added((), 3, ("N4", "N5", "N6", "N2"))


def test_another_statement_under_a_known_id_is_not_stored_and_told(talk):
    talk.add_notes(KILN, user_id="u")
    revision = talk._store.revision("u")
    again = talk.add_notes({**KILN, "text": "Ana sold her kiln"}, user_id="u")
    assert (again.new, again.notes) == (0, ("N2",))
    assert again.warnings == ("notes not stored: 1; another statement has the id already ('kiln' first)",)
    assert talk._store.revision("u") == revision
    assert talk.get("N2", user_id="u").text == KILN["text"]


def test_an_id_is_its_users_own(talk):
    talk.add({"id": "a", "role": "user", "content": "I fire a kiln."}, user_id="v")
    talk.add_notes(KILN, user_id="u")
    assert talk.add_notes({**KILN, "text": "A kiln burns"}, user_id="v").new == 1


def test_nothing_is_stored_where_one_cannot_be(talk):
    before = talk._store.revision("u"), talk.status(user_id="u").counts, talk._store.operations("u")
    for wrong, error, said in (
        ({**KILN, "text": "\t"}, InvalidInput, r"notes\[1\]: text is blank"),
        ({**KILN, "kind": "rumour"}, InvalidInput, r"notes\[1\]: kind is one of"),
        ({**KILN, "sources": [["a", 0, 99]]}, InvalidInput, r"notes\[1\]: a source ends at 99, but turn 'a' has 35"),
        ({**KILN, "sources": ["a", "nobody"]}, NotFound, r"notes\[1\]: there is no turn 'nobody'"),
        ({**KILN, "sources": ["A"]}, NotFound, "no turn 'A'"),
    ):
        with pytest.raises(error, match=said):
            talk.add_notes([BEER, wrong], user_id="u")
    with pytest.raises(InvalidScope, match="user_id"):
        talk.add_notes(KILN, user_id="")
    assert (talk._store.revision("u"), talk.status(user_id="u").counts, talk._store.operations("u")) == before


def test_of_another_user_no_turn_is_known(talk):
    with pytest.raises(NotFound, match="'a'"):
        talk.add_notes(KILN, user_id="stranger")
    assert talk.users() == ["u"]
    assert talk.add_notes([], user_id="stranger") == Added((), 0)
    assert talk.users() == ["u"]


def test_a_note_goes_with_any_of_its_sources(talk, tmp_path):
    notes = [KILN, {**BEER, "id": "Quokkaville by Bo", "about": "Uncle Quokkaville", "metadata": {"of": "Quokkaville"}}]
    talk.add_notes(notes, user_id="u")
    talk.search("ale in Quokkaville", user_id="u")
    # It rests on b, too, which stays; but its words may be those of c.
    talk.delete(user_id="u", turn_id="c")
    assert [note.text for note in talk.notes(user_id="u")] == ["I love zymurgy.", KILN["text"]]
    assert given_notes(talk) == [KILN["text"]]
    assert talk.history("N3", user_id="u") == []
    told = repr([talk._store.load("u", since=0), graph(talk).note_text, graph(talk).cue_keys])
    assert "uokkaville" not in told.lower()
    talk.close()
    assert not any(b"uokkaville" in path.read_bytes() for path in tmp_path.iterdir())


def test_what_was_erased_may_be_given_again(talk):
    talk.add_notes([KILN, BEER], user_id="u")
    talk.delete(user_id="u", turn_id="c")
    assert talk.add_notes({**BEER, "sources": ["b"]}, user_id="u").notes == ("N4",)
    assert talk.add_notes(KILN, user_id="u").new == 0
    talk.delete(user_id="u", turn_id="a")
    assert talk.add_notes({**KILN, "sources": ["b"]}, user_id="u").notes == ("N5",)
    assert talk.check() == []


def test_a_user_goes_with_all_notes(talk):
    talk.add_notes([KILN, BEER], user_id="u")
    talk.delete_all(user_id="u")
    talk.add(TALK, user_id="u")
    assert talk.add_notes(KILN, user_id="u").new == 1
    assert talk.check() == []


def test_after_a_restart_everything_is_as_it_was(talk, open_memory):
    given = give(talk, [KILN, BEER])
    told = graph(talk)
    talk.close()
    again = open_memory()
    assert again.notes(user_id="u")[1:] == given
    assert graph(again).note_given.tolist() == told.note_given.tolist()
    assert graph(again).note_vectors == pytest.approx(told.note_vectors)
    assert again.add_notes(BEER, user_id="u") == Added((), 0, ("N3",))


def test_words_survive_as_they_are(talk):
    hostile = [
        "a\0b",
        "\ud800 alone",
        "'; DROP TABLE notes; --",
        "😀",
        "שלום",
        "\u202e",
        "日本語。",
        "\0",
        "x" * 50_000,
    ]
    about = ["\0", "\udfff", "%", "_"]
    notes = [{"id": text[:9], "text": text, "sources": ["a"], "about": about[n % 4]} for n, text in enumerate(hostile)]
    given = give(talk, notes)
    assert [(note.given_id, note.text, note.about) for note in given] == [
        (note["id"], note["text"], note["about"]) for note in notes
    ]
    assert talk.notes(user_id="u")[1:] == given
    assert talk.add_notes(notes, user_id="u").new == 0
    assert graph(talk).note_given.tolist() == [False] + [True] * len(hostile)
    assert talk.search("日本語", user_id="u").warnings == ()
    assert talk.check() == []


def test_many_at_once(memory):
    memory.add(
        [{"id": f"t{n}", "name": "Ana", "content": f"Today it was number {n}."} for n in range(300)], user_id="u"
    )
    notes = [{"text": f"Ana counted thing {n} of Lisbon", "sources": [f"t{n % 300}"]} for n in range(2600)]
    added = memory.add_notes(notes, user_id="u")
    assert (added.new, len(set(added.notes))) == (2600, 2600)
    assert memory.status(user_id="u").counts.notes == 2600
    assert int(graph(memory).note_given.sum()) == 2600
    revision = memory._store.revision("u")
    assert memory.add_notes(notes, user_id="u").notes == added.notes
    assert memory._store.revision("u") == revision


def test_without_an_embedder_they_wait_for_one(open_memory):
    deaf = open_memory(embedder=None)
    deaf.add(TALK, user_id="u")
    deaf.add_notes(KILN, user_id="u")
    assert deaf.status(user_id="u").counts.pending == 4
    deaf.close()
    memory = open_memory()
    assert vectors(memory)["N2"] is None
    memory.add_notes(KILN, user_id="u")  # known, and yet it is time to catch up
    assert is_embedding(vectors(memory)["N2"], "owns a pottery kiln")
    assert memory.status(user_id="u").counts.pending == 0


def test_an_embedder_that_fails_leaves_them_to_the_next_write(open_memory, caplog):
    model = Broken()
    model.broken = False
    memory = open_memory(embedder=model)
    memory.add(TALK, user_id="u")
    model.broken = True
    added = memory.add_notes([KILN, BEER], user_id="u")
    assert added.warnings == ("notes stored, without vectors for now: 2: broken",)
    assert "2 notes have no vectors yet" in caplog.text
    assert memory.status(user_id="u").counts.pending == 2
    assert graph(memory).note_given.tolist() == [False, True, True]
    assert "note" not in memory.search("kiln", user_id="u").results[0].signals
    assert not graph(memory).note_vectors[1:].any()
    model.broken = False
    memory.add("Something else.", user_id="u")
    assert is_embedding(vectors(memory)["N3"], "brews ale in Quokkaville")
    assert memory.status(user_id="u").counts.pending == 0


def test_another_embedder_makes_them_alike(talk):
    talk.add_notes(KILN, user_id="u")
    other = HashEmbedder(32)
    talk.reembed(other)
    assert np.allclose(vectors(talk)["N2"], other.embed(["owns a pottery kiln"])[0], atol=1e-3)


def test_two_who_give_the_same_at_once_store_it_once(talk, open_memory):
    other = open_memory()
    notes = [{"text": f"Ana counted to {n}", "sources": ["a"]} for n in range(40)]
    given = {}
    both = threading.Barrier(2)

    def give_all(memory):
        both.wait()
        given[memory] = [memory.add_notes(note, user_id="u").notes for note in notes]

    threads = [threading.Thread(target=give_all, args=(memory,)) for memory in (talk, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert given[talk] == given[other]
    assert talk.status(user_id="u").counts.notes == 1 + len(notes)


def test_a_source_that_goes_between_plan_and_write_is_an_error(talk, monkeypatch):
    write = type(talk._store).write

    def late(store, user_id, batch, *, now):
        monkeypatch.undo()
        talk.delete(user_id="u", turn_id="a")
        return write(store, user_id, batch, now=now)

    monkeypatch.setattr(type(talk._store), "write", late)
    with pytest.raises(NotFound, match="'a'"):
        talk.add_notes(KILN, user_id="u")
    assert [note.text for note in talk.notes(user_id="u")] == ["I love zymurgy."]


def test_async_memory_takes_them_too(talk):
    added = asyncio.run(AsyncMemory(talk).add_notes([KILN], user_id="u"))
    assert added.notes == tuple(note.note_id for note in talk.notes(user_id="u", about="Ana"))


def test_the_command_line_lists_them(filled, open_memory, tmp_path):
    from mnemic import Memory

    with Memory.open(tmp_path / "m.db", embedder=None) as memory:
        memory.add_notes({"text": "Bo keeps a cat", "sources": ["m2"]}, user_id="ana")
    code, out, _ = filled("notes", "--user", "ana", "--json")
    assert code == 0
    assert "Bo keeps a cat" in [note["text"] for note in json.loads(out)["notes"]]
