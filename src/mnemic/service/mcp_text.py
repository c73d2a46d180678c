"""What an MCP client is shown: short, cited, and, where it was said by somebody, delimited as data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import accumulate
from typing import Final

from mnemic import retrieve
from mnemic.algo import render, tokens
from mnemic.prompts.data import delimited, hanging
from mnemic.types import (
    Added,
    Episode,
    Erasure,
    Evolution,
    Interval,
    Note,
    NoteChange,
    Operation,
    SearchResult,
    Status,
    Trace,
    Turn,
)

MOST_TOKENS: Final = 2000
"""Of the words in one result: whole hits only, best first."""
MOST_LISTED_TOKENS: Final = 8000
"""Of a list, and of an episode's words: a client refuses, or cuts in the middle, what is far longer."""
NOTHING: Final = "Nothing in memory is about this."
_UNSURE: Final = "Probably nothing in memory answers this; the nearest words are:"


def found(result: SearchResult) -> str:
    """The hits of a search, with their sessions, dates and turn ids."""
    block = retrieve.block(result.results, MOST_TOKENS)
    if not block:
        return _with(NOTHING, result.warnings)
    return _with(f"{_UNSURE}\n{block}" if result.nothing_relevant else block, result.warnings)


def added(done: Added) -> str:
    """What became of messages."""
    known = len(done.turn_ids) - done.new
    told = [f"Stored: {done.new}" + (f"; known before: {known}" if known else "")]
    if done.turn_ids:
        told.append(f"turns: {_ids(done.turn_ids)}")
    if done.notes:
        told.append(f"notes: {_ids(done.notes)}")
    return _with("\n".join(told), done.warnings)


def notes(listed: Sequence[Note], total: int) -> str:
    """One line a note: id, kind, about whom, when it holds, what it rests on, and the statement; how many there are."""
    if not listed:
        return "There are no notes."
    return _listed([*map(_note, listed)], total, "ask about one person, or raise limit")


def evolution(found: Evolution) -> str:
    """One line a note, with what it changed, and a line for each reason."""
    lines: list[str] = []
    for step in found.steps:
        told = f"{step.change}, in place of {', '.join(step.replaces)}" if step.replaces else step.change
        lines += [f"{told}: {_note(step.note)}", *(f"   why: {hanging(reason.text)}" for reason in step.reasons)]
    return delimited("memory", "\n".join(lines)) if lines else NOTHING


def changes(listed: Sequence[NoteChange]) -> str:
    """A line or two a note: how it counted before and counts after, and by which operations."""
    if not listed:
        return "No note has changed."
    lines = [line for one in listed for line in _change(one)]
    return _listed(lines, len(lines), "ask about a shorter time")


def undone(operations: Sequence[Operation]) -> str:
    """What an undoing did: each can be undone in turn."""
    return "Taken back, by: " + ", ".join(f"{one.operation_id} ({one.target_id})" for one in operations)


def episodes(listed: Sequence[Episode]) -> str:
    """One line an episode."""
    if not listed:
        return "There are no episodes."
    return _listed([*map(_episode, listed)], len(listed), "search for the others")


def whole_episode(episode: Episode, turns: Sequence[Turn]) -> str:
    """An episode with its words."""
    return _listed([_episode(episode), *map(_said, turns)], len(turns) + 1, "get the other messages by their ids")


def one(thing: Turn | Trace | Note | Episode, turns: Sequence[Turn]) -> str:
    """Whatever has an id; ``turns`` are those that it consists of or rests on, in order."""
    if isinstance(thing, Episode):
        return whole_episode(thing, turns)
    if isinstance(thing, Note):
        return delimited("memory", "\n".join([_note(thing), *map(_said, turns)]))
    if isinstance(thing, Turn):
        return delimited("memory", "\n".join([_cited(thing), _said(thing)]))
    said = {turn.turn_id: turn for turn in turns}
    here = [(said[span.turn_id], span) for span in thing.spans if span.turn_id in said]
    lines = [_said(turn) if turn.quarantine else render.line(turn, span.start, span.end) for turn, span in here]
    head = f"{thing.trace_id} · session {render.one_line(thing.session_id)} · turns {_ids(tuple(said))}"
    return delimited("memory", "\n".join([head, *lines]))


def erasure(receipt: Erasure) -> str:
    """What went, and what is out of reach."""
    went = ", ".join(f"{kind}: {count}" for kind, count in asdict(receipt.erased).items() if count) or "nothing"
    told = [f"Erased: {went}"]
    if receipt.lingers:
        told.append(f"Bytes of it stand for a while yet in: {'; '.join(receipt.lingers)}")
    return "\n".join((*told, "Out of reach from here:", *(f"- {where}" for where in receipt.unreached)))


def status(now: Status) -> str:
    """Sizes, what works without, and what is still to be read."""
    told: list[str] = []
    if now.counts is not None:
        kept = now.counts
        told.append(f"turns: {kept.turns} in {kept.sessions} sessions; notes: {kept.notes}; episodes: {kept.episodes}")
    told.append(f"embedder: {now.embedder or 'none'}")
    work = now.enrichment
    if now.models or work.pending or work.failed:
        told.append(f"work of language models: {work.pending + work.running} to do, {work.failed} failed")
    return _with("\n".join(told), now.warnings)


def span_ids(thing: Turn | Trace | Note | Episode) -> tuple[str, ...]:
    """The ids of the turns that something consists of or rests on, in order."""
    if isinstance(thing, Turn):
        return ()
    if isinstance(thing, Episode):
        return thing.turn_ids
    spans = thing.spans if isinstance(thing, Trace) else thing.sources
    return tuple(dict.fromkeys(span.turn_id for span in spans))


def _listed(lines: Sequence[str], total: int, way_out: str) -> str:
    """Whole lines within the budget, the first ones; how many there are where these are not all."""
    costs = [tokens.count(line) for line in lines]
    fit = sum(used <= MOST_LISTED_TOKENS for used in accumulate(costs))
    text = delimited("memory", "\n".join(lines[:fit]))
    return text if fit == total else f"{text}\nThere are more: {fit:,} lines of {total:,} are shown; {way_out}."


def _note(note: Note) -> str:
    state = "" if note.status == "current" else f" ({note.status})"
    sources = _ids(tuple(dict.fromkeys(span.turn_id for span in note.sources)))
    head = f"{note.note_id}{state} · {note.kind} about {render.one_line(note.about)} · {_held(note.valid)}"
    return f"{head} · turns {sources}: {hanging(note.text)}"


def _change(change: NoteChange) -> Iterator[str]:
    by = f"by {', '.join(change.operations)}" if change.operations else "with time"
    if change.before is not None:
        yield f"{'changed' if change.after is not None else 'gone'} {by}: {_note(change.before)}"
    if change.after is not None:
        yield f"{'  now' if change.before is not None else f'new {by}'}: {_note(change.after)}"


def _episode(episode: Episode) -> str:
    head = f"{render.one_line(episode.episode_id)} · session {render.one_line(episode.session_id)} · "
    told = ". ".join(part for part in (episode.topic, episode.summary) if part)
    return f"{head}{_held(episode.time)} · turns {_ids(episode.turn_ids)}: {hanging(told)}"


def _cited(turn: Turn) -> str:
    head = f"turn {render.one_line(turn.turn_id)} · session {render.one_line(turn.session_id)}"
    # As JSON, so that a line end in a value begins no line of its own.
    return f"{head} · {json.dumps(turn.metadata, ensure_ascii=True)}" if turn.metadata else head


def _said(turn: Turn) -> str:
    if turn.quarantine in ("held", "discarded"):
        return f"{render.one_line(turn.speaker)}: (in quarantine: it speaks to whoever reads it, like an instruction)"
    return render.line(turn, 0, len(turn.text))


def _held(when: Interval) -> str:
    if when.start is None and when.end is None:
        return "undated"
    return f"from {_day(when.start)}" if when.end is None else f"from {_day(when.start)} to {_day(when.end)}"


def _day(at: datetime | None) -> str:
    return "unknown" if at is None else at.date().isoformat()


def _ids(ids: Sequence[str]) -> str:
    return ", ".join(map(render.one_line, ids))


def _with(text: str, warnings: Sequence[str]) -> str:
    return "\n".join([text, *(f"Warning: {render.one_line(one)}" for one in warnings)])
