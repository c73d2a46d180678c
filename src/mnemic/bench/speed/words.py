"""Words for made-up dialogues, by rank: the common ones are written here, the many rare ones are put together.

Natural text has a word of every rank: rank 1 all the time, rank 10,000 once in a book. So that an index of made-up text
has as many rare terms as one of real text, there is a topic, a person and a place for every rank.
"""

from __future__ import annotations

from typing import Final


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_NOUNS: Final = _words(
    """
    garden bread guitar bicycle kiln report kitchen exhibition marathon puppy novel roof budget concert recipe
    camera workshop canoe museum lecture choir greenhouse passport mortgage violin tent interview printer balcony
    sculpture orchard telescope sofa podcast apartment ferry lighthouse spreadsheet piano blanket harvest bakery
    scarf allergy vaccine fence playlist aquarium motorbike charity lamp curriculum drone sweater trail soup
    keyboard sailboat garage mural contract thesis pottery chessboard wedding surgery invoice beehive backpack
    hammock ladder dashboard festival tattoo quilt compost anniversary scooter freezer manuscript parade algorithm
    saddle cactus opera treadmill meadow fireplace chandelier cello barbecue landlord semester dentist graduation
    waterfall castle pharmacy reunion screenplay kayak lullaby mosaic tournament vineyard wardrobe xylophone
    yoghurt zip calendar inbox elevator heater trombone allotment battery carpet diary engine fountain grant hedge
    insurance journal kettle library magazine notebook outline parcel questionnaire raincoat stadium trumpet
    umbrella visa windmill archive bracelet candle doorbell easel forecast glacier helmet island jacket
    """
)
_MODIFIERS: Final = _words(
    """
    old second-hand local wooden winter borrowed digital communal broken tiny antique weekend public electric
    handmade coastal rented national portable Sunday vegetarian abandoned floating charity Italian school rooftop
    seasonal silent painted evening mountain family travelling experimental
    """
)
_NAMES: Final = _words(
    """
    Ada Bruno Carmen Dmitri Elif Farid Greta Hugo Ines Jonas Kemal Lina Marek Nora Oscar Priya Quentin Rosa Samir
    Tilda Umar Vera Wanda Xavier Yusuf Zoe Anton Bianca Cyril Dalia Emil Fatima
    """
)
_PLACES: Final = _words(
    """
    Lisbon Bergen Ghent Porto Krakow Leipzig Malmo Turin Cork Utrecht Seville Tallinn Bristol Aarhus Bologna Graz
    Nantes Oulu Split Valencia Zadar Basel Dundee Girona
    """
)
_ONSETS: Final = _words("b br d dr f g gr k l m n p r s st t tr v z sh")
_VOWELS: Final = _words("a e i o u ai ea")
_CODAS: Final = _words("l n r s m th nd rt sk lm")
_TOWN: Final = _words("ford haven by stad mouth wick dale port")


def topic(rank: int) -> str:
    """A noun; for the rarer ranks a noun with a word before it, and then with a made-up name before it.

    Args:
        rank: From 0, the commonest.
    """
    if rank < len(_NOUNS):
        return _NOUNS[rank]
    number, modifier = divmod(rank - len(_NOUNS), len(_MODIFIERS))
    noun = _NOUNS[(number + 17 * modifier) % len(_NOUNS)]
    if number < len(_NOUNS):
        return f"{_MODIFIERS[modifier]} {noun}"
    return f"{_made(rank)} {noun}"


def person(rank: int) -> str:
    """A given name."""
    return _NAMES[rank] if rank < len(_NAMES) else _made(rank)


def place(rank: int) -> str:
    """A town."""
    return _PLACES[rank] if rank < len(_PLACES) else _made(rank) + _TOWN[rank % len(_TOWN)]


def _made(number: int) -> str:
    """A pronounceable name: a number's digits as sounds."""
    number, onset = divmod(number, len(_ONSETS))
    number, vowel = divmod(number, len(_VOWELS))
    number, coda = divmod(number, len(_CODAS))
    number, second = divmod(number, len(_ONSETS))
    third = _VOWELS[number % len(_VOWELS)]
    return (_ONSETS[onset] + _VOWELS[vowel] + _CODAS[coda] + _ONSETS[second] + third).capitalize()
