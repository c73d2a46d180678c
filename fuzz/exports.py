"""A small, well-formed export of every program that an importer knows: what the fuzzer alters."""

from __future__ import annotations

import json
from typing import Any

from mnemic.importers import Format

_TIME = "2024-06-03T10:00:00Z"
_CHAT = [
    {"role": "user", "content": "Hi", "id": "m1", "timestamp": _TIME},
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "Yes"}, {"type": "image_url", "image_url": "https://e.org/a"}],
    },
    {"role": "tool", "content": "3", "tool_call_id": "c", "name": "sum", "metadata": {"a": 1}},
]


def _node(name: str, parent: str | None, role: str, parts: list[Any], kind: str = "text") -> dict[str, Any]:
    content = {"content_type": kind, "parts": parts, "text": "said"}
    message = {"id": name, "author": {"role": role, "name": None}, "content": content, "create_time": 1717434300.5}
    return {"id": name, "parent": parent, "children": [], "message": {**message, "metadata": {"is_hidden": False}}}


CHATGPT = [
    {
        "title": "t",
        "conversation_id": "c",
        "current_node": "d",
        "mapping": {
            "a": {"id": "a", "message": None, "parent": None, "children": ["b"]},
            "b": _node("b", "a", "user", ["Hi"]),
            "c": _node("c", "b", "assistant", ["Yes"]),
            "d": _node("d", "b", "assistant", ["No", {"content_type": "image_asset_pointer",
            "asset_pointer": "file-x"}],
                       "multimodal_text"),
            "e": _node("e", "d", "tool", [], "code"),
        },
    }
]  # fmt: skip
CLAUDE = [
    {
        "uuid": "c",
        "name": "n",
        "project": {"name": "p"},
        "chat_messages": [
            {"uuid": "m", "sender": "human", "text": "Hi", "created_at": _TIME, "content": [],
             "attachments": [{"file_name": "a.txt", "extracted_content": "words"}], "files": [{"file_name": "b.png"}]},
            {"uuid": "n", "sender": "assistant", "text": "", "created_at": _TIME, "parent_message_uuid": "m",
             "content": [{"type": "text", "text": "Yes"}, {"type": "tool_use", "name": "sum", "input": {"a": 1}},
                         {"type": "tool_result", "content": [{"type": "text", "text": "3"}]}]},
        ],
    }
]  # fmt: skip
SLACK_USERS = [{"id": "U1", "name": "ana", "real_name": "Ana", "profile": {"display_name": "Ana"}, "is_bot": False}]
SLACK_CHANNELS = [{"id": "C1", "name": "general"}]
SLACK_DAY = [
    {"type": "message", "user": "U1", "ts": "1717434300.000100", "text": "Hi <@U1> &amp; <https://e.org|there> *b*"},
    {"type": "message", "user": "U1", "ts": "1717434301.000100", "thread_ts": "1717434300.000100", "text": "",
     "blocks": [{"type": "rich_text", "elements": [{"type": "text", "text": "x"}, {"type": "user", "user_id": "U1"}]}],
     "files": [{"name": "a.png", "title": "A", "url_private": "https://e.org/a"}]},
    {"type": "message", "subtype": "bot_message", "ts": "1717434302.000100", "username": "bot", "text": "b",
     "attachments": [{"fallback": "f", "text": "t"}]},
]  # fmt: skip
MESSAGES = [{"messages": _CHAT, "session_id": "s", "metadata": {"a": 1}}]
MEM0 = {"results": [{"id": "1", "memory": "likes tea", "user_id": "u", "agent_id": "a", "created_at": _TIME,
                     "metadata": {"x": 1}, "hash": "h"}], "relations": []}  # fmt: skip
LANGGRAPH = {"items": [{"namespace": ["a", "b"], "key": "k", "value": {"content": "likes tea"}, "created_at": _TIME}]}
_SESSION = "1:56 pm on 8 May, 2023"
LOCOMO = [
    {
        "sample_id": "c",
        "conversation": {
            "speaker_a": "A",
            "speaker_b": "B",
            "session_1_date_time": _SESSION,
            "session_1": [{"speaker": "A", "dia_id": "D1:1", "text": "Hi", "blip_caption": "a cat", "img_url": ["u"]},
                          {"speaker": "B", "dia_id": "D1:2", "text": "Yes"}],
            "session_2_date_time": _SESSION,
            "session_2": [{"speaker": "B", "dia_id": "D2:1", "text": "Bye"}],
        },
        "qa": [{"question": "?", "answer": "a", "evidence": ["D1:1"], "category": 1}],
    }
]  # fmt: skip
LONGMEMEVAL = [
    {
        "question_id": "q",
        "question": "?",
        "answer": "a",
        "question_type": "single-session-user",
        "question_date": "2023/05/20 (Sat) 02:21",
        "haystack_sessions": [[{"role": "user", "content": "Hi", "has_answer": True}], []],
        "haystack_session_ids": ["s", "t"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 02:21"],
        "answer_session_ids": ["s"],
    }
]
PERSONAMEM = [{"0" * 64: [{"role": "system", "content": "x"}, {"role": "user", "content": "User: Hi"}]}]
MNEMIC = [
    {"mnemic": {"version": 1, "export": "e", "next": {"trace": 2, "note": 2, "operation": 2}}},
    {"recorded_at": _TIME},
    *_CHAT,
    {"trace": {"id": "T1", "ordinal": 0, "session_id": "s", "spans": [["m1", 0, 2]], "tokens": 1}},
    {"note": {"id": "N1", "version": 1, "kind": "preference", "about": "user", "text": "Hi", "status": "current",
              "valid": [_TIME, None], "sources": [["m1", 0, 2]], "recorded_at": _TIME}},
    {"operation": {"id": "O1", "at": _TIME, "action": "ADD", "target": "N1", "version": 1, "trigger": "add",
                   "before": None, "after": "Hi", "detail": {"status": [None, "current"]}}},
]  # fmt: skip
WHOLE: dict[Format, Any] = {
    "chatgpt": CHATGPT, "claude": CLAUDE, "messages": MESSAGES, "mem0": MEM0, "langgraph": LANGGRAPH, "locomo": LOCOMO,
    "longmemeval": LONGMEMEVAL,
}  # fmt: skip
LINES: dict[Format, list[Any]] = {
    "jsonl": _CHAT,
    "mnemic": MNEMIC,
    "personamem": PERSONAMEM,
    "langgraph": LANGGRAPH["items"],
}
CHATS = (
    "[03.06.24, 10:15:00] Ana: Hi\nthere\n[03.06.24, 10:16:01] Bo Li: \u200e<attached: a.jpg>\n",
    "6/3/24, 10:15\u202fAM - Ana: Hi\n6/13/24, 9:00\u202fPM - Bo: This message was deleted\n",
    "03/06/2024, 10:15 - Ana changed the subject\n03/06/2024, 10:16 - Ana: <Media omitted>\n",
)
TEXTS = (
    *CHATS,
    "Ana: Hi\nBo: Hello\n\nAna: Bye\n",
    "[2024-06-03 10:15] User: Hi\n[2024-06-03 10:16] Assistant: Yes\n",
    'role,content,timestamp\nuser,"Hi, there",2024-06-03\nassistant,Yes,\n',
    "role;content\nuser;a\n",
    *(json.dumps(value) for value in WHOLE.values()),
    *("\n".join(map(json.dumps, values)) for values in LINES.values()),
)
