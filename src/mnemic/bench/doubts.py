"""What makes results on a data set doubtful, told before anything runs: depths that find everything, and wrong gold.

Both happened in published numbers: a recall of 100 % where as many hits were asked for as there were sessions, and gold
annotations that point to a session in which the answer does not stand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mnemic.algo.lexical import content_terms
from mnemic.bench.metrics import LONGMEMEVAL_DEPTHS
from mnemic.bench.records import DEPTHS, Dataset, Question
from mnemic.importers import Conversation
from mnemic.types import Json


@dataclass(frozen=True, slots=True)
class Shallow:
    """A depth that half of the candidates, or more, fit into: a score at it says little.

    Attributes:
        what: The candidates: ``turns``, or ``sessions`` (LongMemEval's metrics).
        k: The depth.
        users: How many users have fewer than 2 k of them.
        of: How many users there are.
    """

    what: str
    k: int
    users: int
    of: int


def shallow(dataset: Dataset) -> tuple[Shallow, ...]:
    """The depths of a data set's metrics that are no small part of the candidates, for some user at least."""
    depths: dict[str, Sequence[int]] = {"turns": DEPTHS}
    if dataset.name == "longmemeval":
        depths["sessions"] = LONGMEMEVAL_DEPTHS
    found: list[Shallow] = []
    for what, ks in depths.items():
        sizes = [_size(what, conversations) for conversations in dataset.conversations.values()]
        few = ((k, sum(size < 2 * k for size in sizes)) for k in ks)
        found += [Shallow(what, k, users, len(sizes)) for k, users in few if users]
    return tuple(found)


def suspects(dataset: Dataset) -> tuple[str, ...]:
    """Ids of the questions whose gold sessions hold no word of the answer, where another session holds all of them.

    Words are compared as the lexical index compares them, without function words; an answer that has none (yes, no)
    is no reason for suspicion, nor is one that stands nowhere, as what has to be concluded does not.
    """
    texts = {user: _terms(conversations) for user, conversations in dataset.conversations.items()}
    return tuple(
        question.question_id
        for question in dataset.questions
        if question.answerable and _is_suspect(question, texts.get(question.user_id, {}))
    )


def _is_suspect(question: Question, sessions: Mapping[str, frozenset[str]]) -> bool:
    wanted = frozenset(content_terms(question.answer or ""))
    gold = [sessions[one] for one in question.gold_sessions if one in sessions]
    if not wanted or not gold or any(wanted & terms for terms in gold):
        return False
    return any(wanted <= terms for name, terms in sessions.items() if name not in question.gold_sessions)


def _terms(conversations: Sequence[Conversation]) -> dict[str, frozenset[str]]:
    """Session -> the terms of its words."""
    found: dict[str, set[str]] = {}
    for conversation in conversations:
        for message in conversation.messages:
            session = str(message.get("session_id") or conversation.session_id)
            found.setdefault(session, set()).update(*map(content_terms, _words(message.get("content"))))
    return {session: frozenset(terms) for session, terms in found.items()}


def _words(content: Json) -> Iterator[str]:
    """The texts in a content, whatever it is built of."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict | list):
        for value in content.values() if isinstance(content, dict) else content:
            yield from _words(value)


def _size(what: str, conversations: Sequence[Conversation]) -> int:
    if what == "turns":
        return sum(len(one.messages) for one in conversations)
    return len({str(message.get("session_id") or one.session_id) for one in conversations for message in one.messages})
