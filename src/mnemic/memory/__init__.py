"""Memory and AsyncMemory."""

from mnemic.memory.answering import AnswerStream
from mnemic.memory.asynchronous import AsyncMemory
from mnemic.memory.facade import Memory

__all__ = ["AnswerStream", "AsyncMemory", "Memory"]
