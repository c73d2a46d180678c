"""The cache on disk, the calls that are tried again, and prices."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from mnemic.bench.answers.cache import ReplyCache, key
from mnemic.bench.answers.model import CachedModel
from mnemic.errors import InvalidFile, InvalidInput, LanguageModelBusy, MissingExtra
from mnemic.models.doubles import ScriptedModel
from mnemic.models.prices import Price
from mnemic.protocols import Completion, Reply

REPLY = Reply("naïve \ud800 \x00", "length", 12, 3)
LATE = LanguageModelBusy("timed out")


def request(user="Who?", **changes):
    return Completion(**{"purpose": "answer", "system": "Be brief.", "user": user, "max_tokens": 9} | changes)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "replies.jsonl"


def test_the_key_is_of_all_that_a_reply_depends_on():
    changed = [
        key("a:b", request()),
        key("a:c", request()),
        key("a:b", request("Why?")),
        key("a:b", request(system="x")),
        key("a:b", request(max_tokens=10)),
        key("a:b", request(purpose="judge")),
        key("a:b", request(schema={"type": "object"})),
        key("a:b", request(), trial=2),
        key("a:b", request(), again=1),
        key("a:b", request(), trial=2, again=1),
    ]
    assert len(set(changed)) == len(changed)
    assert key("a:b", request()) == changed[0]
    assert len(changed[0]) == 64


def test_what_is_kept_comes_back_byte_for_byte(path):
    with ReplyCache(path) as cache:
        assert cache.get("k") is None
        assert cache.keep("k", "a:b", request(), REPLY) is REPLY
    with ReplyCache(path) as cache:
        assert (len(cache), cache.get("k"), cache.damaged) == (1, REPLY, 0)
    assert path.stat().st_mode & 0o777 == 0o600
    assert b"Who?" not in path.read_bytes()


def test_how_long_a_reply_took_is_kept_with_it(path):
    with ReplyCache(path) as cache:
        cache.keep("k", "a:b", request(), REPLY, took_s=1.23456)
        cache.keep("unknown", "a:b", request(), REPLY)
        cache.keep("k", "a:b", request(), REPLY, took_s=9.0)
        assert (cache.took_s("k"), cache.took_s("unknown"), cache.took_s("none")) == (1.2346, 0.0, 0.0)
    with ReplyCache(path) as cache:
        assert (cache.took_s("k"), cache.took_s("unknown"), cache.damaged) == (1.2346, 0.0, 0)


def test_a_kept_reply_took_as_long_as_when_it_came(path):
    class Slow:
        name = "a:slow"

        def complete(self, request):
            time.sleep(0.02)
            return REPLY

    with ReplyCache(path) as cache:
        first = CachedModel(Slow(), cache, "build").ask(request()).call
        kept = CachedModel(Slow(), cache, "build").ask(request()).call
    assert first.took_s >= 0.02
    assert (kept.cached, kept.took_s) == (True, round(first.took_s, 4))


def test_who_could_not_use_a_reply_gets_another(path):
    script = ScriptedModel(["first", "second"])
    with ReplyCache(path) as cache:
        model = CachedModel(script, cache, "build")
        said = [model.ask(request(), again=again).reply.text for again in (0, 1, 0, 1)]
    assert said == ["first", "second", "first", "second"]
    assert len(script.requests) == 2


def test_the_first_reply_under_a_key_counts(path):
    with ReplyCache(path) as cache, ReplyCache(path) as other:
        cache.keep("k", "a:b", request(), REPLY)
        assert cache.keep("k", "a:b", request(), Reply("later", "stop", 1, 1)) is REPLY
        other.keep("k", "a:b", request(), Reply("of another process", "stop", 1, 1))
    with ReplyCache(path) as cache:
        assert cache.get("k") == REPLY


@pytest.mark.parametrize("cut", [1, 5, 9, 40, -2])
def test_a_torn_last_line_is_passed_over_and_not_continued(path, cut):
    with ReplyCache(path) as cache:
        cache.keep("one", "a:b", request(), REPLY)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:cut])
    with ReplyCache(path) as cache:
        assert (len(cache), cache.damaged) == (1, 1)
        cache.keep("two", "a:b", request(), REPLY)
    with ReplyCache(path) as cache:
        assert cache.get("two") == REPLY


def test_a_kill_before_the_first_line_was_whole(path):
    path.parent.mkdir()
    path.write_bytes(b'{"ke')
    with ReplyCache(path) as cache:
        cache.keep("one", "a:b", request(), REPLY)
    with ReplyCache(path) as cache:
        assert cache.get("one") == REPLY


def test_another_file_is_not_written_to(path):
    path.parent.mkdir()
    path.write_text('{"my": "own"}\n')
    with pytest.raises(InvalidFile, match="no file of a model's replies"):
        ReplyCache(path)
    assert path.read_text() == '{"my": "own"}\n'
    with pytest.raises(InvalidFile, match="cannot hold"):
        ReplyCache(path.parent)


def test_lines_of_a_wrong_shape_are_counted(path):
    path.parent.mkdir()
    good = {"key": "k", "text": "x", "finish": "stop", "tokens_in": 1, "tokens_out": 1}
    lines = [good, good | {"finish": "error"}, good | {"tokens_in": "1"}, {"key": "a"}, 7]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with ReplyCache(path) as cache:
        assert (len(cache), cache.damaged) == (1, 4)


def test_threads_write_whole_lines(path):
    with ReplyCache(path) as cache, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: cache.keep(str(n % 20), "a:b", request(), Reply("x" * 999, "stop", n, 0)), range(60)))
    with ReplyCache(path) as cache:
        assert (len(cache), cache.damaged) == (20, 0)


def test_a_cached_reply_is_not_asked_for_again(path):
    model = ScriptedModel(["one", "two"])
    with ReplyCache(path) as cache:
        asking = CachedModel(model, cache, "answer")
        first, again = asking.ask(request()), asking.ask(request())
        assert CachedModel(model, cache, "answer", trial=2).ask(request()).reply.text == "two"
    assert first.reply == again.reply
    assert (first.call.cached, again.call.cached) == (False, True)
    assert (again.call.tokens_in, again.call.tokens_out) == (3, 1)
    assert len(model.requests) == 2


def test_a_failure_is_tried_again_after_twice_the_time(path):
    waited = []
    model = ScriptedModel([LATE, LATE, LATE, "at last"])
    with ReplyCache(path) as cache:
        asked = CachedModel(model, cache, "judge", wait=waited.append).ask(request())
    assert asked.reply.text == "at last"
    assert (asked.call.retries, asked.call.finish, asked.call.purpose) == (3, "stop", "judge")
    assert waited == [1, 2, 4]


def test_what_always_fails_is_failed_and_not_cached(path):
    waited = []
    model = ScriptedModel([LATE] * 9 + ["later"])
    with ReplyCache(path) as cache:
        asking = CachedModel(model, cache, "answer", tries=9, wait=waited.append)
        asked = asking.ask(request())
        assert (asked.reply, asked.error) == (None, "timed out")
        assert (asked.call.finish, asked.call.tokens_in, asked.call.retries) == ("failed", 0, 8)
        assert len(cache) == 0
        assert asking.ask(request()).reply.text == "later"
    assert waited == [1, 2, 4, 8, 16, 32, 60, 60]


@pytest.mark.parametrize("outcome", ["a reply", LATE, MissingExtra("it", "llm")], ids=["reply", "failure", "error"])
def test_one_request_at_a_time_is_made_for_one_prompt(path, outcome):
    looked, go_on = threading.Semaphore(0), threading.Event()

    class Watched(ReplyCache):
        def get(self, key):
            looked.release()
            return super().get(key)

    class Slow(ScriptedModel):
        def complete(self, request):
            assert go_on.wait(5)
            return super().complete(request)

    model = Slow([outcome])
    with Watched(path) as cache, ThreadPoolExecutor(2) as pool:
        asking = CachedModel(model, cache, "answer", tries=1)
        both = [pool.submit(asking.ask, request()) for _ in range(2)]
        assert all(looked.acquire(timeout=5) for _ in both)
        go_on.set()
        if isinstance(outcome, MissingExtra):
            assert [type(future.exception()) for future in both] == [MissingExtra, MissingExtra]
        else:
            assert both[0].result().reply == both[1].result().reply
            assert sum(future.result().call.cached for future in both) == (outcome == "a reply")
    assert len(model.requests) == 1


def test_nothing_is_tried_again_once_nobody_waits(path):
    model = ScriptedModel([LATE] * 5)
    with ReplyCache(path) as cache:
        asking = CachedModel(model, cache, "answer", wait=lambda _: asking.stop())
        assert asking.ask(request()).reply is None
    assert len(model.requests) == 1


def test_other_errors_are_not_hidden(path):
    with ReplyCache(path) as cache, pytest.raises(MissingExtra):
        CachedModel(ScriptedModel([MissingExtra("it", "llm")]), cache, "answer").ask(request())


def test_truncated_and_refused_replies_are_kept_as_they_came(path):
    model = ScriptedModel([Reply("half", "length", 5, 9), Reply("", "refusal", 5, 0)])
    with ReplyCache(path) as cache:
        asking = CachedModel(model, cache, "answer")
        for user in "ab" * 2:
            asking.ask(request(user))
        assert [asking.ask(request(user)).call.finish for user in "ab"] == ["length", "refusal"]
    assert len(model.requests) == 2


def test_a_price_is_of_a_million_tokens():
    assert Price.parse("0.15, 0.60") == Price(0.15, 0.6)
    assert Price.parse("2,8").of(500_000, 250_000) == pytest.approx(1 + 2)
    for text in ("", "1", "1,2,3", "a,b", "-1,2", "nan,1", "1,inf"):
        with pytest.raises(InvalidInput, match="no price"):
            Price.parse(text)
