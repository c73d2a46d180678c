"""The systems under test, by name."""

from mnemic.bench.systems.named import ANSWERS_ONLY, NAMES, PEERS, Setup, describe, system

__all__ = ["ANSWERS_ONLY", "NAMES", "PEERS", "Setup", "describe", "system"]
