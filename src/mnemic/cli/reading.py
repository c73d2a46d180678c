"""Commands that read a memory: search, context, notes, episodes, status, export."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, TextIO, cast

import typer

from mnemic.cli import hits, kept, options, output
from mnemic.errors import InvalidInput
from mnemic.types import Enrichment, Granularity, NoteStatus

if TYPE_CHECKING:
    from mnemic.memory import Memory


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question, in plain words.")],
    db: options.Database = None,
    user: options.User = None,
    top_k: options.TopK = 10,
    mode: options.SearchMode = "graph",
    keep_notes: options.KeepNotes = False,
    evolve: options.Evolve = False,
    config: options.ConfiguredMode = "default",
    session: options.Session = None,
    agent: options.Agent = None,
    since: options.Since = None,
    until: options.Until = None,
    reference_time: options.ReferenceTime = None,
    as_of: options.AsOf = None,
    known_at: options.KnownAt = None,
    threshold: Annotated[float | None, typer.Option("--threshold", help="Nothing that scores less.")] = None,
    granularity: Annotated[Granularity, typer.Option("--granularity", help="What a result is.")] = "trace",
    filter: options.Filter = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show how each result was reached.")] = False,
    embedder: options.EmbedderName = "local",
    json: options.AsJson = False,
) -> None:
    """Find the original words that answer a question."""
    user_id = options.user(user)
    narrowing: options.Narrowing = {
        "filters": options.filters(filter), "agent_id": agent, "session_id": session, "since": since, "until": until,
        "reference_time": reference_time, "config": config,
    }  # fmt: skip
    thinking = options.thinking_for("sufficiency", "notes", "conflict") if mode == "best_effort" else None
    with options.memory(options.existing(db), embedder, thinking) as memory:
        found = memory.search(
            query, user_id=user_id, top_k=top_k, threshold=threshold, granularity=granularity, explain=explain,
            mode=mode, keep_notes=keep_notes, evolve=evolve, as_of=as_of, known_at=known_at, **narrowing,
        )  # fmt: skip
        is_known = bool(found.results) or knows(memory, user_id)
    output.warn(found.warnings)
    if json:
        output.result(output.as_json(hits.as_json(found) | (hits.layers(found) if mode != "graph" else {})))
    else:
        hits.show(found)
    if not is_known:
        output.note(hits.nobody(user_id))
    elif found.nothing_relevant:
        output.note(hits.NOTHING + " The nearest words are above." * bool(found.results))


def context(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What the prompt is about.")],
    db: options.Database = None,
    user: options.User = None,
    max_tokens: Annotated[int, typer.Option("--max-tokens", metavar="N", help="At most this long.")] = 1500,
    config: options.Configured = "default",
    session: options.Session = None,
    agent: options.Agent = None,
    since: options.Since = None,
    until: options.Until = None,
    reference_time: options.ReferenceTime = None,
    as_of: options.AsOf = None,
    known_at: options.KnownAt = None,
    filter: options.Filter = None,
    embedder: options.EmbedderName = "local",
    json: options.AsJson = False,
) -> None:
    """Print evidence for a prompt, dated and cited, within a budget."""
    user_id = options.user(user)
    narrowing: options.Narrowing = {
        "filters": options.filters(filter), "agent_id": agent, "session_id": session, "since": since, "until": until,
        "reference_time": reference_time, "config": config,
    }  # fmt: skip
    with options.memory(options.existing(db), embedder) as memory:
        # Imported here, as all that is slow to load.
        from mnemic.memory import context as packing

        found = memory.search(
            query, user_id=user_id, top_k=packing.depth(max_tokens), as_of=as_of, known_at=known_at, **narrowing
        )
        is_known = bool(found.results) or knows(memory, user_id)
    text = packing.block(found, max_tokens)
    output.warn(found.warnings)
    if not is_known:
        output.note(hits.nobody(user_id))
    elif found.nothing_relevant:
        output.note(hits.NOTHING)
    elif not text:
        budget = output.counted(max_tokens, "token")
        output.note(f"What is relevant does not fit into {budget}; give more with --max-tokens.")
    if json:
        output.result(output.as_json({"context": text}))
    elif text:
        output.result(output.shown(text))


def notes(
    db: options.Database = None,
    user: options.User = None,
    about: Annotated[str | None, typer.Option("--about", metavar="NAME", help="Only about this person.")] = None,
    as_of: Annotated[str | None, typer.Option("--as-of", metavar="TIME", help="What held then: 2024-03-01.")] = None,
    known_at: Annotated[str | None, typer.Option("--known-at", metavar="TIME", help="What was believed then.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", help="At most this many.")] = None,
    status: Annotated[
        list[str] | None,
        typer.Option("--status", metavar="STATUS", help="Every version of this status; may be repeated. [current]"),
    ] = None,
    after: Annotated[
        str | None, typer.Option("--after", metavar="NOTE", help="Only what follows it: N7, or N7.2 for its version 2.")
    ] = None,
    json: options.AsJson = False,
) -> None:
    """List what people said of themselves.

    Facts, states, preferences and traits, each quoted with its source.
    """
    user_id = options.user(user)
    with options.memory(options.existing(db), "none") as memory:
        found = memory.notes(
            user_id=user_id,
            about=about,
            as_of=as_of,
            known_at=known_at,
            limit=limit,
            statuses=cast("list[NoteStatus] | None", status or None),
            after=after,
        )
        is_known = bool(found) or knows(memory, user_id)
    if not is_known:
        output.note(hits.nobody(user_id))
    if json:
        output.result(output.as_json({"notes": [asdict(note) for note in found]}))
        return
    for note in found:
        kept.show_note(note)
    if is_known:
        output.note(output.counted(len(found), "note"))


def evolution(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="In plain words: home, 'Where does Ana live?'.")],
    db: options.Database = None,
    user: options.User = None,
    about: Annotated[str | None, typer.Option("--about", metavar="NAME", help="Only about this person.")] = None,
    reference_time: options.ReferenceTime = None,
    known_at: options.KnownAt = None,
    embedder: options.EmbedderName = "local",
    json: options.AsJson = False,
) -> None:
    """Show how what is known about a topic has changed, and why.

    Every note that ever counted, in the order of what it tells of; reasons are quoted from the dialogue.
    """
    user_id = options.user(user)
    with options.memory(options.existing(db), embedder) as memory:
        found = memory.evolution(topic, user_id=user_id, about=about, reference_time=reference_time, known_at=known_at)
        is_known = bool(found.steps) or knows(memory, user_id)
    if not is_known:
        output.note(hits.nobody(user_id))
    if json:
        output.result(output.as_json(asdict(found)))
        return
    for step in found.steps:
        kept.show_step(step)
    if is_known:
        output.note(output.counted(len(found.steps), "note"))


def episodes(
    db: options.Database = None,
    user: options.User = None,
    session: options.Session = None,
    embedder: options.EmbedderName = "local",
    json: options.AsJson = False,
) -> None:
    """List what the dialogue falls into, in its order.

    Every message lies in one episode: of a language model's making, or cut by local rules.
    """
    user_id = options.user(user)
    with options.memory(options.existing(db), embedder) as memory:
        found = memory.episodes(user_id=user_id, session_id=session)
        is_known = bool(found) or knows(memory, user_id)
    if not is_known:
        output.note(hits.nobody(user_id))
    if json:
        output.result(output.as_json({"episodes": [asdict(episode) for episode in found]}))
        return
    for episode in found:
        kept.show_episode(episode)
    if is_known:
        output.note(output.counted(len(found), "episode"))


def status(db: options.Database = None, user: options.User = None, json: options.AsJson = False) -> None:
    """Show how large the memory is; of one user with --user."""
    user_id = options.optional_user(user)
    name = options.existing(db)
    with options.memory(name, "none") as memory:
        found = memory.status(user_id=user_id)
    if json:
        output.result(output.as_json({"database": options.shown(name), **asdict(found)}))
        return
    output.result(
        f"{output.shown(options.shown(name))}: {found.size_bytes / (1 << 20):,.1f} MiB,"
        f" {output.counted(found.users, 'user')}"
    )
    output.result(f"vectors: {found.embedder or 'none yet'}; cues: {found.cue_extractor}")
    if found.counts is not None and user_id is not None:
        sizes = asdict(found.counts)
        pending, unsupported = sizes.pop("pending"), sizes.pop("unsupported")
        del sizes["revision"]
        counts = [output.counted(size, kind.removesuffix("s")) for kind, size in sizes.items()]
        output.result(f"{output.shown(user_id)}: {', '.join(counts)}, {pending:,} pending")
        if unsupported:
            share = unsupported / found.counts.notes
            kept = "kept and never shown as true"
            output.result(f"unsupported: {output.counted(unsupported, 'note')}, {share:.1%}, {kept}")
    for line in enrichment_lines(found.enrichment):
        output.result(output.shown(line))
    for spent in found.spent:
        tokens = f"{spent.tokens_in:,} tokens in, {spent.tokens_out:,} out"
        price = f", {spent.cost:,.4f}" if spent.cost else ""
        output.result(f"{spent.purpose}: {output.counted(spent.calls, 'call')}, {tokens}{price}")
    for allowance in found.allowances:
        taken = "" if allowance.spent is None else f"{allowance.spent:,.6g} of "
        output.result(f"budget, {allowance.budget.replace('_', ' ')}: {taken}{allowance.limit:,.6g} {allowance.unit}")


def notice(
    db: options.Database = None,
    user: options.User = None,
    contact: Annotated[str | None, typer.Option("--contact", metavar="TEXT", help="Whom people may ask.")] = None,
    json: options.AsJson = False,
) -> None:
    """Print what people may be told about the memory; about one with --user.

    What is kept, which language models read it, and how it is seen, corrected and erased.
    """
    user_id = options.optional_user(user)
    with options.memory(options.existing(db), "none", options.everything()) as memory:
        found = memory.notice(user_id=user_id, contact=contact)
    if json:
        output.result(output.as_json(asdict(found)))
        return
    output.result(output.shown(found.text))
    for way in found.ways:
        output.note(f"{way.right}: {way.command}")


def enrichment_lines(found: Enrichment) -> list[str]:
    """How far the embedder and language models are, where there is anything for them."""
    lines: list[str] = []
    if found.unembedded:
        lines.append(f"wait for their vectors, and are found by their words: {found.unembedded:,}")
    sizes = {"pending": found.pending, "under way": found.running, "done": found.done, "failed": found.failed}
    if any(sizes.values()):
        lines.append("reading by models: " + ", ".join(f"{size:,} {name}" for name, size in sizes.items()))
    lines += [f"waits: {reason}" for reason in found.waiting_for]
    failures = (f"failed: {failure.kind} of {failure.traces:,} traces: {failure.reason}" for failure in found.failures)
    return [*lines, *failures]


def export(
    db: options.Database = None,
    user: options.User = None,
    to: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Where to. [standard output]")
    ] = None,
) -> None:
    """Write everything of a user as JSON lines; import reads it back."""
    user_id = options.user(user)
    with options.memory(options.existing(db), "none") as memory, ExitStack() as stack:
        stream = stack.enter_context(_new_file(to)) if to else sys.stdout
        for record in memory.export(user_id=user_id):
            stream.write(output.as_json(record) + "\n")
        if not knows(memory, user_id):
            output.note(hits.nobody(user_id))


def _new_file(name: str) -> TextIO:
    """Nobody else may read it, as with the database itself."""
    path = output.path(name)
    try:
        path.touch(mode=0o600, exist_ok=False)
    except FileExistsError as error:
        raise InvalidInput(f"{name} exists already: name another file with --output, or remove it first") from error
    return path.open("w", encoding="utf-8", newline="\n")


def knows(memory: Memory, user_id: str) -> bool:
    """Whether a user has anything in memory."""
    return bool(memory.get_all(user_id=user_id, limit=1))
