"""mem0's ``Memory`` and ``AsyncMemory`` over a memory of mnemic: the same methods, arguments and shapes of results.

    from mnemic.compat.mem0 import Memory  # instead of: from mem0 import Memory

A memory is a message, word for word; no language model rewords it, so ``infer`` and ``prompt`` change nothing. What is
updated keeps its earlier words in ``history``; what is deleted is gone from there too. Nothing is read across users.
"""

from mnemic.compat.mem0_async import AsyncMemory
from mnemic.compat.mem0_memory import Memory

__all__ = ["AsyncMemory", "Memory"]
