"""Messages in every shape that a caller may give, and the turns that they become."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from mnemic.algo.messages import normalise
from mnemic.algo.moments import parse_time, zone
from mnemic.algo.scope import check_id, check_scope, check_user
from mnemic.errors import InvalidInput, InvalidMessage, InvalidScope
from mnemic.types import Part, Scope, Turn

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
DATA_URL = "data:image/png;base64," + "A" * 2_000_000


def turns(messages: Any, **given: Any) -> list[Turn]:
    ids = itertools.count()
    call: dict[str, Any] = {
        "session_id": "s1", "agent_id": None, "timestamp": None, "timezone": "UTC", "metadata": None, "now": NOW,
        "make_id": lambda: f"made-{next(ids)}",
    }  # fmt: skip
    return normalise(messages, **{**call, **given})


def only(messages: Any, **given: Any) -> Turn:
    (turn,) = turns(messages, **given)
    return turn


def refused(messages: Any, **given: Any) -> str:
    with pytest.raises(InvalidMessage) as caught:
        turns(messages, **given)
    return str(caught.value)


def user(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **more}


# shapes ------------------------------------------------------------------------------------------------


def test_a_string_is_the_users_message() -> None:
    assert only("hello") == Turn("made-0", "s1", "user", "user", "hello", recorded_at=NOW)


def test_a_mapping_is_one_message() -> None:
    assert only(MappingProxyType(user("hello"))).text == "hello"


def test_a_list_keeps_its_order() -> None:
    given = ["first", user("second"), {"role": "assistant", "content": "third"}]
    assert [(t.role, t.text) for t in turns(given)] == [("user", "first"), ("user", "second"), ("assistant", "third")]
    assert [t.text for t in turns(iter(given))] == ["first", "second", "third"]


def test_an_empty_list_is_no_turns() -> None:
    assert turns([]) == []


@pytest.mark.fault("B057")
def test_any_pattern_of_roles_is_kept_in_order() -> None:
    roles = ["user", "user", "assistant", "user", "system", "assistant", "assistant", "tool", "user", "user"]
    given = [{"role": role, "content": f"number {n}"} for n, role in enumerate(roles)]
    assert [(t.role, t.text) for t in turns(given)] == [(r, f"number {n}") for n, r in enumerate(roles)]


@dataclass
class Model:
    """What a pydantic model looks like from outside."""

    fields: dict[str, Any]

    def model_dump(self) -> dict[str, Any]:
        return self.fields


def test_objects_that_dump_themselves() -> None:
    message = Model({"role": "assistant", "content": "Noon", "tool_calls": None, "refusal": None, "audio": None})
    assert only(message) == only([message])
    assert only(message).text == "Noon"
    assert only(message).given is None


@pytest.mark.parametrize("given", [None, 5, 1.5, b"hello", object(), [5], [None], [b"x"], [["hello"]]])
def test_other_things_are_no_messages(given: Any) -> None:
    assert "messages" in refused(given)


def test_the_input_is_not_changed_nor_shared() -> None:
    given = [user([{"type": "text", "text": "hi"}], metadata={"a": [1]}, extra={"b": []}), user("x", id=7)]
    before = copy.deepcopy(given)
    made = turns(given, metadata={"c": {"d": 1}})
    assert given == before
    given[0]["metadata"]["a"].append(2)
    given[0]["extra"]["b"].append(2)
    assert made[0].metadata == {"a": [1], "c": {"d": 1}}
    assert made[0].given is not None
    assert made[0].given["extra"] == {"b": []}


# roles and speakers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "normal"),
    [
        ("user", "user"), ("human", "user"), ("assistant", "assistant"), ("model", "assistant"), ("ai", "assistant"),
        ("bot", "assistant"), ("system", "system"), ("developer", "system"), ("tool", "tool"), ("function", "tool"),
        ("User", "user"), ("AI ", "assistant"),
    ],
)  # fmt: skip
def test_roles(role: str, normal: str) -> None:
    turn = only({"role": role, "content": "hello"})
    assert (turn.role, turn.speaker) == (normal, normal)
    assert (turn.given is None) == (role == normal)


@pytest.mark.parametrize("role", ["owner", "", 5, ["user"], {"a": 1}])
def test_unknown_roles(role: Any) -> None:
    message = refused([user("fine"), {"role": role, "content": "hello"}])
    assert "messages[1]" in message
    assert all(name in message for name in ("user", "assistant", "system", "tool"))


def test_an_unknown_role_is_named() -> None:
    assert "'owner'" in refused({"role": "owner", "content": "hello"})


def test_a_missing_role() -> None:
    assert only({"speaker": "Ana", "content": "hello"}).role == "user"
    assert "no role" in refused({"content": "hello"})


@pytest.mark.fault("B036")
def test_speakers() -> None:
    given = [
        user("teal", name="Ana"),
        user("red", speaker="Ben"),
        {"speaker": "Cem", "content": "blue"},
        user("none", name=""),
    ]
    assert [t.speaker for t in turns(given)] == ["Ana", "Ben", "Cem", "user"]
    assert "name" in refused(user("x", name=5))


@pytest.mark.fault("B034")
def test_turns_do_not_melt_together() -> None:
    made = turns([user("Lena is the best "), {"role": "assistant", "content": "assistant"}])
    assert [(t.role, t.text) for t in made] == [("user", "Lena is the best "), ("assistant", "assistant")]


# content -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["  padded \n", "nul \x00", "surrogate \ud800 end", "🏴‍☠️ e\u0301", "שלום עולם", "x" * 1_000_000]
)
def test_a_string_is_kept_byte_for_byte(text: str) -> None:
    turn = only(user(text))
    assert turn.text == text
    assert turn.parts == ()
    assert turn.given is None


@pytest.mark.fault("B055")
def test_lone_surrogates_anywhere() -> None:
    made = turns(
        [user(f"message {n}") for n in range(99)]
        + [user("ok \ud800 end", name="A\ud800", metadata={"\ud800": "\ud801"})],
        session_id="s\ud800",
    )
    assert len(made) == 100
    assert (made[-1].text, made[-1].speaker, made[-1].session_id) == ("ok \ud800 end", "A\ud800", "s\ud800")


def test_parts() -> None:
    content = [
        {"type": "text", "text": "Look:"},
        "a bare string",
        {"type": "image_url", "image_url": {"url": "https://x.org/cat.png", "detail": "low"}, "caption": "a cat"},
        {"type": "image_url", "image_url": "https://x.org/dog.png"},
        {"type": "input_image", "image_url": "https://x.org/cow.png", "alt": "a cow"},
        {"type": "image", "image": "https://x.org/hen.png", "alt_text": "a hen"},
        {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "wav"}, "transcript": "hello there"},
        {"type": "file", "file": {"filename": "plan.pdf", "file_id": "file-1"}},
        {"type": "input_text", "text": "Bye."},
    ]
    turn = only(user(content))
    assert turn.text == "Look:\na bare string\na cat\na cow\na hen\nhello there\nplan.pdf\nBye."
    assert [(p.kind, turn.text[p.start : p.end], p.ref) for p in turn.parts] == [
        ("text", "Look:", None),
        ("text", "a bare string", None),
        ("image", "a cat", "https://x.org/cat.png"),
        ("image", "", "https://x.org/dog.png"),
        ("image", "a cow", "https://x.org/cow.png"),
        ("image", "a hen", "https://x.org/hen.png"),
        ("audio", "hello there", "data:audio/wav;base64,QUJD"),
        ("file", "plan.pdf", "file-1"),
        ("text", "Bye.", None),
    ]
    assert turn.given == user(content)


@pytest.mark.parametrize("kind", ["video_url", "input_video", "video"])
def test_a_video_is_kept_as_a_reference(kind: str) -> None:
    turn = only(user([{"type": kind, kind: {"url": "https://x.org/walk.mp4"}, "caption": "a walk"}]))
    assert [(p.kind, turn.text[p.start : p.end], p.ref) for p in turn.parts] == [
        ("file", "a walk", "https://x.org/walk.mp4")
    ]
    assert only(user([{"type": kind, kind: "https://x.org/walk.mp4"}])).text == ""


def test_anthropic_shapes() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    turn = only(
        user([
            {"type": "image", "source": source},
            {"type": "tool_use", "id": "t1", "name": "clock", "input": {"zone": "UTC"}},
            {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "12:00"}]},
        ])
    )  # fmt: skip
    assert turn.text == 'clock({"zone": "UTC"})\n12:00'
    assert [(p.kind, p.ref) for p in turn.parts] == [
        ("image", "data:image/png;base64,AAAA"), ("tool_call", "clock"), ("tool_result", None),
    ]  # fmt: skip


def test_an_unknown_part_is_kept_and_its_obvious_words_are_indexed() -> None:
    content = [{"type": "hologram", "shape": [1, 2]}, {"type": "poem", "text": "Roses"}, {"type": "text", "text": "hi"}]
    turn = only(user(content))
    assert turn.text == "Roses\nhi"
    assert turn.given is not None
    assert turn.given["content"] == content


@pytest.mark.fault("B050")
def test_image_data_stays_out_of_the_text() -> None:
    turn = only(user([{"type": "text", "text": "my cat"}, {"type": "image_url", "image_url": {"url": DATA_URL}}]))
    assert turn.text == "my cat"
    assert turn.parts[1] == Part("image", 6, 6, DATA_URL)


def test_a_picture_alone_is_a_message() -> None:
    turn = only(user([{"type": "image_url", "image_url": {"url": "https://x.org/cat.png"}}]))
    assert (turn.text, turn.parts) == ("", (Part("image", 0, 0, "https://x.org/cat.png"),))


@pytest.mark.fault("B048")
def test_tool_calls() -> None:
    made = turns([
        {"role": "assistant", "content": None, "tool_calls": [{"name": "clock"}]},
        {"role": "tool", "content": "12:00"},
        {"role": "assistant", "content": "Noon", "tool_calls": None},
    ])  # fmt: skip
    assert [(t.role, t.text) for t in made] == [("assistant", "clock()"), ("tool", "12:00"), ("assistant", "Noon")]
    assert made[0].parts == (Part("tool_call", 0, 7, "clock"),)
    assert made[1].parts == (Part("tool_result", 0, 5, None),)
    assert (made[1].given, made[2].given, made[2].parts) == (None, None, ())


def test_tool_calls_beside_words() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Ürün"}'}}
    turn = only({"role": "assistant", "content": "One moment.", "tool_calls": [call]})
    assert turn.text == 'One moment.\nweather({"city": "Ürün"})'
    assert [p.kind for p in turn.parts] == ["text", "tool_call"]
    assert turn.given == {"role": "assistant", "content": "One moment.", "tool_calls": [call]}
    legacy = only({"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": {"a": 1}}})
    assert legacy.text == 'f({"a": 1})'


@pytest.mark.parametrize("content", ["", None, []])
def test_a_tool_may_return_nothing(content: Any) -> None:
    turn = only({"role": "tool", "tool_call_id": "c1", "content": content})
    assert turn.text == ""
    assert turn.given is not None
    assert turn.given["tool_call_id"] == "c1"


def test_a_refusal_and_speech_beside_the_content() -> None:
    assert only({"role": "assistant", "content": None, "refusal": "I can't."}).text == "I can't."
    spoken = only({"role": "assistant", "content": None, "audio": {"id": "a1", "transcript": "Hello."}})
    assert (spoken.text, spoken.parts) == ("Hello.", (Part("audio", 0, 6, "a1"),))


@pytest.mark.parametrize(
    "content", ["", "   ", "\n\t", "\u3000", None, [], [{"type": "text", "text": " "}], [{"type": "thinking"}]]
)
def test_blank_messages(content: Any) -> None:
    message = refused([user("fine"), user(content)])
    assert "messages[1]" in message
    assert "empty" in message


@pytest.mark.parametrize(
    "content",
    [5, 1.5, True, b"bytes", object(), [5], [b"x"], [["x"]], [{"type": "text", "text": 5}], [{"type": "text"}]],
)
def test_content_of_other_types(content: Any) -> None:
    assert "messages[0]" in refused(user(content))


@pytest.mark.parametrize(
    "calls", ["clock", {"name": "clock"}, [5], [{}], [{"function": {}}], [{"name": ""}], [{"name": 5}]]
)
def test_malformed_tool_calls(calls: Any) -> None:
    assert "messages[0]" in refused({"role": "assistant", "content": "x", "tool_calls": calls})


# ids, scope, metadata ----------------------------------------------------------------------------------


def test_ids() -> None:
    assert [t.turn_id for t in turns([user("a", id="D1:1"), user("b", id=7), user("c"), user("d", id=None)])] == [
        "D1:1", "7", "made-0", "made-1",
    ]  # fmt: skip


@pytest.mark.parametrize("value", ["", "  ", 1.5, True, [], {}, "x" * 513])
def test_bad_ids(value: Any) -> None:
    assert "id" in refused(user("hello", id=value))


def test_the_same_id_twice() -> None:
    message = refused([user("a", id=1), user("b"), user("c", id="1")])
    assert "messages[2]" in message
    assert "messages[0]" in message


def test_session_and_agent() -> None:
    made = turns([user("a"), user("b", session_id="s2", agent_id="helper")], agent_id="cook")
    assert [(t.session_id, t.agent_id) for t in made] == [("s1", "cook"), ("s2", "helper")]
    assert "session_id" in refused(user("a", session_id=" "))
    assert "agent_id" in refused(user("a", agent_id=5))
    for bad in ("", " ", None, 5, "x" * 513):
        with pytest.raises(InvalidScope, match="session_id"):
            turns(["a"], session_id=bad)


def test_metadata_is_merged() -> None:
    assert only(user("a", metadata={"x": 1, "y": {"z": [True, None]}}), metadata={"x": 0, "w": "w"}).metadata == {
        "w": "w", "x": 1, "y": {"z": [True, None]},
    }  # fmt: skip


CIRCLE: dict[str, Any] = {}
CIRCLE["self"] = CIRCLE
DEEP: list[Any] = []
for _ in range(100_000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    "metadata",
    [
        {"a": math.nan}, {"a": [math.inf]}, {"a": {1: 2}}, {"a": object()}, {"a": b"x"}, {"a": {1, 2}}, CIRCLE,
        {"a": DEEP}, {"a": 10**5000}, {"a": 1j},
    ],
    ids=["nan", "inf", "key", "object", "bytes", "set", "circle", "deep", "big", "complex"],
)  # fmt: skip
def test_metadata_that_is_no_json(metadata: Any) -> None:
    assert "messages[0]" in refused(user("a", metadata=metadata))
    with pytest.raises(InvalidInput, match="metadata"):
        turns(["a"], metadata=metadata)


@pytest.mark.parametrize("metadata", ["x", 5, [1]])
def test_metadata_must_be_a_mapping(metadata: Any) -> None:
    assert "metadata" in refused(user("a", metadata=metadata))


def test_checks_of_a_scope() -> None:
    assert check_user(" ana ") == " ana "
    assert check_id("x" * 512, "agent_id") == "x" * 512
    assert check_scope("ana", session_id="s") == Scope("ana", None, "s")
    for bad in ("", " \n", None, 5, b"ana", "x" * 513):
        with pytest.raises(InvalidScope, match="user_id"):
            check_user(bad)
        with pytest.raises(InvalidScope, match="user_id"):
            check_scope(bad)


# times -------------------------------------------------------------------------------------------------

BERLIN = ZoneInfo("Europe/Berlin")
INSTANT = datetime(2024, 1, 2, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        INSTANT, INSTANT.astimezone(ZoneInfo("Asia/Tokyo")), 1704159000, 1704159000.0, 1704159000000, "1704159000",
        "1704159000000", "2024-01-02T01:30:00Z", "2024-01-02 03:30:00+02:00", "20240102T013000Z", " 2024-01-02T01:30Z ",
        datetime(2024, 1, 2, 2, 30), "2024-01-02T02:30", "2024-01-02 02:30:00",
    ],
    ids=str,
)  # fmt: skip
def test_one_instant_written_in_many_ways(value: Any) -> None:
    read = parse_time(value, "Europe/Berlin")
    assert read == INSTANT
    assert read is not None
    assert read.utcoffset() is not None


def test_an_aware_time_keeps_its_zone_and_a_naive_one_takes_the_stated() -> None:
    tokyo = INSTANT.astimezone(ZoneInfo("Asia/Tokyo"))
    assert parse_time(tokyo, "UTC") is tokyo
    naive = parse_time(datetime(2024, 7, 1, 12), "Europe/Berlin")
    assert naive is not None
    assert naive.utcoffset() == timedelta(hours=2)
    epoch = parse_time(1704159000, "+05:30")
    assert epoch is not None
    assert epoch.utcoffset() == timedelta(hours=5, minutes=30)


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("2024-01-02", datetime(2024, 1, 2, tzinfo=BERLIN)),
        ("20240102", datetime(2024, 1, 2, tzinfo=BERLIN)),
        (date(2024, 1, 2), datetime(2024, 1, 2, tzinfo=BERLIN)),
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (-86400, datetime(1969, 12, 31, tzinfo=UTC)),
        (-1.5, datetime(1969, 12, 31, 23, 59, 58, 500000, tzinfo=UTC)),
        (99_999_999_999, datetime(5138, 11, 16, 9, 46, 39, tzinfo=UTC)),
        (100_000_000_000, datetime(1973, 3, 3, 9, 46, 40, tzinfo=UTC)),
        ("9999-12-31T23:59:59Z", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
        (None, None),
    ],
)
def test_other_times(value: Any, read: datetime | None) -> None:
    home = "UTC" if isinstance(value, str) and value.startswith("9999") else "Europe/Berlin"
    assert parse_time(value, home) == read


@pytest.mark.parametrize(
    "value",
    [
        math.nan, math.inf, -math.inf, True, False, 10**400, 1e300, "", "soon", "2024", "12345", "2024-13-01",
        "9999-12-31T23:59:59-10:00", "0001-01-01T00:00:00+10:00",
        datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-5))),
        b"2024-01-02", [], {}, object(), "\ud800", "2024-01-02\x00", "9" * 10_000, 10**5000, DEEP,
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_is_no_time(value: Any) -> None:
    with pytest.raises(InvalidInput, match="time"):
        parse_time(value, "UTC")
    message = refused([user("fine"), user("hello", timestamp=value)])
    assert "messages[1]" in message
    with pytest.raises(InvalidInput):
        turns(["hello"], timestamp=value)


def test_the_message_names_the_value() -> None:
    assert "'soon'" in refused(user("hello", timestamp="soon"))


def test_a_messages_own_time_is_stronger() -> None:
    made = turns([user("a"), user("b", timestamp="2024-01-02T01:30:00Z")], timestamp=date(2023, 5, 1))
    assert [t.timestamp for t in made] == [datetime(2023, 5, 1, tzinfo=UTC), INSTANT]
    assert made[1].given is None


def test_an_unknown_time_stays_unknown() -> None:
    assert only("hello").timestamp is None


@pytest.mark.fault("B060")
@pytest.mark.parametrize("name", ["Asia/Tokyo", "Pacific/Honolulu", "UTC"])
def test_the_environment_does_not_matter(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", name)
    assert only(user("x", timestamp="2024-01-02T01:30Z")).timestamp == INSTANT
    assert only(user("x", timestamp=1704159000)).timestamp == INSTANT
    assert only(user("x", timestamp=datetime(2024, 1, 2, 1, 30))).timestamp == INSTANT


@pytest.mark.parametrize(
    ("name", "hours"),
    [("UTC", 0), ("Z", 0), ("+02:00", 2), ("-0530", -5.5), ("UTC+2", 2), ("+3", 3), ("Asia/Tokyo", 9)],
)
def test_zones(name: str, hours: float) -> None:
    assert datetime(2024, 1, 1, tzinfo=zone(name)).utcoffset() == timedelta(hours=hours)


@pytest.mark.parametrize(
    "name",
    ["", "Mars/Olympus", "../etc/passwd", "/etc/passwd", "America", "\x00", "\ud800", "+25:00", "+99", "x" * 5000],
)
def test_unknown_zones(name: str) -> None:
    with pytest.raises(InvalidInput, match="timezone"):
        zone(name)
    with pytest.raises(InvalidInput, match="timezone"):
        turns(["x"], timezone=name)


def test_many_messages() -> None:
    made: Callable[[], str] = iter(map(str, range(100_000))).__next__
    assert len(turns([user("hello")] * 100_000, make_id=made)) == 100_000
