"""The systems under test, by name."""

from mnemic.bench.systems.named import ANSWERS_ONLY, NAMES, PEERS, Setup, describe, labelled, refuse, system

__all__ = ["ANSWERS_ONLY", "NAMES", "PEERS", "Setup", "describe", "labelled", "refuse", "system"]
