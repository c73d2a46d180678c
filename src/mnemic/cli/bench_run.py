"""What the commands of the benchmark do: make systems, load a data set, run, ask models, tell, write."""

from __future__ import annotations

import json as jsons
import tempfile
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mnemic.cli import bench_text, output
from mnemic.config import Environment

if TYPE_CHECKING:
    from mnemic.bench.answers import AnswerOutcome, Models
    from mnemic.bench.answers.model import CallPurpose
    from mnemic.bench.generated.model import ModelUse
    from mnemic.bench.records import Dataset, DatasetName, Outcome
    from mnemic.bench.summary import Summary
    from mnemic.bench.systems import Setup
    from mnemic.cli.bench_options import Gold, Split

_NO_GOLD = (
    "PersonaMem does not say which messages answer a question, so only answers can be measured, and they need a "
    "language model: give --answer-model PROVIDER:MODEL"
)
_SUSPECTS_NAMED = 20
_BASELINE = "no-memory"
"""PersonaMem: what a model guesses from the options alone is always told beside."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Who answers and judges, and which system's evidence is added."""

    models: Models
    beside: str | None


def asking(
    answer: str | None,
    judge: str | None,
    answer_price: str | None,
    judge_price: str | None,
    replies: str,
    beside: str | None,
) -> Asking | None:
    """The models that are meant; None where nobody answers."""
    if answer is None:
        if judge or beside or answer_price or judge_price:
            raise typer.BadParameter("there is nothing to judge, to pay or to add to without --answer-model")
        return None
    from mnemic.bench.answers import Models, ReplyCache
    from mnemic.bench.systems import describe
    from mnemic.models import registry
    from mnemic.models.prices import Price

    model, judging = registry.language_model(answer), registry.language_model(judge)
    assert model is not None
    if beside is not None:
        describe(beside)
    prices: dict[CallPurpose, Price] = {}
    if answer_price is not None:
        prices["answer"] = Price.parse(answer_price)
    if judge_price is not None:
        prices["judge"] = Price.parse(judge_price)
    return Asking(Models(model, judging, ReplyCache(output.path(replies).expanduser()), prices), beside)


def systems(given: Sequence[str] | None, dataset: DatasetName, *, answers: bool) -> list[str]:
    """The systems that are meant, each once."""
    from mnemic.bench.systems import ANSWERS_ONLY, describe

    if dataset == "personamem" and not answers:
        raise typer.BadParameter(_NO_GOLD)
    names = list(dict.fromkeys(given or ["default"]))
    for name in names:
        describe(name)
        if name in ANSWERS_ONLY and not answers:
            raise typer.BadParameter(f"the recall of {name} says nothing; it is for answers: give --answer-model")
    if dataset == "personamem" and _BASELINE not in names:
        names.append(_BASELINE)
    return names


def model_use(model: str | None, tokens: int | None, replies: str) -> ModelUse | None:
    """The model that systems may ask to write their memories; None for none."""
    if model is None:
        if tokens is not None:
            raise typer.BadParameter("there is nothing to limit without --model")
        return None
    from mnemic.bench.generated.model import ModelUse
    from mnemic.models import registry

    registry.language_model(model)  # a name that means nothing is told before anything is measured
    return ModelUse(model, output.path(replies).expanduser(), tokens)


def setup(embedder: str, settings: Sequence[str] | None, keep: str | None, model: ModelUse | None = None) -> Setup:
    """What the systems are made with."""
    from mnemic.bench.systems import Setup
    from mnemic.bench.systems.settings import Value, value

    chosen: dict[str, Value] = {}
    for setting in settings or ():
        name, separator, text = setting.partition("=")
        if not separator:
            raise typer.BadParameter(f"--set takes NAME=VALUE, not {output.shown(setting)}")
        chosen[name.strip()] = value(text)
    return Setup(embedder, chosen, None if keep is None else output.path(keep).expanduser(), model)


def check(wanted: Sequence[tuple[str, Setup]]) -> None:
    """Make each system once, so that what is wrong with one is said before anything is measured."""
    from mnemic.bench.systems import PEERS, refuse, system

    for name, made_with in wanted:
        refuse(name, made_with)
    for name, made_with in wanted:
        if name not in PEERS:  # which start a process, and may have to be installed
            system(name, made_with).close()


@contextmanager
def work(setup: Setup) -> Generator[Setup]:
    """The setup with a folder for memories, a temporary one where none is kept: several systems share an ingestion."""
    try:
        if setup.keep is not None:
            yield setup
            return
        with tempfile.TemporaryDirectory(prefix="mnemic-bench-") as folder:
            yield replace(setup, keep=Path(folder))
    except KeyboardInterrupt:
        kept = "; what was ingested is kept" if setup.keep is not None else ""
        output.note(f"Interrupted{kept}.")
        raise typer.Exit(130) from None


def load(dataset: DatasetName, split: Split, file: str | None, gold: Gold) -> Dataset:
    """The data set, and a line about what was left out of it."""
    from mnemic.bench import datasets

    found = datasets.load(
        dataset, split, file=None if file is None else output.path(file), gold=gold, data=Environment.read().data
    )
    left_out = "; ".join(f"{count:,} {reason}" for reason, count in found.left_out.items())
    if left_out:
        output.note(f"Left out of {dataset}: {output.shown(left_out)}")
    _doubt(found)
    return found


def _doubt(dataset: Dataset) -> None:
    """Say what makes scores on it doubtful."""
    from mnemic.bench import doubts

    for what, found in groupby(doubts.shallow(dataset), lambda one: one.what):
        depths = ", ".join(f"recall@{one.k} for {one.users:,} of {one.of:,} users" for one in found)
        output.note(f"Trivial, with fewer than 2 k {what} to choose from: {depths}")
    if suspects := doubts.suspects(dataset):
        named = output.shown(", ".join(suspects[:_SUSPECTS_NAMED])) + ", …" * (len(suspects) > _SUSPECTS_NAMED)
        output.note(
            f"Suspect gold: {len(suspects):,} of {len(dataset.questions):,} questions, whose answer stands in another "
            f"session than the one annotated: {named}"
        )


def noted(setup: Setup, notes: str | None, dataset: Dataset, file: str | None) -> Setup:
    """The setup with the notes that are meant, and a line about them."""
    if notes is None:
        return setup
    from mnemic.bench.datasets.notes import load_notes

    found = load_notes(
        "observation" if notes == "observation" else output.path(notes),
        dataset,
        data=Environment.read().data,
        file=None if file is None else output.path(file),
    )
    left_out = "".join(f"; left out: {count:,} {reason}" for reason, count in found.left_out.items())
    output.note(f"Notes given to mnemic: {len(found.notes):,} of {output.shown(found.label + left_out)}")
    return replace(setup, notes=found)


def measured(dataset: Dataset, names: Sequence[str], setup: Setup, *, trials: int, jobs: int) -> list[Outcome]:
    """Retrieval, where the data set has gold for it and the system ranks."""
    from mnemic.bench.systems import ANSWERS_ONLY

    if dataset.name == "personamem":
        return []
    ranking = [name for name in names if name not in ANSWERS_ONLY]
    # Several get a process each: what one leaves in memory is not another's.
    alone = len(ranking) == trials == jobs == 1
    return [
        run(dataset, name, of_trial(setup, trial), jobs=None if alone else jobs, trial=trial)
        for name in ranking
        for trial in range(1, trials + 1)
    ]


def run(dataset: Dataset, name: str, setup: Setup, *, jobs: int | None, trial: int = 1, note: str = "") -> Outcome:
    """One run of one system, with a progress bar."""
    from mnemic.bench import runner

    with output.progress(f"{name} {note}".strip(), len(dataset.questions)) as advance:
        outcome = runner.run(dataset, name, setup, jobs=jobs, trial=trial, progress=advance)
    asked = [one for built in outcome.built.values() for one in built.usage.values()]
    asked += [one for row in outcome.rows for one in row.usage.values()]
    if unreadable := sum(one.unreadable for one in asked):
        replies = sum(one.calls for one in asked)
        output.note(f"{name}: {unreadable:,} of {replies:,} replies were declined or not what was asked for.")
    return outcome


def answered(
    dataset: Dataset, names: Sequence[str], setup: Setup, asking: Asking, *, trials: int
) -> list[AnswerOutcome]:
    """Answers from what each system finds, and again with another system's evidence beside it."""
    return [
        outcome
        for name in names
        for trial in range(1, trials + 1)
        for outcome in _answers(dataset, name, of_trial(setup, trial), asking, trial)
    ]


def auxiliary_setup(setup: Setup) -> Setup:
    """What the system is made with whose evidence is added to another's: settings are the other's."""
    return replace(setup, settings={})


def _answers(dataset: Dataset, name: str, setup: Setup, asking: Asking, trial: int) -> Sequence[AnswerOutcome]:
    from mnemic.bench.answers import Settings, answer, answer_beside
    from mnemic.bench.systems import system

    settings = Settings(trial=trial)
    with output.progress(f"{name}, answers", len(dataset.questions)) as advance, closing(system(name, setup)) as host:
        if asking.beside is None or asking.beside == name:
            outcomes = [answer(dataset, host, asking.models, settings, progress=advance)]
        else:
            with closing(system(asking.beside, auxiliary_setup(setup))) as auxiliary:
                outcomes = [*answer_beside(dataset, host, auxiliary, asking.models, settings, progress=advance)]
    for outcome in outcomes:
        output.warn(f"{outcome.system}: {count:,} calls failed: {error}" for error, count in outcome.errors.items())
    return outcomes


def of_trial(setup: Setup, trial: int) -> Setup:
    """Each trial ingests anew."""
    if trial == 1:
        return setup
    return replace(
        setup,
        keep=None if setup.keep is None else setup.keep / f"trial-{trial}",
        model=None if setup.model is None else replace(setup.model, trial=trial),
    )


def summaries(outcomes: Sequence[Outcome]) -> list[Summary]:
    """Each outcome, summed up; all made by this process at one moment."""
    from mnemic.bench.provenance import Provenance
    from mnemic.bench.summary import summarise

    made = Provenance.now()
    return [summarise(outcome, made=made) for outcome in outcomes]


def tell(measured: Sequence[Outcome], answered: Sequence[AnswerOutcome], *, json: bool) -> None:
    """Write the results: JSON, a line a system, its answers on one of their own; or tables."""
    from mnemic.bench import answers
    from mnemic.bench.trials import over_trials

    by_system: dict[str, list[Summary]] = {}
    for summary in summaries(measured):
        by_system.setdefault(str(summary["system"]), []).append(summary)
    replied = [answers.summarise(outcome) for outcome in answered]
    if json:
        found = [some[0] if len(some) == 1 else over_trials(some) for some in by_system.values()]
        for summary in (*found, *({"answers": one} for one in replied)):
            output.result(output.as_json(summary))
        return
    labelled = {label: summary for some in by_system.values() for label, summary in _labelled(some)}
    lines = [*bench_text.lines(labelled)] if labelled else []
    output.result("\n".join(lines + ([""] if lines and replied else []) + [*bench_text.answers(replied)]))


def _labelled(trials: Sequence[Summary]) -> list[tuple[str, Summary]]:
    name = str(trials[0]["system"])
    labels = [name] if len(trials) == 1 else [f"{name}, trial {number}" for number in range(1, len(trials) + 1)]
    return list(zip(labels, trials, strict=True))


def write(
    measured: Sequence[Outcome], answered: Sequence[AnswerOutcome], results: str | None, report: str | None
) -> None:
    """Write the files that were asked for, and say where they are."""
    from mnemic.bench import answers

    replied = [answers.summarise(outcome) for outcome in answered]
    if results is not None:
        path = output.path(results)
        _results(path.with_name(path.name.removesuffix(".json")), measured, replied)
    if report is not None:
        from mnemic.bench.report import write

        rows = [outcome.rows for outcome in measured]
        page = write(output.path(report), summaries(measured), rows=rows, answers=replied)
        output.note(f"Report: {output.shown(str(page))}")


def _results(place: Path, measured: Sequence[Outcome], replied: Sequence[Summary]) -> None:
    """``PLACE.json`` and its rows, of retrieval; ``PLACE.answers.json``."""
    from mnemic.bench.results import save

    if measured:
        output.note(f"Results: {output.shown(str(save(place.parent, measured, name=place.name)))}")
    if replied:
        path = place.with_name(f"{place.name}.answers.json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(jsons.dumps({"answers": list(replied)}, indent=1) + "\n", encoding="utf-8")
        output.note(f"Answers: {output.shown(str(path))}")
