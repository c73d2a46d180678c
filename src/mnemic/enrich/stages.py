"""HiMem's Note Memory: three stages for each person of a passage (methods.md 2.4)."""

from __future__ import annotations

import logging
from functools import partial

from mnemic.algo.render import moment
from mnemic.enrich.asking import ask
from mnemic.enrich.notes import Gate
from mnemic.enrich.passage import Passage
from mnemic.prompts import align, facts, profile
from mnemic.prompts.drafts import Draft
from mnemic.protocols import LanguageModel
from mnemic.types import Note

_log = logging.getLogger("mnemic")


def distil(passage: Passage, model: LanguageModel, gate: Gate, *, aligned: bool, whole: bool) -> list[Note]:
    """Notes about the people who speak in a passage, by their own words only.

    Args:
        passage: What to read.
        model: Asked for each person for facts, for profile and preferences, and for alignment.
        gate: Holds the notes against the passage.
        aligned: Whether the third stage is asked for.
        whole: Whether replies that were cut are refused.

    Raises:
        ReplyUnusable: A reply of the first two stages; notes that could not be aligned are kept as they are.
        ModelError: No reply came.
    """
    return [
        note
        for owner in passage.owners
        for note in _of_person(passage, owner, model, gate, aligned=aligned, whole=whole)
    ]


def _of_person(
    passage: Passage, owner: str, model: LanguageModel, gate: Gate, *, aligned: bool, whole: bool
) -> list[Note]:
    lines = passage.lines(owner)
    texts, spans = [line.text for line in lines], [line.span for line in lines]
    stated = ask(model, facts.render(owner, texts), partial(facts.parse, lines=len(lines)), whole=whole)
    request = profile.render(owner, texts, stated)
    lasting = ask(model, request, partial(profile.parse, lines=len(lines)), whole=whole)
    # Of the same words in both stages the second one's kind goes.
    drafts = tuple({draft.text: draft for draft in (*stated, *lasting)}.values())
    if aligned and drafts:
        drafts = _aligned(model, owner, texts, drafts, passage)
    return gate.notes(drafts, spans, owner=owner)


def _aligned(
    model: LanguageModel, owner: str, lines: list[str], drafts: tuple[Draft, ...], passage: Passage
) -> tuple[Draft, ...]:
    turns = passage.turns
    said = next((turns[span.turn_id].timestamp for span in passage.traces[0].spans), None)
    reply = model.complete(align.render(owner, lines, drafts, moment(said)))
    aligned = align.parse(reply, drafts)
    if aligned.reply.failure is not None:
        _log.warning(
            "%s was asked to align %d notes: %s; %d stay as they were",
            *(model.name, len(drafts), aligned.reply.failure, aligned.left_out),
        )
    return aligned.notes
