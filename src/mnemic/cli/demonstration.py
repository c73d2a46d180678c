"""The demo: a bundled dialogue, put into a memory and asked five questions."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mnemic import importers
from mnemic.cli import hits, options, output
from mnemic.demo import ASKED, USER, Question, dialogue, questions
from mnemic.types import Evidence, Json, SearchResult

if TYPE_CHECKING:
    from mnemic.memory import Memory


Kept = Annotated[
    str | None,
    typer.Option("--db", metavar="FILE", help="Keep the memory here. [a temporary file, removed at the end]"),
]


def demo(db: Kept = None, embedder: options.EmbedderName = "local", json: options.AsJson = False) -> None:
    """Put a small dialogue into memory and ask it five questions.

    Without --db it uses a temporary file, and leaves nothing behind.
    """
    with _somewhere(db, embedder) as memory:
        started = time.perf_counter()
        sessions = dialogue()
        report = importers.load(sessions, memory)
        took = time.perf_counter() - started
        found = [(q, memory.search(q.question, user_id=USER, reference_time=ASKED, explain=True)) for q in questions()]
        speakers = {turn.turn_id: turn.speaker for turn in memory.get_all(user_id=USER)}
    output.warn(report.warnings)
    if json:
        output.result(output.as_json({"questions": [_as_json(question, result) for question, result in found]}))
        return
    output.styled(
        f"{report.messages} messages between Noor, Viktor and their assistant, from March to August 2024, are in "
        f"memory now, word for word ({took:.1f} s, no key, no network). "
        f"{len(found)} questions, and what was said that answers them:"
    )
    output.result()
    for number, (question, result) in enumerate(found, 1):
        _show(number, question, result, speakers)
    kept = db or "demo.db"
    if db is None:
        output.styled("To ask your own questions, keep the memory:")
        output.styled(f"mnemic demo --db {kept}", "bold", indent=3)
    else:
        output.styled("Ask your own:")
    output.styled(
        f'mnemic search "What grew on the allotment?" --db {output.shown(kept)} --user {USER}', "bold", indent=3
    )


@contextmanager
def _somewhere(db: str | None, embedder: str) -> Generator[Memory]:
    if db is not None:
        with options.memory(db, embedder) as memory:
            yield memory
    else:
        with (
            tempfile.TemporaryDirectory(prefix="mnemic-") as folder,
            options.memory(str(Path(folder) / "demo.db"), embedder) as memory,
        ):
            yield memory


def _ranks(question: Question, result: SearchResult) -> dict[str, int]:
    """Where among the results each turn that answers is, from 1; absent where it was not found."""
    return {
        turn_id: rank
        for rank, hit in reversed(list(enumerate(result.results, 1)))
        for turn_id in hit.turn_ids
        if turn_id in question.turn_ids
    }


def _as_json(question: Question, result: SearchResult) -> dict[str, Json]:
    return {
        "question": question.question,
        "kind": question.kind,
        "answer": question.answer,
        "turn_ids": [*question.turn_ids],
        "found": dict(_ranks(question, result)),
        "took_ms": round(result.took_ms, 2),
    }


def _show(number: int, question: Question, result: SearchResult, speakers: Mapping[str, str]) -> None:
    output.styled(f"{number}. {question.question}", "bold")
    ranks = _ranks(question, result)
    for turn_id in question.turn_ids:
        if turn_id not in ranks:
            output.styled("(one line that answers this is not among the first ten results)", "yellow", indent=3)
            continue
        hit = result.results[ranks[turn_id] - 1]
        words = " ".join(quote for quote, span in zip(hit.quotes, hit.spans, strict=True) if span.turn_id == turn_id)
        date = f"{hit.timestamp.day} {hit.timestamp:%B}" if hit.timestamp else "undated"
        output.styled(f"{speakers[turn_id]}, {date}: {words}", "green", indent=3)
        output.styled(f"result {ranks[turn_id]}: {_reasons(hit, words)}", "dim", indent=6)
    output.styled(f"So: {question.answer}", indent=3)
    output.styled(f"({question.kind}; found in {result.took_ms:.0f} ms)", "dim", indent=3)
    output.result()


def _reasons(hit: Evidence, words: str) -> str:
    """Why a hit was found, in words: what of the question it mentions, what leads there, what is near in meaning."""
    mentioned = [path[0].text for path in hit.paths if [step.kind for step in path] == ["query", "cue", "trace"]]
    mentioned = [text for text in mentioned if not any(text != other and text in other for other in mentioned)]
    led = [path[:-1] for path in hit.paths if len(path) > 3]
    near = [step.text for path in hit.paths for step in path[1:-1] if step.kind == "unit"]
    reasons: list[str] = []
    if mentioned:
        reasons.append(f"it mentions {', '.join(map(hits.quoted, mentioned))}")
    if led:
        reasons.append(f"one thing leads to another: {hits.way(led[0])}")
    if near and not reasons:
        reasons.append(
            "it is near in meaning" if near[0] in words else f"it is near in meaning: {hits.quoted(near[0])}"
        )
    return "; ".join(reasons) or "it shares words with the question"
