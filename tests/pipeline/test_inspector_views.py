"""What each page of the inspector shows, worked out from a memory, without a browser."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from inspector_said import HOSTILE, add_hostile
from mnemic import Budgets, Enriching, Limit
from mnemic.errors import InvalidQuery, KeyRefused, LanguageModelFailed, NotAllowed, NotFound
from mnemic.service.access import OPEN, Access
from mnemic.service.door import Door
from mnemic.service.inspector import ask_view, graph_view, notes_view, operations_view, status_view, timeline_view
from mnemic.service.inspector.desk import LASTS_S, Desk
from mnemic.service.inspector.words import asked
from mnemic.service.settings import Settings
from mnemic.service.tenancy import Tenant
from reading_kit import ReadingModel


@pytest.fixture
def whole(memory):
    add_hostile(memory)
    return memory


@pytest.fixture
def seen(whole):
    return OPEN.memory(whole)


def target(href):
    """The page that an address leads to, and what it is asked."""
    page, _, query = href.partition("#")[0].partition("?")
    return page, asked(query)


# timeline ------------------------------------------------------------------------------------------------


def test_the_timeline_shows_the_last_session_with_its_words_and_where_traces_begin(seen):
    found = timeline_view.read(seen, "ana", {})
    assert [one.name for one in found.sessions] == ["friday", "monday"]
    assert (found.total, found.session.name, found.session.about) == (2, "friday", "3 June 2024 · 2 messages")
    assert [said.text for block in found.blocks for said in block.turns] == [
        "I moved to Lisbon in May.",
        "I love rooibos tea.",
    ]
    [first, second] = [said for block in found.blocks for said in block.turns]
    assert [trace_id for trace_id, _ in first.traces] == ["T2"]
    assert second.traces == ()
    assert first.at == "3 June 2024, 18:05 +01:00"
    assert sum(band.percent for band in found.strip) == pytest.approx(100)


def test_a_turn_is_jumped_to_whatever_session_the_address_names(seen):
    found = timeline_view.read(seen, "ana", {"turn": "m2", "session": "friday"})
    assert found.session.name == "monday"
    assert [said.turn_id for block in found.blocks for said in block.turns if said.jumped] == ["m2"]
    [jumped] = [said for block in found.blocks for said in block.turns if said.jumped]
    assert jumped.href.endswith(f"#{jumped.anchor}")
    assert target(jumped.href) == ("timeline", {"user": "ana", "session": "monday", "turn": "m2"})


@pytest.mark.parametrize("given", [{"turn": "gone"}, {"session": "gone"}, {"turn": "T1"}, {"turn": " "}])
def test_what_is_not_there_is_said(seen, given):
    found = timeline_view.read(seen, "ana", given)
    assert found.missing.startswith("There is no ")
    assert found.session.name == "friday"


def test_a_long_session_is_cut_into_pages(whole, seen):
    whole.add(
        [{"id": f"n{i}", "name": "Ana", "content": f"Number {i}."} for i in range(250)],
        user_id="ana",
        session_id="long",
    )
    pages, given = [], {"session": "long"}
    while True:
        found = timeline_view.read(seen, "ana", given)
        pages.append([said.turn_id for block in found.blocks for said in block.turns])
        if found.after is None:
            break
        given = target(found.after)[1]
    assert [len(page) for page in pages] == [100, 100, 50]
    assert [turn_id for page in pages for turn_id in page] == [f"n{i}" for i in range(250)]
    assert target(found.before)[1]["from"] == "100"
    assert timeline_view.read(seen, "ana", {"turn": "n120"}).blocks[0].turns[0].turn_id == "n100"


def test_nobody_has_an_empty_timeline(seen):
    found = timeline_view.read(seen, "nobody", {})
    assert (found.session, found.sessions, found.missing) == (None, (), None)


# ask -----------------------------------------------------------------------------------------------------


def test_a_question_is_read_from_the_form():
    assert ask_view.question({}) is None
    given = {"q": "bees?", "top_k": "3", "mode": "notes", "config": "default", "threshold": "0.2"}
    assert ask_view.question(given) == ask_view.Question("bees?", 3, "notes", "default", 0.2)
    for wrong in ({"mode": "x"}, {"config": "x"}, {"top_k": "0"}, {"top_k": "²"}, {"threshold": "x"}):
        with pytest.raises(InvalidQuery):
            ask_view.question({"q": "bees?", **wrong})


def test_hits_have_a_probability_bars_of_what_speaks_for_them_and_a_way_each(seen):
    found = ask_view.ask(seen, "ana", ask_view.Question("Who keeps bees?"))
    first = found.hits[0]
    assert [(line.speaker, line.text) for line in first.lines] == [
        ("Ana", "The landlord keeps bees on the roof."),
        ("assistant", "Is the flat quiet?"),
    ]
    assert 0 < float(first.score) < 1
    assert sum(bar.percent for bar in first.bars) == pytest.approx(100, abs=1)
    assert first.ways[0][0].kind == "query"
    assert not found.nothing
    assert target(first.lines[1].href)[1]["turn"] == "m2"


def test_the_path_is_drawn_from_left_to_right_from_question_to_traces(seen):
    drawing = ask_view.ask(seen, "ana", ask_view.Question("Who keeps bees?")).drawing
    place = {dot.name: dot for dot in drawing.dots}
    assert {"query", "cue", "trace"} <= {dot.kind for dot in drawing.dots}
    assert all(dot.x == 0 for dot in drawing.dots if dot.kind == "query")
    assert all(dot.x == 1 for dot in drawing.dots if dot.kind == "trace")
    assert all(0 < dot.y < 1 for dot in drawing.dots)
    assert drawing.edges
    assert all(place[edge.source].x < place[edge.target].x for edge in drawing.edges)
    [cue] = [dot for dot in drawing.dots if (dot.kind, dot.label) == ("cue", "bee")]
    assert target(cue.href) == ("graph", {"user": "ana", "cue": "bee"})


def test_nothing_relevant_is_said(seen):
    found = ask_view.ask(seen, "ana", ask_view.Question("zeppelin xylophone", threshold=9.0))
    assert (found.nothing, found.hits, found.drawing.dots) == (True, (), ())
    assert ask_view.ask(seen, "nobody", ask_view.Question("bees")).hits == ()


def test_notes_and_their_judgement_are_shown(seen):
    found = ask_view.ask(seen, "ana", ask_view.Question("Where did Ana move?", mode="notes"))
    assert [note.about for note in found.notes] == ["Ana"] * len(found.notes)
    assert found.notes
    judged = ask_view.ask(seen, "ana", ask_view.Question("Is the flat quiet?", mode="best_effort")).judged
    assert judged[0].startswith("notes: ")


# notes ---------------------------------------------------------------------------------------------------


def cards(found):
    return [card for group in found.groups for card in group.cards]


def test_current_notes_are_shown_by_person_and_kind(seen):
    found = notes_view.read(seen, "ana", {})
    assert [(card.kind, card.text) for card in cards(found)] == [
        ("fact", "I moved to Porto in June."),
        ("preference", "I love rooibos tea."),
    ]
    assert [card.text for card in found.proposals] == ["Ana rents from a beekeeper."]
    assert dict(found.statuses)["current"] == 2
    assert found.people == (("Ana", 3),)
    assert cards(found)[0].deeds == ("confirm", "retract")
    assert found.proposals[0].deeds == ("approve", "reject")


def test_filters_narrow_and_one_note_can_be_opened(seen):
    assert [card.kind for card in cards(notes_view.read(seen, "ana", {"kind": "preference"}))] == ["preference"]
    assert len(cards(notes_view.read(seen, "ana", {"status": "any"}))) == 3
    assert cards(notes_view.read(seen, "ana", {"about": "Bo"})) == []
    [card] = cards(notes_view.read(seen, "ana", {"note": "N1"}))
    assert (card.note_id, card.open, card.versions) == ("N1", True, 2)
    assert notes_view.read(seen, "ana", {"note": "N99"}).missing == "There is no note N99 any more."


def test_a_note_in_full_has_sources_versions_and_history(seen):
    found = notes_view.detail(seen, "ana", "N1")
    [source] = found.sources
    assert (source.before, source.words, source.after) == ("", "I moved to Lisbon in May.", "")
    assert [(version.number, version.status) for version in found.versions] == [(2, "current"), (1, "superseded")]
    assert [(piece.kind, piece.text) for piece in found.versions[0].change if piece.kind != "same"] == [
        ("gone", "Lisbon"), ("new", "Porto"), ("gone", "May"), ("new", "June"),
    ]  # fmt: skip
    assert [entry.action for entry in found.history] == ["changed", "added"]
    with pytest.raises(NotFound, match="there is no note N99"):
        notes_view.detail(seen, "ana", "N99")


# graph ---------------------------------------------------------------------------------------------------


def test_a_cue_stands_in_the_middle_of_its_neighbours(seen):
    found = graph_view.read(seen, "ana", {"cue": "bee"})
    assert found.around.title == "bee"
    assert (found.around.stars[0].x, found.around.stars[0].y) == (0, 0)
    assert all(star.x**2 + star.y**2 > 0.3 for star in found.around.stars[1:])
    assert [mention.text for mention in found.around.mentions] == ["The landlord keeps bees on the roof."]
    assert {link.label for link in found.around.near} >= {"landlord", "roof"}
    assert target(found.around.near[0].href)[0] == "graph"


def test_cues_are_found_and_missing_ones_are_said(seen):
    assert all("rooi" in link.label for link in graph_view.read(seen, "ana", {"like": "ROOI"}).listed)
    assert graph_view.read(seen, "ana", {"like": "ROOI"}).listed
    found = graph_view.read(seen, "ana", {"cue": "gone"})
    assert (found.missing, found.around) == ("Nothing mentions gone any more.", None)
    nothing = graph_view.read(seen, "nobody", {})
    assert (nothing.listed, nothing.around, nothing.missing) == ((), None, None)


# operations ----------------------------------------------------------------------------------------------


def test_the_log_stands_newest_first_and_can_be_narrowed(seen):
    found = operations_view.read(seen, "ana", {})
    assert (found.narrowed, found.newest, found.older) == (False, None, None)
    assert [entry.operation_id for entry in found.entries] == ["O4", "O3", "O2", "O1"]
    for given, ids in (
        ({"action": "UPDATE"}, ["O4"]),
        ({"trigger": "add"}, ["O2", "O1"]),
        ({"trigger": "scripted:reader"}, ["O4", "O3"]),
        ({"trigger": "scripted"}, []),
        ({"note": " N1 "}, ["O4", "O1"]),
        ({"since": "2024-08-09"}, ["O2", "O1"]),
        ({"until": "2024-08-08"}, ["O4", "O3"]),
    ):
        assert [entry.operation_id for entry in operations_view.read(seen, "ana", given).entries] == ids
    with pytest.raises(InvalidQuery, match="since is a day"):
        operations_view.read(seen, "ana", {"since": "soon"})


def test_reasons_and_changes_of_status_are_told(whole, seen):
    whole.retract("N1", user_id="ana", reason="She moved.")
    entry = operations_view.read(seen, "ana", {}).entries[0]
    assert entry.action == "retracted"
    assert dict(entry.facts) == {"status": "current → retracted", "decision": "retracted", "reason": "She moved."}
    whole.undo(entry.operation_id, user_id="ana")
    undone = operations_view.read(seen, "ana", {"trigger": "undo"}).entries
    assert [one.trigger for one in undone] == [f"undo {entry.operation_id}"]


def test_a_log_is_cut_into_pages(whole, seen):
    for number in range(120):
        whole.update("m1", user_id="ana", metadata={"n": number})
    first = operations_view.read(seen, "ana", {"user": "ana"})
    assert (len(first.entries), first.newest) == (50, None)
    assert target(first.older) == ("operations", {"user": "ana", "before": first.entries[-1].operation_id})
    whole.update("m1", user_id="ana", metadata={"n": "meanwhile"})
    second = operations_view.read(seen, "ana", target(first.older)[1])
    last = operations_view.read(seen, "ana", target(second.older)[1])
    assert (len(second.entries), len(last.entries), last.older) == (50, 24, None)
    assert target(last.newest) == ("operations", {"user": "ana"})
    listed = [one.operation_id for page in (first, second, last) for one in page.entries]
    assert listed == [f"O{number}" for number in range(124, 0, -1)]


# status --------------------------------------------------------------------------------------------------


def test_status_tells_sizes_and_who_serves(seen):
    found = status_view.read(seen, "ana")
    assert {tile.name: tile.value for tile in found.tiles}["messages"] == "4"
    assert {tile.name for tile in found.storage} >= {"embedder", "its fingerprint", "on disk"}
    assert found.quiet


def test_what_models_failed_at_is_told_and_can_be_tried_again(open_memory):
    model = ReadingModel()
    model.say["facts"] = lambda _: LanguageModelFailed("the provider refuses")
    budgets = Budgets(call=Limit(tokens=90_000), user_day=Limit(calls=4))
    memory = open_memory(model=model, enrichment=Enriching(tries=1), budgets=budgets, workers=0)
    memory.add({"role": "user", "name": "Ana", "content": "I keep bees."}, user_id="ana")
    memory.wait(user_id="ana")
    found = status_view.read(OPEN.memory(memory), "ana")
    [failure] = found.failures
    assert (failure.what, "the provider refuses" in failure.reason) == ("notes of 1 trace", True)
    assert {tile.name: tile.value for tile in found.queue}["failed"] == "1"
    assert (found.can_retry, found.quiet) == (True, False)
    assert (found.meters[0].value, found.meters[0].percent) == ("at most 90,000 tokens", None)
    assert found.meters[1].percent == 25 * int(found.meters[1].value.split()[0])
    assert {row.model for row in found.spent} == {"scripted:reader"}


def test_one_tenant_sees_no_sizes_of_all(whole):
    other = Access("k", "n", Tenant("acme"), frozenset(("read", "write", "erase", "admin"))).memory(whole)
    assert {tile.name for tile in status_view.read(other, "cy").storage} == {
        "embedder", "its fingerprint", "cues by", "revision",
    }  # fmt: skip
    assert timeline_view.read(other, "ana", {}).total == 0
    assert timeline_view.read(other, "cy", {"turn": "m1"}).missing == "There is no message m1 any more."


# what wants to be more than words ------------------------------------------------------------------------


def test_hostile_names_lead_to_pages_of_ours_alone(seen):
    for session in timeline_view.read(seen, "mallory", {}).sessions:
        assert session.href.startswith("timeline?user=mallory")
        found = timeline_view.read(seen, "mallory", target(session.href)[1])
        assert found.session.session_id == session.session_id
        assert session.session_id in HOSTILE
        for said in (said for block in found.blocks for said in block.turns):
            assert said.anchor.isalnum()
            assert target(said.href)[1]["turn"] == said.turn_id


# the desk ------------------------------------------------------------------------------------------------


@pytest.fixture
def now():
    return [0.0]


@pytest.fixture
def desk(whole, now):
    from mnemic.memory import service_rows
    from mnemic.service.access import Keys

    keys = Keys(service_rows(whole), clock=lambda: datetime(2026, 11, 30, tzinfo=UTC))
    return Desk(Door(keys, Settings()), asks=True, clock=lambda: now[0]), keys


def test_a_login_lasts_until_it_is_left_and_no_longer_than_its_key(desk, now):
    desk, keys = desk
    made = keys.create("test")
    token = desk.enter(made.key, address="1.2.3.4")
    assert made.key not in token
    assert desk.admit(token, address="1.2.3.4").name == "test"
    desk.leave(token)
    for gone in (token, "", "x"):
        with pytest.raises(KeyRefused):
            desk.admit(gone, address="1.2.3.4")
    token = desk.enter(made.key, address="1.2.3.4")
    now[0] += LASTS_S + 1
    with pytest.raises(KeyRefused, match="log in again"):
        desk.admit(token, address="1.2.3.4")
    token = desk.enter(made.key, address="1.2.3.4")
    keys.revoke(made.row.key_id)
    with pytest.raises(KeyRefused):
        desk.admit(token, address="1.2.3.4")


def test_a_wrong_key_is_refused(desk):
    with pytest.raises(KeyRefused):
        desk[0].enter("mnemic_wrong", address="1.2.3.4")


def test_scopes_hold_whatever_a_page_shows(whole):
    reader = Access("k", "n", Tenant(), frozenset(("read",))).memory(whole)
    for deed in (
        lambda: reader.confirm("N1", user_id="ana"),
        lambda: reader.retract("N1", user_id="ana"),
        lambda: reader.undo("O1", user_id="ana"),
        lambda: reader.delete(user_id="ana", turn_id="m1"),
    ):
        with pytest.raises(NotAllowed):
            deed()
