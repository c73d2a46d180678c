"""The systems under test, by name."""

from mnemic.bench.systems.named import ANSWERS_ONLY, NAMES, PEERS, Setup, describe, refuse, system

__all__ = ["ANSWERS_ONLY", "NAMES", "PEERS", "Setup", "describe", "refuse", "system"]
