"""The part of the public interface that keeps the database itself."""

from __future__ import annotations

from pathlib import Path

from mnemic.memory.wiring import Wired


class Keeps(Wired):
    """Copies of everything."""

    def backup(self, path: str | Path) -> int:
        """Copy the whole database, of all users, to a new file while it is used, and check the copy by opening it.

        The copy is one moment of the database: what was committed before, whole, and nothing of what came after. It is
        a database like any other; to restore it, open it, or put it in the place of the lost one while nobody uses
        that. What is erased later stays in it: erase it there too, or destroy it.

        Args:
            path: Where nothing is yet; the file gets mode 0600.

        Returns:
            Its size in bytes.

        Raises:
            StoreError: There is a file already, it could not be written, or it is not sound; nothing is left of it.
        """
        return self._store.back_up(Path(path).expanduser().absolute())
