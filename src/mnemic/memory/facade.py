"""The public interface."""

from __future__ import annotations

from mnemic.memory.erases import Erases
from mnemic.memory.explores import Explores
from mnemic.memory.keeps import Keeps
from mnemic.memory.tends import Tends
from mnemic.memory.thinks import Thinks
from mnemic.memory.writes import Writes


class Memory(Writes, Erases, Thinks, Tends, Explores, Keeps):
    """Long-term memory in one database. Thread-safe; any number of them may share a database.

    Every method is bound to one user; there is no default user.
    """
