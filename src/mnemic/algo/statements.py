"""Local notes: sentences in which a speaker states something about themselves, kept as verbatim quotations.

By rules and without a model, so precision comes before coverage (the second stage of HiMem's note extraction asks for
the same): a sentence that a rule does not understand is no note. Nothing is rewritten; polarity, doubt and wording
are those of the quotation.
"""

from __future__ import annotations

import re
from bisect import bisect, bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.algo import slots
from mnemic.algo.asserted import jests, takes_back
from mnemic.algo.statement_rules import PATTERNS
from mnemic.algo.temporal import TimeMention
from mnemic.algo.wordlists import DETERMINERS, FUNCTION_WORDS, PRONOUNS
from mnemic.types import Interval, NoteKind

_LONGEST: Final = 500
_QUOTED: Final = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»|„[^“”]*[“”]|(?<!\w)'[^']*'(?!\w)")
_FENCE: Final = re.compile("```")
_CODE: Final = re.compile(r"[`{}<>\\|=]|\w\(|https?://|^\s*(?:#|//|>|\$)")
# Words that say little about anybody: a note of nothing else would be no use.
_SAY_LITTLE: Final = """
im ive am been being get got getting make made making go went gone going come came take took give gave put let do did
done have had thing things stuff way lot lots bit one ones ton bunch kind sort feel feeling felt really still just
great good nice cool awesome amazing super so like love hate enjoy liked loved favorite favorites favourite favourites
thanks thank hey yeah yes yep yup wow hi oh ok okay well
"""
_FORWARDED: Final = re.compile(
    r"^\W*(?:begin |start of )?(?:forwarded|original) message\b|^\W*(?:fwd?|forwarded from)\b.*:"
    r"|^on .{4,80} wrote:\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_LIGHT: Final = FUNCTION_WORDS | PRONOUNS | DETERMINERS | frozenset(_SAY_LITTLE.split())
_WORD: Final = re.compile(r"[^\W\d_]+|\d+")
_PIECE: Final = re.compile(r"[^.!?…\n]+[.!?…\n]*")
_QUESTION: Final = re.compile(r"[?？]")
_CLAUSE_END: Final = re.compile(
    r"\s*[,;:()—–]\s*|\s+-+\s+|\s+(?=(?:and|but|so|because|since|although|though|cause|cuz|plus|while|as|when|that)"
    r" (?:i|my|we|im|ive)\b)"
)
_LEAD: Final = re.compile(
    r"(?:(?:and|but|so|because|since|although|though|cause|cuz|plus|well|yeah|yes|yep|yup|yea|no|nope|nah|oh|wow|hey|"
    r"hi|hello|ok|okay|sure|haha|lol|hmm|um|uh|ah|aw|omg|man|dude|honestly|actually|personally|anyways?|also|true|"
    r"thanks|thank you|lately|recently|currently|nowadays|yesterday|today|last (?:week|night|month|year|weekend|summer|"
    r"winter|fall|spring|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|this (?:week|morning|month|year|weekend)|"
    r"these days|right now|sadly|unfortunately|luckily|thankfully|fortunately|basically|to be honest|tbh|fyi|btw|"
    r"by the way|for me|as for me|guess what|me too|same here|speaking of which|in fact|of course|then|again|besides|"
    r"still|now|just|once|back then) )+"
)
# What turns a statement after it into something supposed, or somebody else's words.
_NOT_STATED: Final = re.compile(
    r"\b(?:if|unless|whether|wish|imagine|pretend|suppose|supposing|would|could|might|maybe|perhaps|hypothetically|"
    r"says?|said|tells?|told|thinks?|thought|claims?|claimed|believes?|believed|asks?|asked|heard|assumes?|assumed|"
    r"swears?|swore|writes?|wrote|accused|example|e\.g|quote|song|lyrics?|joke|joking|act as|role-?play|pretending|"
    r"mean|means|like when people)\b"
)
_COURTESY: Final = re.compile(
    r"\b(?:you|your|yours|yourself|u|ur|ya)\b|\b(?:glad|happy|sorry|sad) to (?:hear|see|know)\b"
)
_CONTRACTIONS: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"\b(?:i'm|im)\b", "i am"), (r"\b(?:i've|ive)\b", "i have"), (r"\bi'd\b", "i would"), (r"\bi'll\b", "i will"),
        (r"\bwe're\b", "we are"), (r"\bwe've\b", "we have"), (r"\bwe'd\b", "we would"), (r"\bwe'll\b", "we will"),
        (r"\b(?:can't|cant|cannot)\b", "can not"), (r"\b(?:won't|wont)\b", "will not"), (r"\bain't\b", "am not"),
        (r"\b(do|does|did|is|are|was|were|have|has|had|could|would|should)n'?t\b", r"\1 not"),
        (r"\b(it|that|this|he|she|there|what)'s\b", r"\1 is"), (r"\bgonna\b", "going to"), (r"\bwanna\b", "want to"),
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence about its speaker: where it stands, of what kind, and when it holds, if its words say so."""

    start: int
    end: int
    kind: NoteKind
    valid: Interval | None


def statements(
    text: str, sentences: Sequence[tuple[int, int]], mentions: Sequence[TimeMention] = ()
) -> list[Statement]:
    """Find the sentences in which the speaker states something about themselves, in English.

    Not questions, conditions, wishes put as "would", reports of what was said or thought, quoted speech and forwarded
    mail, what is taken back as a joke, courtesies (anything about "you"), code, nor sentences of more than 500
    characters. Whether the speaker is a person is for the caller to know.

    Args:
        text: What one speaker said.
        sentences: Spans of its sentences.
        mentions: The time phrases of the text, in order. A fact or state with exactly one is valid at that time; a
            trait or preference from its start on, where the phrase is "since …" or "for …"; and so is what tells of a
            beginning, as of a move. A birthday is valid always.

    Returns:
        The statements in the order of the sentences; linear in the text.
    """
    fences = [m.start() for m in _FENCE.finditer(text)]
    times = [m.start for m in mentions]
    found: list[Statement] = []
    forwarded = _FORWARDED.search(text)
    others = len(text) if forwarded is None else forwarded.start()
    for place, (start, end) in enumerate(sentences):
        before, within = bisect(fences, start), bisect(fences, end)
        if end - start > _LONGEST or before % 2 or within > before or end > others:
            continue
        sentence = text[start:end]
        following = text[slice(*sentences[place + 1])] if place + 1 < len(sentences) else ""
        if jests(sentence) or takes_back(following):
            continue
        kind = _kind_of(sentence)
        if kind is not None and _telling(sentence, kind):
            its_times = mentions[bisect_left(times, start) : bisect_left(times, end)]
            found.append(Statement(start, end, kind, _valid(kind, sentence, text, its_times)))
    return found


def _kind_of(sentence: str) -> NoteKind | None:
    """What kind of statement about its speaker one sentence makes; None when it makes none."""
    plain = _QUOTED.sub(" something ", sentence.replace("’", "'").replace("‘", "'").lower())
    if _CODE.search(plain):
        return None
    for piece in _PIECE.findall(plain):
        if not _QUESTION.search(piece):
            for clause in _clauses(piece.rstrip(".!?… \n")):
                for kind, pattern in PATTERNS:
                    if pattern.match(clause):
                        return kind
    return None


def _telling(sentence: str, kind: NoteKind) -> bool:
    """Whether words are left without those that say little: for a fact two, or a name or number."""
    heavy = {word for word in _WORD.findall(sentence) if len(word) > 1 and word.lower() not in _LIGHT}
    named = any(word[0].isupper() or word.isdecimal() for word in heavy)
    return len(heavy) >= (2 if kind == "fact" and not named else 1)


def _clauses(piece: str) -> Iterator[str]:
    """The clauses that are stated, in the form that the rules read."""
    for pattern, words in _CONTRACTIONS:
        piece = pattern.sub(words, piece)
    before = ""
    for clause in _CLAUSE_END.split(" ".join(piece.split())):
        if _NOT_STATED.search(before):
            return
        before += f" {clause}"
        stated = _LEAD.sub("", clause, count=1) if _LEAD.match(clause) else clause
        if not _COURTESY.search(stated):
            yield stated


def _valid(kind: NoteKind, sentence: str, text: str, mentions: Sequence[TimeMention]) -> Interval | None:
    if slots.is_lasting(sentence):
        return Interval(None, None)
    if len(mentions) != 1:
        return None
    mention = mentions[0]
    if slots.begins(sentence):
        return Interval(mention.interval.start, None)
    if kind in ("fact", "state"):
        return mention.interval
    lasting = text[mention.start : mention.end].lower().startswith(("since", "for"))
    return Interval(mention.interval.start, None) if lasting else None
