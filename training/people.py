"""Names to put into texts, so that no name comes to mean anything, and the user of an assistant under such a name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemic.algo import names

if TYPE_CHECKING:
    import numpy as np

    from training.third_person import Gender

_WOMEN: Final = """
Abena Aisha Alma Amira Anneke Beatriz Chiara Chloe Daria Eleni Fatima Freya Greta Hana Heather Ingrid Ivy Jasmine Katya
Keiko Laila Leonie Linh Lucia Mei Miriam Nadia Noor Olga Paloma Priya Rosa Ruth Sanna Shreya Sofia Tamar Thandi Vera
Wanda Yara Zeynep
"""
_MEN: Final = """
Abdul Aleksander Amir Arjun Bjorn Boris Carlos Chidi Dmitri Diego Elias Emeka Farid Felix Giorgos Hamid Henrik Hiroshi
Igor Ivan Jamal Javier Kenji Kofi Lars Leon Mateo Mehmet Milan Nikhil Omar Oscar Pavel Pierre Rafael Ravi Stefan Tariq
Tomas Viktor Walter Yusuf
"""
NAMES: Final[dict[Gender, tuple[str, ...]]] = {"she": tuple(_WOMEN.split()), "he": tuple(_MEN.split())}
"""Of many languages; none of LoCoMo's people."""
_USER = re.compile(r"\b(?:the )?user\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody to put in the user's place."""

    name: str
    gender: Gender


def person(rng: np.random.Generator) -> Person:
    """Anybody, women and men alike often."""
    gender: Gender = "she" if rng.integers(2) else "he"
    return Person(str(rng.choice(NAMES[gender])), gender)


def of_user(memory: str, name: str) -> str:
    """A statement about "the user" or "User" as one about somebody of a name; itself where it has neither."""
    return _USER.sub(name, memory)


def nameless(text: str, name: str) -> str:
    """As a search embeds it: without the name of who is asked about (``algo.names``)."""
    return names.strip(text, (name,))


def spoken(turn: str, name: str) -> str:
    """A turn as a transcript has it, with its speaker."""
    return f"{name}: {turn}"
