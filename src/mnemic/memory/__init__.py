"""Memory and AsyncMemory."""

from mnemic.memory.asynchronous import AsyncMemory
from mnemic.memory.facade import Memory

__all__ = ["AsyncMemory", "Memory"]
