"""Questions about somebody, made of what they said of themselves: by rules over spaCy's parse.

"I adopted two cats in March" gives "When did Ana adopt two cats?", "How many cats did Ana adopt?", "What did Ana adopt
in March?". Each asks for one constituent of a clause, which is left out of the question, after Heilman and Smith, "Good
Question! Statistical Ranking for Question Generation" (NAACL 2010), without the ranking.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from training.third_person import FORMS

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

    from training.people import Person

_AUX: Final = {
    "am": "is", "'m": "is", "is": "is", "'s": "is", "are": "is", "'re": "is", "was": "was", "were": "was",
    "have": "has", "'ve": "has", "has": "has", "had": "had", "did": "did",
}  # fmt: skip
"""Of what is or was; what may be is not asked about."""
_SAYS_NOTHING_WORDS = """
wonder think know guess mean hope appreciate agree see understand believe suppose say ask tell look want need wish
like curious consider
"""
_SAYS_NOTHING: Final = frozenset(_SAYS_NOTHING_WORDS.split())
"""Verbs of what is said to an assistant, not of a life."""
_PLACES: Final = frozenset(("to", "in", "at", "from", "into", "near", "through", "around"))
_PLACED: Final = frozenset(("GPE", "LOC", "FAC", "ORG"))
_GOING_WORDS = """
go move travel live fly drive head stay work walk hike grow visit volunteer
"""
_GOING: Final = frozenset(_GOING_WORDS.split())
_PEOPLE_WORDS = """
friend friends mom mother dad father sister brother wife husband partner boyfriend girlfriend son daughter kids
children family cousin aunt uncle grandma grandmother grandpa grandfather colleague colleagues coworker coworkers
neighbor neighbour boss roommate parents niece nephew
"""
_PEOPLE: Final = frozenset(_PEOPLE_WORDS.split())
_LEFT_OUT: Final = frozenset(("aux", "auxpass", "neg", "punct", "cc", "conj", "mark", "intj", "nsubj", "nsubjpass"))
_OBJECTS: Final = frozenset(("dobj", "attr", "oprd", "xcomp"))
_LONGEST: Final = 14
_PERSONAL = re.compile(r"\b(i|my|me|mine|myself|our|us|i'm|i've)\b", re.IGNORECASE)
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Put:
    """A question, and where in the text the sentence is that answers it: first and last character."""

    question: str
    start: int
    end: int


def asked(doc: Doc, who: Person) -> Iterator[Put]:
    """Every question that the rules make of what somebody says about themselves.

    Args:
        doc: Parsed, with entities; in the first person.
        who: Who said it.
    """
    for sentence in doc.sents:
        for verb in () if sentence.text.rstrip().endswith("?") else sentence:
            if (clause := _clause(verb, who)) is not None:
                for question in dict.fromkeys(clause.questions()):
                    yield Put(question, sentence.start_char, sentence.end_char)


@dataclass(frozen=True, slots=True)
class _Clause:
    """A verb with a subject who speaks, ready to be asked about."""

    verb: Token
    subject: str
    auxiliary: str
    said: str
    """The verb as it stands after the subject; empty for "be"."""
    parts: tuple[Token, ...]
    """Its other constituents, by their heads, in order."""
    who: Person

    def questions(self) -> Iterator[str]:
        for part in self.parts:
            if part.dep_ in _OBJECTS:
                yield from self._of_object(part)
            elif part.dep_ == "prep":
                yield from self._of_place(part)
            elif part.dep_ in ("npadvmod", "advmod") and _is_time(part):
                yield from self._put("When", part)
            elif part.dep_ == "advcl" and any(child.lower_ in ("because", "since", "so") for child in part.children):
                yield from self._put("Why", part)
        rest = [part for part in self.parts if part.dep_ == "prep" or _is_time(part)]
        if self.said and rest and len(self.parts) > len(rest):
            told = " ".join(_text(part) for part in rest)
            yield from self._asking(f"What {self.auxiliary} {self.subject} do {told}")

    def _of_object(self, part: Token) -> Iterator[str]:
        kinds = [child for child in part.children if child.dep_ in ("amod", "compound")]
        counts = [child for child in part.children if child.dep_ == "nummod"]
        if part.dep_ != "xcomp":
            if counts and part.tag_ == "NNS":
                yield from self._put(f"How many {part.text}", part)
            if kinds and part.pos_ == "NOUN":
                yield from self._put(f"What kind of {part.text}", part)
        if part.ent_type_ == "PERSON" or part.lower_ in _PEOPLE:
            yield from self._put("Who", part)
        else:
            yield from self._put("What", part)

    def _of_place(self, part: Token) -> Iterator[str]:
        objects = [child for child in part.children if child.dep_ == "pobj"]
        if not objects:
            return
        thing = objects[0]
        if thing.ent_type_ in ("DATE", "TIME") or _is_time(thing):
            yield from self._put("When", part)
        elif part.lower_ in _PLACES and (thing.ent_type_ in _PLACED or self.verb.lemma_ in _GOING):
            yield from self._put("Where", part)
        elif thing.ent_type_ == "PERSON" or thing.lower_ in _PEOPLE:
            yield from self._put("Who", part, left=part.text)
        else:
            yield from self._put("What", part, left=part.text)

    def _put(self, word: str, answer: Token, left: str = "") -> Iterator[str]:
        told = " ".join(_text(part) for part in self.parts if part.i != answer.i)
        yield from self._asking(f"{word} {self.auxiliary} {self.subject} {self.said} {told} {left}")

    def _asking(self, question: str) -> Iterator[str]:
        """As it is written, unless it is too long, speaks of "me" still, or has nothing to be found by."""
        from mnemic.algo.lexical import content_terms

        put = _in_third_person(question, self.who)
        words = [term for term in content_terms(put) if term not in content_terms(self.who.name)]
        if len(put.split()) <= _LONGEST and not _PERSONAL.search(put) and len(words) > 1:
            yield put + "?"


def _clause(verb: Token, who: Person) -> _Clause | None:
    if verb.pos_ not in ("VERB", "AUX") or verb.lemma_ in _SAYS_NOTHING:
        return None
    subjects = [child for child in verb.children if child.dep_ in ("nsubj", "nsubjpass")]
    subject = _subject(subjects[0], who) if len(subjects) == 1 else None
    if subject is None or any(child.dep_ == "neg" for child in verb.children):
        return None
    helping = [child for child in verb.children if child.dep_ in ("aux", "auxpass") and child.i < verb.i]
    found = _auxiliary(verb, helping)
    if found is None:
        return None
    later = [child for child in verb.children if child.dep_ not in _LEFT_OUT and child.i > subjects[0].i]
    parts = tuple(child for child in later if child.dep_ != "advmod" or _is_time(child))
    return _Clause(verb, subject, *found, parts, who)


def _subject(token: Token, who: Person) -> str | None:
    if token.lower_ == "i":
        return who.name
    words = [word for word in token.subtree]
    if words[0].lower_ == "my" and len(words) <= 4:
        return f"{who.name}'s {' '.join(word.text for word in words[1:])}"
    return None


def _auxiliary(verb: Token, helping: list[Token]) -> tuple[str, str] | None:
    """What a question about the verb begins with, and what of the verb comes after the subject."""
    if helping:
        first = _AUX.get(helping[0].lower_)
        rest = " ".join(word.text for word in (*helping[1:], verb))
        return None if first is None else (first, rest)
    if verb.lemma_ == "be":
        first = _AUX.get(verb.lower_)
        return None if first is None else (first, "")
    if verb.tag_ == "VBD":
        return "did", verb.lemma_
    return ("does", verb.lemma_) if verb.tag_ in ("VBP", "VBZ") else None


def _is_time(token: Token) -> bool:
    return any(word.ent_type_ in ("DATE", "TIME") for word in token.subtree)


def _text(token: Token) -> str:
    """A constituent's words, without what is told beside it."""
    kept = [word for word in token.subtree if not _beside(word, token)]
    return "".join(word.text_with_ws for word in kept).strip(" ,;.!-")


def _beside(word: Token, top: Token) -> bool:
    """Whether a word belongs to a clause, an example or a second thing below the constituent."""
    while word.i != top.i:
        if word.dep_ in ("relcl", "advcl", "conj", "cc", "appos", "punct", "parataxis"):
            return True
        word = word.head
    return False


def _in_third_person(text: str, who: Person) -> str:
    she, her, hers, _, herself = FORMS[who.gender]
    for first, third in (("myself", herself), ("my", hers), ("me", her), ("i", she)):
        text = re.sub(rf"\b{first}\b", third, text, flags=re.IGNORECASE if first != "i" else 0)
    return _SPACE.sub(" ", text).strip()
