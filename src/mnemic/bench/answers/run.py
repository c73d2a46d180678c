"""Answers a data set's questions with a language model, from what a system finds, and scores the answers."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict

from mnemic.algo.jsonable import as_json
from mnemic.bench.answers import judge as judges
from mnemic.bench.answers import words
from mnemic.bench.answers.checks import Check, checked
from mnemic.bench.answers.data import Context, within
from mnemic.bench.answers.model import CachedModel, Call, CallPurpose, Models
from mnemic.bench.answers.records import TOP_K, AnswerOutcome, AnswerRow, Settings
from mnemic.bench.answers.respond import Responder
from mnemic.bench.answers.scores import asked
from mnemic.bench.records import Dataset, Question, System
from mnemic.errors import LanguageModelFailed
from mnemic.prompts.data import version
from mnemic.protocols import LanguageModel
from mnemic.types import Json

_AHEAD = 3
"""Questions submitted for each thread: enough to keep all of them busy, few enough to bound the texts in memory."""
_RUNNING = frozenset(("jobs", "tries", "outage", "trial"))
"""Settings that are no part of the configuration: no score depends on them, and the trial stands by itself."""

_Found = tuple[Question, tuple[tuple[str, ...], ...]]
"""A question, and for each system the texts of what it found."""
_Responded = tuple[AnswerRow, tuple[str, ...]]


def answer(
    dataset: Dataset,
    system: System,
    models: Models,
    settings: Settings | None = None,
    *,
    progress: Callable[[int], None] = lambda _: None,
) -> AnswerOutcome:
    """Answer every question of a data set from one system's hits, and score the answers (methods.md 4.2 to 4.5).

    What was answered before under the same cache is not asked again, so a run that was killed goes on where it was.
    The baselines are systems too: ``no-memory`` finds nothing, ``full-context`` all.

    Args:
        dataset: What to load and to ask.
        system: Fresh; only this thread uses it. It stays open.
        models: Who answers and who judges.
        settings: How to ask.
        progress: Called with the number of questions done since; may raise to end the run.

    Raises:
        LanguageModelFailed: Nothing came for ``settings.outage`` questions in a row.
        InvalidFile: A reply could not be kept.
        MissingExtra: A library is missing; this shows before anything is asked.
    """
    [outcome] = _outcomes(dataset, [system], (1,), models, settings or Settings(), progress)
    return outcome


def answer_beside(
    dataset: Dataset,
    host: System,
    auxiliary: System,
    models: Models,
    settings: Settings | None = None,
    *,
    progress: Callable[[int], None] = lambda _: None,
) -> tuple[AnswerOutcome, AnswerOutcome]:
    """Answer from what one system found, and again with the evidence of a second one beside it (HERO, figure 2).

    Both see the same hits of the first system. The second system's are shown apart, as original dialogue, and have a
    budget of their own; ``evidence_tokens`` of the rows says how much more was read. Where it found nothing, the two
    prompts and so the two answers are the same.

    Args:
        dataset: What to load and to ask.
        host: The system that is helped; fresh, like the other.
        auxiliary: The one whose evidence is added: mnemic's.
        models: Who answers and who judges.
        settings: How to ask; ``top_k`` and ``evidence_tokens`` hold for each system.
        progress: As in ``answer``.

    Returns:
        The host alone, and the host with the evidence, under the name ``host+auxiliary``.

    Raises:
        LanguageModelFailed: As in ``answer``, like InvalidFile and MissingExtra.
    """
    alone, beside = _outcomes(dataset, [host, auxiliary], (1, 2), models, settings or Settings(), progress)
    return alone, beside


def _outcomes(
    dataset: Dataset,
    systems: Sequence[System],
    shown: Sequence[int],
    models: Models,
    settings: Settings,
    progress: Callable[[int], None],
) -> list[AnswerOutcome]:
    """One outcome for each number in ``shown``: how many of the systems, from the first, the model is shown."""
    if dataset.name != "personamem":
        words.tokenize("What is missing shows before anything is paid for.")
    responder = _responder(dataset, models, settings)
    contexts = (
        (question, Context(texts[0], texts[1] if count > 1 else ()))
        for question, texts in _found(dataset, systems, settings)
        for count in shown
    )
    names: dict[CallPurpose, str] = {"answer": responder.model.name}
    checks: dict[judges.Judge, Check] = {}
    check_calls: tuple[Call, ...] = ()
    if responder.judge:
        names["judge"] = responder.judge.name
        questions = asked(dataset, unanswerable=settings.unanswerable)
        checks, judged = checked(dataset.name, questions, responder.judge, settings)
        check_calls = tuple(one.call for one in judged)
    responses = list(_watched(_in_threads(responder, contexts), settings.outage, len(shown), progress))
    return [
        AnswerOutcome(
            dataset=dataset.name,
            split=dataset.split,
            system="+".join(system.name for system in systems[:count]),
            configuration=_configuration(responder, systems[:count]),
            checksum=dataset.checksum,
            gold=dataset.gold,
            models=names,
            rows=_in_file_order(dataset, [row for row, _ in responses[place :: len(shown)]]),
            trial=settings.trial,
            errors=Counter(error for _, errors in responses[place :: len(shown)] for error in errors),
            prices=models.prices,
            checks=checks,
            check_calls=check_calls,
        )
        for place, count in enumerate(shown)
    ]


def _responder(dataset: Dataset, models: Models, settings: Settings) -> Responder:
    def cached(model: LanguageModel, purpose: CallPurpose) -> CachedModel:
        return CachedModel(model, models.cache, purpose, tries=settings.tries, trial=settings.trial, wait=models.wait)

    judge = models.judge if judges.JUDGES[dataset.name] else None
    return Responder(dataset, settings, cached(models.answer, "answer"), cached(judge, "judge") if judge else None)


def _found(dataset: Dataset, systems: Sequence[System], settings: Settings) -> Iterator[_Found]:
    """Each question with what each system finds for it, user by user."""
    questions = asked(dataset, unanswerable=settings.unanswerable)
    top_k = settings.top_k or TOP_K[dataset.name]
    for user, conversations in dataset.conversations.items():
        own = [question for question in questions if question.user_id == user]
        for system in systems if own else ():
            system.load(user, conversations)
        for question in own:
            yield question, tuple(_texts(system, question, top_k, settings) for system in systems)


def _texts(system: System, question: Question, top_k: int, settings: Settings) -> tuple[str, ...]:
    level = settings.level if settings.level in system.levels else system.levels[0]
    found = system.search(question, top_k=top_k, level=level)
    return within([hit.text for hit in found.hits], settings.evidence_tokens)


def _in_threads(responder: Responder, contexts: Iterable[tuple[Question, Context]]) -> Iterator[_Responded]:
    """The responses in order. The systems search in this thread, the models are asked from others."""
    jobs = responder.settings.jobs
    pool = ThreadPoolExecutor(jobs, thread_name_prefix="mnemic-answers")
    waiting: deque[Future[_Responded]] = deque()
    try:
        for question, context in contexts:
            waiting.append(pool.submit(responder.row, question, context))
            if len(waiting) >= jobs * _AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        # What is under way is paid for: it is waited for, and kept. The rest is not begun.
        responder.stop()
        pool.shutdown(cancel_futures=True)


def _watched(
    responses: Iterator[_Responded], outage: int, each: int, progress: Callable[[int], None]
) -> Iterator[_Responded]:
    """Tell of every question (of ``each`` responses), and stop where the models seem to be gone.

    Raises:
        LanguageModelFailed: In ``outage`` responses in a row a call failed.
    """
    failed = 0
    for number, (row, errors) in enumerate(responses, 1):
        failed = failed + 1 if errors else 0
        if failed >= outage:
            raise LanguageModelFailed(
                f"no reply came for {failed} questions in a row, the last {row.question_id}: {errors[-1]}; the replies "
                "so far are kept, so when the model can be reached the same command goes on from there"
            )
        if number % each == 0:
            progress(1)
        yield row, errors


def _in_file_order(dataset: Dataset, rows: Iterable[AnswerRow]) -> tuple[AnswerRow, ...]:
    by_id = {row.question_id: row for row in rows}
    return tuple(by_id[one.question_id] for one in dataset.questions if one.question_id in by_id)


def _configuration(responder: Responder, systems: Sequence[System]) -> dict[str, Json]:
    """What the scores depend on, besides the data and the models."""
    settings, dataset = responder.settings, responder.dataset.name
    chosen = {name: value for name, value in asdict(settings).items() if name not in _RUNNING}
    return {
        "systems": [as_json(system.configuration, system.name) for system in systems],
        "answering": {
            **chosen,
            "top_k": settings.top_k or TOP_K[dataset],
            "prompts": _fingerprints(responder, beside=len(systems) > 1),
        },
    }


def _fingerprints(responder: Responder, *, beside: bool) -> dict[str, Json]:
    """Prompt -> the digest of all that is sent besides the data."""
    nobody = Question("", "", "dev", "", "multi-session")
    request = responder.request(nobody, Context(("",), ("",) if beside else ()))
    requests = {"answer": request}
    for judge in judges.JUDGES[responder.dataset.name] if responder.judge else ():
        requests[judge] = judges.judging(judge, nobody, "", "")
    return {name: version(one.system, one.schema) for name, one in requests.items()}
