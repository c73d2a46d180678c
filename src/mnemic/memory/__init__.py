"""Memory and AsyncMemory."""

from mnemic.memory.answering import AnswerStream
from mnemic.memory.asynchronous import AsyncMemory
from mnemic.memory.facade import Memory
from mnemic.memory.wiring import service_rows

__all__ = ["AnswerStream", "AsyncMemory", "Memory", "service_rows"]
