"""The command that answers a question by a language model."""

from __future__ import annotations

from typing import Annotated

import typer

from mnemic.cli import hits, options, output
from mnemic.cli.reading import knows
from mnemic.types import Answer, Json

_FAILED = {
    "refused": "the model declined",
    "truncated": "the reply was cut off",
    "empty": "the reply was empty",
    "wrong_shape": "the reply has another shape than was asked for",
}


def answer(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="In plain words.")],
    db: options.Database = None,
    user: options.User = None,
    model: options.ModelName = None,
    max_tokens: Annotated[int, typer.Option("--max-tokens", metavar="N", help="Evidence at most this long.")] = 2000,
    config: options.Configured = "default",
    session: options.Session = None,
    agent: options.Agent = None,
    since: options.Since = None,
    until: options.Until = None,
    reference_time: options.ReferenceTime = None,
    filter: options.Filter = None,
    embedder: options.EmbedderName = "local",
    json: options.AsJson = False,
) -> None:
    """Answer a question from the original words, and name them.

    The words that a search finds are sent to a language model.
    """
    user_id = options.user(user)
    narrowing: options.Narrowing = {
        "filters": options.filters(filter), "agent_id": agent, "session_id": session, "since": since, "until": until,
        "reference_time": reference_time, "config": config,
    }  # fmt: skip
    with options.memory(options.existing(db), embedder, options.thinking("answer", model)) as memory:
        if json:
            found = memory.answer(question, user_id=user_id, max_tokens=max_tokens, **narrowing)
        else:
            with memory.answer_stream(question, user_id=user_id, max_tokens=max_tokens, **narrowing) as stream:
                said = ""
                for piece in stream:
                    output.piece(piece)
                    said += piece
                found = stream.answer
            _finish(said, found)
        is_known = bool(found.evidence) or knows(memory, user_id)
    output.warn(found.warnings)
    if json:
        output.result(output.as_json(_as_json(found)))
    if not is_known:
        output.note(hits.nobody(user_id))
    elif found.text is not None and not found.sources:
        output.note("The model named no sources.")
    elif found.text is None and found.failure is None:
        output.note("Memory does not contain the answer.")
    elif found.text is None:
        output.note(f"error: no answer from {output.shown(found.model)}: {_FAILED.get(found.failure or '')}")
        raise typer.Exit(1)


def _finish(said: str, found: Answer) -> None:
    """What is left to print of an answer whose pieces were printed, and its sources."""
    if said:
        output.result()
    if found.text is not None and found.text != said:
        output.styled(output.shown(found.text))
    if found.text is not None:
        for hit in found.sources:
            output.result()
            output.styled(output.shown(f"{hit.trace_id}  session {hit.session_id}"), "bold")
            output.styled(output.shown(hit.text), "dim", indent=3)


def _as_json(found: Answer) -> dict[str, Json]:
    """The documented shape of ``answer --json``."""
    return {
        "text": found.text,
        "sources": [hits.hit(hit) for hit in found.sources],
        "evidence": [hits.hit(hit) for hit in found.evidence],
        "model": found.model,
        "failure": found.failure,
        "tokens_in": found.tokens_in,
        "tokens_out": found.tokens_out,
        "warnings": [*found.warnings],
    }
