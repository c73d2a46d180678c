"""Which half each user of a data set belongs to: ideas are tried on ``dev``; ``test`` is measured once, at the end.

The halves are those of the data's README. What they do not name is in ``dev``: nobody else's file is a test half.
"""

from __future__ import annotations

from mnemic.bench.records import Half

LOCOMO = ("conv-26", "conv-30", "conv-41", "conv-42", "conv-43", "conv-44", "conv-47", "conv-48", "conv-49", "conv-50")
"""LoCoMo's conversations in the order of its file: the first five to develop on, the others to test with."""
_LOCOMO_TEST = frozenset(LOCOMO[5:])
_PERSONAMEM_TEST = frozenset(str(persona) for persona in range(10, 20))


def of_conversation(sample_id: str) -> Half:
    """The half of one of LoCoMo's conversations."""
    return "test" if sample_id in _LOCOMO_TEST else "dev"


def of_persona(persona_id: str) -> Half:
    """The half of a person in PersonaMem; the same twenty people are in all of its sizes."""
    return "test" if persona_id in _PERSONAMEM_TEST else "dev"
