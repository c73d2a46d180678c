"""The page of a report, section by section."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from mnemic.bench import against, columns, made_of, markdown, pictures, tables
from mnemic.bench.columns import LEVEL_WORDS, Column, Record, at, inner, number, share
from mnemic.bench.plots.style import Figure
from mnemic.bench.records import DatasetName, Level, Row
from mnemic.bench.summary import LEVELS, Summary
from mnemic.bench.systems.named import ANSWERS_ONLY
from mnemic.bench.tables import Table
from mnemic.bench.trials import over_trials
from mnemic.types import Json

_FEW: Final = 100
"""With fewer questions than this the page says what one of them weighs."""


_OFFICIAL: Final = "Counted as LoCoMo's own code does"


@dataclass(slots=True)
class Page:
    """A page that is being written.

    Attributes:
        lines: Of Markdown.
        figures: File name -> picture that it refers to.
        meanings: Subject -> what a column means -> the headings of those that mean it.
    """

    lines: list[str] = field(default_factory=list[str])
    figures: dict[str, Figure] = field(default_factory=dict[str, Figure])
    meanings: dict[str, dict[str, list[str]]] = field(default_factory=dict[str, dict[str, list[str]]])

    def say(self, *paragraphs: str) -> None:
        """Add paragraphs."""
        for paragraph in paragraphs:
            self.lines += [paragraph, ""]

    def show(self, name: str, figure: Figure | None, what: str) -> None:
        """Add a picture, where there is one."""
        if figure is not None:
            self.figures[name] = figure
            self.say(markdown.picture(name, what))

    def tabulate(self, table: Table) -> None:
        """Add a table."""
        self.lines += [*markdown.table(table), ""]

    def numbers(
        self, systems: Mapping[str, Record], wanted: Sequence[Column], subject: str, *, title: str = ""
    ) -> None:
        """Add a table of numbers, where there are any, and remember under a subject what its columns mean."""
        if not (kept := tables.present(systems.values(), wanted)):
            return
        if title:
            self.say(title)
        self.explain(subject, kept)
        self.tabulate(tables.filled(systems, kept))

    def explain(self, subject: str, shown: Sequence[Column]) -> None:
        """Remember what columns mean."""
        meanings = self.meanings.setdefault(subject, {})
        for column in shown:
            heads = meanings.setdefault(column.meaning, [])
            if column.head not in heads:
                heads.append(column.head)


@dataclass(frozen=True, slots=True)
class Group:
    """What was measured on one part of one data set.

    Attributes:
        title: ``LoCoMo, all``.
        slug: What the names of its pictures begin with.
        dataset: Whose metrics.
        systems: Name -> its summary.
        rows: Name -> its rows; only those that have them.
    """

    title: str
    slug: str
    dataset: DatasetName
    systems: Mapping[str, Record]
    rows: Mapping[str, Sequence[Row]]

    @property
    def ranked(self) -> dict[str, Record]:
        """The systems whose recall says something."""
        return {name: one for name, one in self.systems.items() if one.get("system") not in ANSWERS_ONLY}

    def trials(self) -> dict[str, list[Sequence[Row]]]:
        """The rows of each trial of those systems, of the ones that have them."""
        trials: dict[str, list[Sequence[Row]]] = {}
        for name, summary in self.ranked.items():
            if name in self.rows:
                trials.setdefault(str(summary.get("system")), []).append(self.rows[name])
        return trials


def group(page: Page, found: Group, baseline: str | None) -> None:
    """Write all sections about one part of a data set.

    Raises:
        InvalidInput: Systems were asked different questions.
    """
    page.say(f"## {markdown.plain(found.title)}", *_glance(found))
    page.numbers(found.ranked, columns.OVERVIEW, "At a glance")
    _recall(page, found)
    _against(page, found, baseline)
    _categories(page, found)
    _halves(page, found)
    _abstention(page, found)
    _reliability(page, found)
    _cost(page, found)
    _trials(page, found)
    _made_of(page, found)


def sweeps(page: Page, found: Mapping[str, Sequence[tuple[str, Record]]]) -> None:
    """Write what each swept setting does."""
    for n, (setting, values) in enumerate(found.items(), 1):
        page.say(f"## Sweep over {markdown.plain(setting)}")
        page.show(f"sweep-{n}.png", pictures.swept(setting, values), f"Recall by the value of {setting}")
        measured = [column for level in LEVELS for column in _swept(level)]
        table = tables.filled(dict(values), [*measured, *columns.COST[:1], *columns.COST[6:7]])
        page.tabulate(Table((setting, *table.heads[1:]), table.rows, table.best))


def answers(page: Page, title: str, found: Mapping[str, Record]) -> None:
    """Write how well replies were, where a language model gave them, and by category."""
    page.say(f"## Answers: {markdown.plain(title)}")
    models = {f"{purpose} by {name}" for record in found.values() for purpose, name in inner(record, "models").items()}
    if models:
        page.say(f"Models: {markdown.plain(markdown.joined(sorted(models)))}.")
    page.numbers(found, columns.answering(list(found.values())), "Answers")
    categories = list(dict.fromkeys(name for record in found.values() for name in inner(record, "by_category")))
    for score, (head, _) in columns.SCORES.items():
        measured = [Column(name, "", ("by_category", name, score), share, True) for name in categories]
        if tables.present(found.values(), measured):
            page.say(f"**By category: {markdown.plain(head)}**")
            page.tabulate(tables.filled(found, measured))


def speed(page: Page, found: Sequence[Record]) -> None:
    """Write how time, memory and disk grow, in numbers and as multiples of the first system."""
    page.say("## Speed")
    for axis, figure in pictures.growth(found).items():
        page.show(f"speed-{axis}.png", figure, f"Time, memory and disk by the number of {axis}, on logarithmic scales")
    kept = tables.present(found, columns.SPEED)
    page.explain("Speed", kept)
    page.tabulate(tables.speed(found, kept))
    if multiples := tables.multiples(found, kept):
        first = markdown.plain(str(found[0].get("system")))
        page.say(f"As multiples of **{first}** at the same size, in the same run; above 1 is more:")
        page.tabulate(multiples)
    if failed := tables.failures(found):
        page.say("What could not be measured:")
        page.lines += [*markdown.bullets(failed), ""]


def guide(page: Page) -> None:
    """Write what the columns mean."""
    page.say("## What the columns mean")
    for subject, meanings in page.meanings.items():
        page.say(f"**{subject}**")
        page.lines += [*markdown.bullets((", ".join(heads), meaning) for meaning, heads in meanings.items()), ""]
    page.say(
        "Brackets are 95 % intervals by the percentile bootstrap. Bold is the best number of a column, which may well "
        f"be within noise of the next. {tables.MISSING} stands for what was not measured."
    )


def _swept(level: Level) -> list[Column]:
    return [
        Column(f"{level} R@{k}", "", (level, "fraction", k), share, True, (level, "interval", "fraction", k))
        for k in ("5", "10")
    ]


def _glance(found: Group) -> list[str]:
    """The best of each level in a sentence, and a warning where there are few questions."""
    said: list[str] = []
    for level in LEVELS:
        scored = {name: v for name, s in found.ranked.items() if (v := number(s, level, "fraction", "10")) is not None}
        if scored:
            best, *others = sorted(scored, key=lambda name: -scored[name])
            next_best = f"; next is {markdown.plain(others[0])} with {share(scored[others[0]])}" if others else ""
            said.append(
                f"At {LEVEL_WORDS[level]} **{markdown.plain(best)}** finds most: R@10 {share(scored[best])}"
                f"{_interval(found.ranked[best], level)}{next_best}."
            )
    sizes = [n for summary in found.systems.values() if (n := number(summary, "n"))]
    questions = f"{max(sizes):,.0f} questions whose evidence is known." if sizes else ""
    few = (
        f" So few that one of them moves a number by {share(1 / max(sizes))}: no conclusion from single questions."
        if sizes and max(sizes) < _FEW
        else ""
    )
    return [" ".join([questions + few, *said]).strip()] if sizes or said else []


def _interval(summary: Record, level: Level) -> str:
    between = columns.ends(summary, level, "interval", "fraction", "10")
    return f" [{share(between[0])}, {share(between[1])}]" if between else ""


def _recall(page: Page, found: Group) -> None:
    if not tables.present(found.ranked.values(), [column for level in LEVELS for column in columns.quality(level)]):
        return
    page.say("### Recall")
    what = "Recall within the first 1, 5, 10 and 20 hits, with 95 % intervals"
    page.show(f"{found.slug}-recall.png", pictures.recall_by_k(found.ranked), what)
    for level in LEVELS:
        page.numbers(found.ranked, columns.quality(level), "Recall", title=f"**{LEVEL_WORDS[level].capitalize()}**")
    for level in LEVELS:
        title = f"**Sessions**, in the order of their best {level}"
        page.numbers(found.ranked, columns.sessions(level), "Sessions", title=title)
    theirs = [column for level in LEVELS for column in columns.official(level)]
    page.numbers(found.ranked, theirs, _OFFICIAL, title=f"**{_OFFICIAL}**")


def _against(page: Page, found: Group, baseline: str | None) -> None:
    trials = found.trials()
    if len(trials) < 2:
        return
    chosen = baseline if baseline in trials else against.baseline_of(list(trials))
    page.say(
        f"### Against {markdown.plain(chosen)}",
        f"Differences to **{markdown.plain(chosen)}**, question by question, with 95 % intervals over all questions. "
        "▲ better and ▼ worse beyond noise: p of the paired sign-flip test at most .05 after Holm's adjustment for all "
        "differences shown here.",
    )
    for words, table in against.differences(trials, chosen, found.dataset).items():
        page.say(f"**{words.capitalize()}**")
        page.tabulate(table)


def _categories(page: Page, found: Group) -> None:
    named: dict[Level, list[str]] = {level: pictures.categories_of(found.ranked.values(), level) for level in LEVELS}
    if not any(named.values()):
        return
    page.say("### By category")
    for level, categories in named.items():
        if categories:
            name = f"{found.slug}-categories-{level}.png"
            what = f"Recall@10 by category at {LEVEL_WORDS[level]}, with 95 % intervals"
            page.show(name, pictures.recall_by_category(found.ranked, level), what)
            page.say(f"**R@10, {LEVEL_WORDS[level]}**")
            page.tabulate(tables.filled(found.ranked, columns.by_category(level, categories)))


def _halves(page: Page, found: Group) -> None:
    for n, level in enumerate(LEVELS):
        measured = columns.halves(level)
        if tables.present(found.ranked.values(), measured):
            if n == 0:
                page.say("### Development and test half", "Settings were chosen on the development half alone.")
            page.numbers(found.ranked, measured, "Halves", title=f"**{LEVEL_WORDS[level].capitalize()}**")


def _abstention(page: Page, found: Group) -> None:
    if not tables.present(found.ranked.values(), columns.ABSTENTION):
        return
    page.say("### Knowing that there is no answer")
    asked = {name: rows for name, rows in found.rows.items() if name in found.ranked}
    what = "ROC curves of the returned relevance; a large point is a system's own threshold"
    page.show(f"{found.slug}-abstention.png", pictures.abstention(asked), what)
    page.numbers(found.ranked, columns.ABSTENTION, "Knowing that there is no answer")


def _reliability(page: Page, found: Group) -> None:
    for n, level in enumerate(LEVELS):
        measured = columns.reliability(level)
        if tables.present(found.ranked.values(), measured):
            if n == 0:
                page.say("### Meaning what it says", "A hit's score is the probability that it shows what answers.")
            page.numbers(found.ranked, measured, "Reliability", title=f"**{LEVEL_WORDS[level].capitalize()}**")
            if picture := pictures.calibration(found.ranked, level):
                what = f"Share of useful hits by the probability that was said, {LEVEL_WORDS[level]}"
                page.show(f"{found.slug}-calibration-{level}.png", picture, what)


def _cost(page: Page, found: Group) -> None:
    page.say("### Cost of a question")
    for level in LEVELS:
        if picture := pictures.quality_by_cost(found.ranked, level):
            what = f"Recall@10 at {LEVEL_WORDS[level]} against CPU time; the area of a point is its tokens"
            page.show(f"{found.slug}-cost.png", picture, what)
            break
    page.numbers(found.systems, columns.COST, "Cost of a question")
    page.numbers(
        found.systems,
        columns.build(list(found.systems.values())),
        "Cost of taking it in",
        title="### Cost of taking it in",
    )
    title = "**By purpose of what a language model was asked**"
    page.numbers(tables.usage(found.systems), columns.USAGE, "By purpose", title=title)


def _trials(page: Page, found: Group) -> None:
    trials: dict[str, list[Summary]] = {}
    for summary in found.systems.values():
        trials.setdefault(str(summary.get("system")), []).append(dict(summary))
    several = {name: over_trials(summaries) for name, summaries in trials.items() if len(summaries) > 1}
    if several:
        page.say("### Over trials", "Mean ± sample standard deviation over the trials above.")
        page.tabulate(tables.deviations(several))


def _made_of(page: Page, found: Group) -> None:
    summaries = list(found.systems.values())
    page.say("### What was measured")
    page.lines += [
        *markdown.bullets(
            (words, markdown.joined(values))
            for words, values in (
                ("Data set, SHA-256", made_of.distinct(summaries, "checksum")),
                ("Gold", made_of.distinct(summaries, "gold")),
                ("mnemic's commit", made_of.distinct(summaries, "commit")),
                ("Measured", made_of.distinct(summaries, "date")),
                ("Versions", [", ".join(sorted(made_of.versions(summaries)))]),
                ("Bootstrap", [made_of.bootstrap(summary) for summary in summaries if at(summary, "bootstrap")][:1]),
            )
            if any(values)
        ),
        "",
    ]
    page.lines += [*markdown.bullets((name, made_of.what(summary)) for name, summary in found.systems.items()), ""]
    configurations: Json = {name: at(summary, "configuration") for name, summary in found.systems.items()}
    page.lines += [*markdown.folded("Every setting of every system", configurations), ""]
