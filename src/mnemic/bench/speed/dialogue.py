"""Made-up dialogues of any length, for measuring speed: no data set's text, equal for equal seeds.

Made like the dialogues that people have with each other: sessions of 20 turns of two speakers about a few topics that
come again, 2.9 sentences and some 30 words a turn, and topics, persons and places by Zipf's law, so that words and
cues have the frequencies, few and very many, on which the cost of BM25 and of the graph depends.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from mnemic.bench.speed import words
from mnemic.types import Turn

SESSION: Final = 20
"""Turns of a session."""
_BEGINNING: Final = datetime(2012, 3, 5, 18, 30, tzinfo=UTC)
_GAP: Final = timedelta(hours=23)
_TOPICS, _PERSONS, _PLACES = 60_000, 4_000, 4_000
_FRIENDS: Final = 9
_AWAY: Final = 0.4
"""Share of the mentions that are of nothing the session is about: most words of real text come only once or twice."""

_REACTIONS: Final = (
    "Oh, that is great to hear!", "Wow, I did not expect that.", "Thanks, that means a lot to me.",
    "I know exactly what you mean.", "Haha, that sounds just like you!", "That must have been hard.",
    "Yes, I think so too.", "Really? Tell me more about it.", "Congratulations, you worked so long for this!",
    "I am sorry to hear that.", "Good to see you again!", "No way, when did that happen?", "That is so cool.",
    "You are right, as always.", "Hmm, let me think about it.", "I had no idea, honestly.",
)  # fmt: skip
_STATEMENTS: Final = (
    "I finally finished the {topic} yesterday, and it turned out better than I had hoped.",
    "{person} and I are planning a trip to {place} in {month} because of the {topic}.",
    "Last week I bought a {topic} from {person}, who moved to {place} {number} years ago.",
    "My {topic} broke again, so now I have to find somebody in {place} who can repair it.",
    "I have been working on the {topic} for {number} weeks, and {other} still worries me.",
    "Did I tell you that {person} started with {topic} after the summer in {place}?",
    "We spent the whole weekend in {place}, mostly for the {topic} and a bit for the {other}.",
    "{person} gave me a {topic} for my birthday, which I keep beside the {other}.",
    "The {topic} costs {number} hundred euros, much more than the {other} did last year.",
    "I was so nervous about the {topic} that I forgot everything about the {other}.",
    "On {day} I will meet {person} at the station in {place} to talk about the {topic}.",
    "I used to love the {other}, but these days the {topic} makes me much happier.",
    "They cancelled the {topic} in {place}, and {person} is really disappointed.",
    "My sister wants to learn about the {topic} before she goes back to {place} in {month}.",
    "It took {number} attempts until the {topic} worked, and {person} helped me every time.",
    "The {topic} reminds me of that evening in {place} when we lost the {other}.",
)
_CLOSINGS: Final = (
    "What do you think about it?", "How is your {other} going?", "Have you ever been to {place}?",
    "Do you still see {person} sometimes?", "I will send you a picture later.", "Let us talk about it on {day}.",
    "It was worth it in the end.", "I could not have done it without {person}.", "Maybe you can join us next time.",
    "Anyway, how was your week?", "I hope it stays that way.", "That is all for now.",
)  # fmt: skip
_QUESTIONS: Final = (
    "When did {speaker} finish the {topic}?", "What did {speaker} say about the {topic} in {month} {year}?",
    "Who went to {place} because of the {topic}?", "Where did {speaker} buy the {topic}?",
    "How many weeks did {speaker} work on the {topic}?", "Which things did {speaker} do with {person}?",
    "Why was {speaker} nervous about the {topic}?", "What happened with the {topic} last week?",
    "What did {person} give {speaker} for the birthday?", "Does {speaker} prefer the {topic} or the {other}?",
)  # fmt: skip
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_SENTENCES: Final = ((2, 0.3), (3, 0.8), (4, 1.0))
"""Sentences of a turn, and the share of turns with so many or fewer: 2.9 on average."""


@dataclass(frozen=True, slots=True)
class _Session:
    """What one session is about, and who speaks; the same for whoever asks."""

    number: int
    speakers: tuple[str, str]
    topics: tuple[str, ...]
    persons: tuple[str, ...]
    places: tuple[str, ...]

    @property
    def begins(self) -> datetime:
        return _BEGINNING + self.number * _GAP


def turns(user: str, start: int, stop: int, *, seed: int = 0) -> Iterator[Turn]:
    """Turns of one user's dialogue, from number ``start`` to before ``stop``; any part of it alone is the same.

    Args:
        user: Equal names have equal dialogues.
        start: From 0.
        stop: At least ``start``.
        seed: Another one for other dialogues.
    """
    session = _session(user, start // SESSION, seed)
    for number in range(start, stop):
        if number // SESSION != session.number:
            session = _session(user, number // SESSION, seed)
        rng = random.Random(f"{seed}/{user}/turn/{number}")
        yield Turn(
            turn_id=f"t{number}",
            session_id=f"s{session.number}",
            role="user",
            speaker=session.speakers[number % 2],
            text=" ".join(_said(rng, session)),
            timestamp=session.begins + timedelta(minutes=2 * (number % SESSION)),
        )


def questions(user: str, number: int, *, held: int, seed: int = 0) -> list[str]:
    """Questions about sessions that a user's dialogue has had, distinct sessions as far as there are enough.

    Args:
        user: Whose dialogue.
        number: How many.
        held: Turns of it, at least 1.
        seed: The dialogue's.
    """
    rng = random.Random(f"{seed}/{user}/questions/{held}")
    sessions = -(-held // SESSION)
    about = rng.sample(range(sessions), min(number, sessions)) + [
        rng.randrange(sessions) for _ in range(number - sessions)
    ]
    return [_question(rng, _session(user, which, seed)) for which in about]


def _session(user: str, number: int, seed: int) -> _Session:
    own = random.Random(f"{seed}/{user}")
    names = [words.person(rank) for rank in own.sample(range(60), _FRIENDS + 1)]
    rng = random.Random(f"{seed}/{user}/session/{number}")
    return _Session(
        number=number,
        speakers=(names[0], names[1 + _zipf(rng, _FRIENDS)]),
        topics=tuple(words.topic(_zipf(rng, _TOPICS)) for _ in range(12)),
        persons=tuple(words.person(_zipf(rng, _PERSONS)) for _ in range(4)),
        places=tuple(words.place(_zipf(rng, _PLACES)) for _ in range(3)),
    )


def _zipf(rng: random.Random, ranks: int) -> int:
    """A rank from 0 to ``ranks`` - 1, with a chance of about 1 / (rank + 1): the inverse of that law's distribution."""
    return int((ranks + 1) ** rng.random()) - 1


def _said(rng: random.Random, session: _Session) -> list[str]:
    drawn = rng.random()
    length = next(length for length, share in _SENTENCES if drawn < share)
    begins = rng.random() < 0.5
    ends = rng.random() < 0.6
    middle = [_STATEMENTS] * (length - begins - ends)
    kinds = [*([_REACTIONS] if begins else []), *middle, *([_CLOSINGS] if ends else [])]
    return [_filled(rng, _any(rng, kind), session) for kind in kinds]


def _question(rng: random.Random, session: _Session) -> str:
    return _filled(rng, _any(rng, _QUESTIONS), session)


def _any(rng: random.Random, choices: Sequence[str]) -> str:
    return choices[rng.randrange(len(choices))]


def _filled(rng: random.Random, template: str, session: _Session) -> str:
    return template.format(
        topic=_any(rng, session.topics),
        other=words.topic(_zipf(rng, _TOPICS)) if rng.random() < _AWAY else _any(rng, session.topics),
        person=words.person(_zipf(rng, _PERSONS)) if rng.random() < _AWAY else _any(rng, session.persons),
        place=words.place(_zipf(rng, _PLACES)) if rng.random() < _AWAY else _any(rng, session.places),
        speaker=_any(rng, session.speakers),
        month=_MONTHS[session.begins.month - 1],
        year=session.begins.year,
        day=_any(rng, _DAYS),
        number=rng.randrange(2, 30),
    )
