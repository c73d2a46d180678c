"""Whole runs: questions answered, judged, summed up; models that fail; a run that is killed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from mnemic.bench.answers import Models, ReplyCache, Settings, answer, answer_beside, summarise
from mnemic.bench.answers.checks import wrong
from mnemic.bench.records import Built, Dataset, Found, Hit, Question
from mnemic.errors import InvalidInput, LanguageModelBusy, LanguageModelFailed
from mnemic.importers import Conversation
from mnemic.models.doubles import ScriptedModel
from mnemic.models.prices import Price
from mnemic.protocols import Reply

pytest.importorskip("nltk", reason="the extra bench is not installed")

LATE = LanguageModelBusy("double:down timed out")


class Fixed:
    """A system that returns the same texts for every question, and notes what it was asked."""

    levels = ("trace", "turn")

    def __init__(self, name="fixed", texts=("Mira (2026-01-20 10:04 UTC): I moved yesterday.",)):
        self.name = name
        self.configuration = {"system": name}
        self.loaded = []
        self.asked = []
        self._texts = texts

    def load(self, user_id, conversations):
        self.loaded.append(user_id)
        return Built(0.0, 0.0)

    def search(self, question, *, top_k, level):
        self.asked.append((question.question_id, top_k, level))
        return Found(tuple(Hit((str(n),), "s", text) for n, text in enumerate(self._texts[:top_k])))

    def close(self):
        pass


class Rules:
    """A model that answers by what stands in the request, from any thread; ``fails`` says which requests never work."""

    def __init__(self, reply, *, name="double:rules", fails=lambda request: False):
        self.name = name
        self.requests = []
        self._reply, self._fails = reply, fails
        self._lock = threading.Lock()

    def complete(self, request):
        with self._lock:
            self.requests.append(request)
        if self._fails(request):
            raise LATE
        text = self._reply(request)
        return text if isinstance(text, Reply) else Reply(text, "stop", 100, 10)


def dataset(name, *questions):
    users = dict.fromkeys(question.user_id for question in questions)
    return Dataset(name, "all", "0" * 64, {user: (Conversation(user, "s", ()),) for user in users}, questions)


def question(number, category="single-hop", *, user="ana", half="dev", **given):
    given = {"answer": "a shell necklace", **given}
    return Question(f"{user}/{number}", user, half, f"What about {number}?", category, **given)


LOCOMO = dataset(
    "locomo",
    question(1),
    question(2, "temporal", answer="20 May 2023"),
    question(1, "multi-hop", user="bo", half="test", answer="camping, pottery"),
    question(2, "adversarial", user="bo", half="test", answer="a trap", answerable=False),
    question(3, user="bo", half="test", answer=None),
)


def asked_number(request):
    return re.search(r"What about (\d+)\?", request.user)[1]


def says(text):
    return json.dumps({"reasoning": "x", "answer": text})


def label(value="CORRECT"):
    return json.dumps({"reasoning": "x", "label": value})


@pytest.fixture
def cache(tmp_path):
    with ReplyCache(tmp_path / "replies.jsonl") as opened:
        yield opened


def models(cache, answering, judge=None, **given):
    return Models(answering, judge, cache, wait=lambda _: None, **given)


# LoCoMo -----------------------------------------------------------------------------------------------


def test_locomo_without_a_judge_has_both_f1s_and_bleu_and_no_judges_score(cache):
    told = []
    outcome = answer(LOCOMO, Fixed(), models(cache, Rules(lambda _: says("necklace"))), progress=told.append)
    assert [row.question_id for row in outcome.rows] == ["ana/1", "ana/2", "bo/1"]
    assert outcome.rows[0].scores == pytest.approx({"f1_mem0": 0.5, "f1_locomo": 2 / 3, "bleu1": 2.718281828**-2})
    found = summarise(outcome)
    assert (found["n"], found["failed"]) == (3, 0)
    assert found["f1_mem0"] == round(0.5 / 3, 4)
    assert list(found["by_category"]) == ["multi-hop", "single-hop", "temporal"]
    assert found["by_category"]["temporal"]["f1_locomo"] == 0
    assert {half: block["n"] for half, block in found["by_half"].items()} == {"dev": 2, "test": 1}
    assert not {name for name in found if "judge_" in name or "accuracy" in name}
    assert found["models"] == {"answer": "double:rules"}
    assert told == [1, 1, 1]
    json.dumps(found, allow_nan=False)


def test_locomo_with_a_judge_is_judged_twice_with_the_gold_and_the_answer(cache):
    judge = Rules(lambda r: label("CORRECT" if "generous" in r.system else "WRONG"), name="double:judge")
    outcome = answer(LOCOMO, Fixed(), models(cache, Rules(lambda _: says("my reply")), judge))
    found = summarise(outcome)
    assert (found["judge_lenient"], found["judge_strict"]) == (1.0, 0.0)
    assert found["judgements"] == {"read": 6, "unreadable": 0, "failed": 0}
    assert len(judge.requests) == 6
    assert all("my reply" in request.user for request in judge.requests)
    assert sum("20 May 2023" in request.user for request in judge.requests) == 2


def test_the_prompt_has_the_hits_in_rank_order_within_the_budget_and_not_the_gold(cache):
    model, system = Rules(lambda _: says("x")), Fixed(texts=("best one", "too long " * 50, "third one"))
    settings = Settings(top_k=7, level="turn", variant="resolve", evidence_tokens=10, jobs=1)
    outcome = answer(LOCOMO, system, models(cache, model), settings)
    assert system.loaded == ["ana", "bo"]
    assert system.asked == [("ana/1", 7, "turn"), ("ana/2", 7, "turn"), ("bo/1", 7, "turn")]
    user = model.requests[0].user
    assert user.index("best one") < user.index("third one") < user.index("What about 1?")
    assert "too long" not in user
    assert "shell" not in user
    assert "19 January 2026" in model.requests[0].system
    assert (outcome.rows[0].hits, outcome.rows[0].evidence_tokens) == (2, 4)
    assert outcome.configuration["answering"]["variant"] == "resolve"


def test_the_configuration_tells_prompts_apart(cache):
    def prompt(**given):
        outcome = answer(LOCOMO, Fixed(), models(cache, Rules(lambda _: says("x"))), Settings(**given))
        return outcome.configuration["answering"]["prompts"]["answer"]

    assert len({prompt(), prompt(variant="resolve"), prompt(unanswerable=True)}) == 3
    assert prompt() == prompt(jobs=1, tries=1)


@pytest.mark.fault("B201")
def test_unanswerable_questions_are_asked_on_request_and_stand_apart(cache):
    model = Rules(lambda r: says("No information available" if "about 2" in r.user else "a shell necklace"))
    judge = Rules(lambda _: label())
    found = summarise(answer(LOCOMO, Fixed(), models(cache, model, judge), Settings(unanswerable=True)))
    assert found["n"] == 3
    assert "adversarial" not in found["by_category"]
    assert (found["unanswerable"]["n"], found["unanswerable"]["f1_locomo"]) == (1, 1.0)
    assert "f1_mem0" not in found["unanswerable"]
    assert found["judgements"]["read"] == 6
    assert all("No information available" in request.system for request in model.requests)


# Replies that are not as asked for --------------------------------------------------------------------


def test_prose_fences_truncation_and_refusal_are_told_apart(cache):
    replies = {
        "1": "```json\n" + says("a shell necklace") + "\n```",
        "2": "A shell necklace",
        "3": Reply('{"reasoning": "so lo', "length", 9, 9),
        "4": Reply("", "refusal", 9, 0),
    }
    data = dataset("locomo", *(question(n) for n in range(1, 5)))
    judge = Rules(lambda _: "It is CORRECT, I should say")
    outcome = answer(data, Fixed(), models(cache, Rules(lambda r: replies[asked_number(r)]), judge))
    assert [row.form for row in outcome.rows] == ["formatted", "prose", "truncated", "refused"]
    found = summarise(outcome)
    assert found["forms"] == {"formatted": 1, "prose": 1, "truncated": 1, "refused": 1}
    assert [row.scores["f1_locomo"] for row in outcome.rows] == [1, 1, 0, 0]
    # The judge was not asked about the two empty answers, and its prose is no judgement: wrong, and counted.
    assert len(judge.requests) == 4
    assert found["judge_strict"] == 0
    assert found["judgements"] == {"read": 0, "unreadable": 4, "failed": 0}


def test_a_failure_is_failed_and_never_a_wrong_answer(cache):
    model = Rules(lambda _: says("a shell necklace"), fails=lambda r: asked_number(r) == "2")
    data = dataset("locomo", *(question(n) for n in range(1, 4)))
    outcome = answer(data, Fixed(), models(cache, model), Settings(tries=3))
    found = summarise(outcome)
    assert (found["n"], found["failed"], found["f1_mem0"]) == (2, 1, 1.0)
    assert outcome.rows[1].scores == {}
    assert outcome.errors == {"double:down timed out": 1}
    assert (found["usage"]["answer"]["failed"], found["usage"]["answer"]["retries"]) == (1, 2)
    assert "timed out" not in json.dumps(found)


def test_a_failed_judgement_leaves_the_other_scores(cache):
    judge = Rules(lambda _: label(), fails=lambda r: "generous" in r.system and "about 1" in r.user)
    data = dataset("locomo", question(1), question(2))
    outcome = answer(data, Fixed(), models(cache, Rules(lambda _: says("a shell necklace")), judge))
    assert outcome.rows[0].scores.keys() == {"f1_mem0", "f1_locomo", "bleu1", "judge_strict"}
    found = summarise(outcome)
    assert (found["n"], found["judge_lenient"], found["judgements"]["failed"]) == (2, 1.0, 1)


@pytest.mark.fault("B207")
def test_an_outage_stops_the_run_and_keeps_what_was_answered(cache):
    data = dataset("locomo", *(question(n) for n in range(30)))
    model = Rules(lambda _: says("x"), fails=lambda r: int(asked_number(r)) >= 5)
    with pytest.raises(LanguageModelFailed, match=r"3 questions in a row, the last ana/7: double:down timed out"):
        answer(data, Fixed(), models(cache, model), Settings(jobs=2, tries=2, outage=3))
    assert len(cache) == 5
    assert len(model.requests) < 40
    well = Rules(lambda _: says("x"))
    assert summarise(answer(data, Fixed(), models(cache, well)))["usage"]["answer"]["calls_made"] == 25


def test_a_progress_callback_ends_the_run(cache):
    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answer(LOCOMO, Fixed(), models(cache, Rules(lambda _: says("x"))), progress=stop)


def several():
    answers = ["a red kiln", "a blue boat", "the red kiln", "two bees", "a red kiln"]
    other = question(9, "temporal", answer="in May")
    return dataset("locomo", *(question(n, answer=each) for n, each in enumerate(answers)), other)


@pytest.mark.fault("B202")
def test_a_judge_that_accepts_wrong_answers_is_told(cache):
    kind = Rules(lambda _: label())
    outcome = answer(several(), Fixed(), models(cache, Rules(lambda _: says("x")), kind), Settings(judge_checks=3))
    found = summarise(outcome)
    told = {"wrong_answers": 3, "accepted": 3, "rate": 1.0}
    assert found["judge_checks"] == {"judge_lenient": told, "judge_strict": told}
    assert found["usage"]["judge"]["calls"] == 6 * 2 + 3 * 2


@pytest.mark.fault("B202")
def test_a_judge_that_knows_wrong_answers_accepts_none_of_them(cache):
    def strict(request):
        return label("CORRECT" if request.user.count("a red kiln") > 1 else "WRONG")

    model = Rules(lambda _: says("a red kiln"))
    found = summarise(answer(several(), Fixed(), models(cache, model, Rules(strict))))
    assert {one["accepted"] for one in found["judge_checks"].values()} == {0}
    assert {one["wrong_answers"] for one in found["judge_checks"].values()} == {5}
    assert found["judge_lenient"] == pytest.approx(2 / 6, abs=1e-4)


def test_wrong_answers_are_of_the_same_kind_and_never_the_right_ones():
    chosen = wrong(several().questions, 50)
    assert len(chosen) == 5
    assert all(one.answer not in other and other not in one.answer for one, other in chosen)
    assert "ana/9" not in {one.question_id for one, _ in chosen}
    assert wrong(several().questions, 0) == []


# PersonaMem and LongMemEval ---------------------------------------------------------------------------


def persona(number, gold):
    options = tuple(f"({letter}) It is {letter}." for letter in "abcd")
    return question(number, "suggest_new_ideas", answer=gold, options=options, end=4)


def test_personamem_is_scored_by_letters_and_the_judge_is_left_alone(cache):
    data = dataset("personamem", persona(1, "(a)"), persona(2, "(b)"), persona(3, "(c)"))
    replies = {"1": "It fits.\nAnswer: (a)", "2": "(b) is wrong. Answer: (d)", "3": "I cannot choose."}
    judge, system = Rules(lambda _: label()), Fixed()
    outcome = answer(data, system, models(cache, Rules(lambda r: replies[asked_number(r)]), judge))
    assert [row.letter for row in outcome.rows] == ["a", "d", None]
    found = summarise(outcome)
    assert (found["accuracy"], found["accuracy_personamem"], found["accuracy_evermemos"]) == (0.3333, 0.3333, 0.6667)
    assert judge.requests == []
    assert "judge" not in found["models"]
    assert {top_k for _, top_k, _ in system.asked} == {40}


def test_the_no_memory_baseline_shows_the_options_and_no_history(cache):
    model = Rules(lambda _: "Answer: (a)")
    outcome = answer(dataset("personamem", persona(1, "(a)")), Fixed("no-memory", ()), models(cache, model))
    assert summarise(outcome)["accuracy"] == 1
    [request] = model.requests
    assert "fragments" not in request.user + request.system
    assert "(d) It is d." in request.user
    assert outcome.rows[0].evidence_tokens == 0


def test_longmemeval_is_judged_by_type_and_averaged_over_types(cache):
    data = dataset(
        "longmemeval",
        question(1, "multi-session", asked_at="2023-05-30T00:00:00+00:00"),
        question(2, "multi-session", answer="it was never said", answerable=False),
        question(3, "single-session-preference", answer="a rubric"),
    )
    judge = Rules(lambda r: "no" if "What about 1?" in r.user else "Yes")
    model = Rules(lambda _: "A shell necklace.")
    outcome = answer(data, Fixed(), models(cache, model, judge))
    found = summarise(outcome)
    assert found["judge_longmemeval"] == 0.6667
    assert found["longmemeval"] == {
        "types": 2,
        "mean_over_types": 0.75,
        "unanswerable": {"n": 1, "judge_longmemeval": 1.0},
    }
    assert [sorted(row.scores) for row in outcome.rows] == [
        ["bleu1", "f1_mem0", "judge_longmemeval"],
        ["judge_longmemeval"],
        ["judge_longmemeval"],
    ]
    assert "2023-05-30" in next(request.user for request in model.requests if asked_number(request) == "1")
    assert {request.max_tokens for request in judge.requests} == {10}


# Evidence beside another system's ---------------------------------------------------------------------


def test_the_host_alone_and_with_evidence_beside_it(cache):
    model = Rules(lambda r: says("a shell necklace" if "necklace from Hawaii" in r.user else "a hat"))
    host, ours = Fixed("mem0", ("Mira likes hats.",)), Fixed("default", ("Bo (undated): a necklace from Hawaii",))
    told = []
    data = dataset("locomo", question(1), question(2))
    alone, beside = answer_beside(data, host, ours, models(cache, model), progress=told.append)
    assert (alone.system, beside.system) == ("mem0", "mem0+default")
    assert [summarise(one)["f1_locomo"] for one in (alone, beside)] == [0.0, 1.0]
    assert [row.hits for row in alone.rows + beside.rows] == [1, 1, 2, 2]
    assert beside.rows[0].evidence_tokens > alone.rows[0].evidence_tokens
    assert len(host.asked) == len(ours.asked) == 2
    assert told == [1, 1]
    shown = next(request.user for request in model.requests if "<memories>" in request.user)
    assert shown.index("Mira likes hats.") < shown.index("<fragments>") < shown.index("necklace from Hawaii")


def test_evidence_that_is_nothing_changes_nothing_and_costs_nothing(cache):
    model = Rules(lambda _: says("a hat"))
    data = dataset("locomo", question(1))
    alone, beside = answer_beside(data, Fixed("a"), Fixed("b", ()), models(cache, model))
    assert alone.rows[0].scores == beside.rows[0].scores
    assert len(model.requests) == 1


# Tokens, money, the cache -----------------------------------------------------------------------------


def test_tokens_and_money_by_purpose_are_the_same_from_the_cache(cache):
    prices = {"answer": Price(1000, 2000), "judge": Price(10_000, 0)}

    def run(answering, judge):
        return summarise(answer(LOCOMO, Fixed(), models(cache, answering, judge, prices=prices)))

    first = run(Rules(lambda _: says("x")), Rules(lambda _: label()))
    silent = ScriptedModel([], name="double:rules")
    again = run(silent, silent)
    usage = first["usage"]
    assert usage["answer"] == {
        **{"calls": 3, "failed": 0, "tokens_in": 300, "tokens_out": 30, "money": 0.36},
        **{"calls_made": 2, "retries": 0},  # two of the three questions have one prompt
    }
    assert (usage["judge"]["calls"], usage["judge"]["money"], usage["money"]) == (6, 6.0, 6.36)
    assert silent.requests == []
    assert again["usage"]["answer"].pop("calls_made") == again["usage"]["judge"].pop("calls_made") == 0
    for purpose in ("answer", "judge"):
        del usage[purpose]["calls_made"]
    assert again == first


def test_money_is_unknown_where_a_price_is(cache):
    outcome = answer(
        LOCOMO,
        Fixed(),
        models(cache, Rules(lambda _: says("x")), Rules(lambda _: label()), prices={"judge": Price(1, 1)}),
    )
    usage = summarise(outcome)["usage"]
    assert (usage["answer"]["money"], usage["money"]) == (None, None)
    assert usage["judge"]["money"] is not None


def test_another_trial_asks_again(cache):
    model = Rules(lambda _: says("x"))
    for trial in (1, 2, 2):
        answer(LOCOMO, Fixed(), models(cache, model), Settings(trial=trial))
    assert len(model.requests) == 4  # two of the three questions have one prompt


def test_the_rows_hold_no_text_of_anybody(cache):
    outcome = answer(LOCOMO, Fixed(), models(cache, Rules(lambda _: says("my very own words"))))
    held = repr(outcome.rows) + json.dumps(summarise(outcome))
    assert not re.search("very own|necklace|moved|What about", held)


def test_a_data_set_without_a_question_to_ask(cache):
    found = summarise(answer(dataset("locomo"), Fixed(), models(cache, ScriptedModel([]))))
    assert (found["n"], found["by_category"], found["evidence_tokens"]) == (0, {}, None)


def test_at_most_so_many_requests_are_under_way(cache):
    under_way, most = 0, 0
    lock = threading.Lock()

    def slow(_):
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        time.sleep(0.01)
        with lock:
            under_way -= 1
        return says("x")

    data = dataset("locomo", *(question(n) for n in range(12)))
    answer(data, Fixed(), models(cache, Rules(slow)), Settings(jobs=3))
    assert 1 < most <= 3


@pytest.mark.parametrize("given", [{"top_k": 0}, {"jobs": 0}, {"tries": 0}, {"variant": "x"}, {"evidence_tokens": -1}])
def test_settings_out_of_range_are_named(given):
    with pytest.raises(InvalidInput, match=next(iter(given)) if "variant" not in given else "paper and resolve"):
        Settings(**given)


# A run that is killed ---------------------------------------------------------------------------------

KILLED = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_bench_answers import LONG, Fixed, Rules, models, says, label
from mnemic.bench.answers import ReplyCache, Settings, answer

def slow(text):
    def reply(request):
        time.sleep(0.01)
        return text
    return reply

with ReplyCache(Path(sys.argv[1])) as cache:
    answer(LONG, Fixed(), models(cache, Rules(slow(says("x"))), Rules(slow(label()))), Settings(jobs=3))
"""
LONG = dataset("locomo", *(question(n) for n in range(60)))


def test_kill_9_loses_no_reply_and_no_cached_one_is_asked_for_again(tmp_path):
    path = tmp_path / "replies.jsonl"
    here = str(Path(__file__).parent)
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(path), here], stderr=subprocess.PIPE)
    while process.poll() is None and (not path.exists() or path.read_bytes().count(b"\n") < 30):
        time.sleep(0.005)
    process.kill()
    _, err = process.communicate()
    kept = path.read_bytes().count(b"\n")
    assert 30 <= kept < 180, err
    model, judge = Rules(lambda _: says("x")), Rules(lambda _: label())
    with ReplyCache(path) as cache:
        found = summarise(answer(LONG, Fixed(), models(cache, model, judge)))
    assert len(model.requests) + len(judge.requests) == 180 - kept
    assert (found["n"], found["failed"]) == (60, 0)
    assert [found["usage"][purpose]["calls"] for purpose in ("answer", "judge")] == [60, 120]
