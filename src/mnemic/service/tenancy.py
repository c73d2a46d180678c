"""Tenants: the one place where a tenant's users become the user ids that are stored, and back.

The users of the tenant ``default`` are stored under their own ids, so that a file of the command line can be served.
The user ``ana`` of the tenant ``acme`` is stored as ``tenant/acme/ana``. No tenant's name holds a slash, so nothing
else is stored under that id; and in ``default`` no user id begins with ``tenant/``, which leads to no other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from mnemic.algo.scope import LONGEST_ID, check_user
from mnemic.errors import InvalidInput, InvalidScope

DEFAULT: Final = "default"
_MARK: Final = "tenant/"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


@dataclass(frozen=True, slots=True)
class Tenant:
    """Somebody whose users nobody else sees.

    Args:
        name: 1 to 63 of ``a-z``, ``0-9``, ``-`` and ``_``, the first a letter or digit.

    Raises:
        InvalidInput: It is not such a name.
    """

    name: str = DEFAULT

    def __post_init__(self) -> None:
        """Check the name."""
        if not _NAME.fullmatch(self.name):
            raise InvalidInput(f"a tenant's name is 1 to 63 of a-z, 0-9, - and _, not {self.name!r}")

    @property
    def prefix(self) -> str:
        """What stands before every id that is stored for the tenant."""
        return "" if self.name == DEFAULT else f"{_MARK}{self.name}/"

    def stored(self, user_id: object) -> str:
        """The id that a user of the tenant is stored under.

        Raises:
            InvalidScope: It cannot be one of the tenant's; whether anything is stored does not matter.
        """
        given = check_user(user_id)
        if self.name == DEFAULT and given.startswith(_MARK):
            raise InvalidScope(f"user_id must not begin with {_MARK!r}: ids of other tenants do")
        if len(given) > LONGEST_ID - len(self.prefix):
            raise InvalidScope(
                f"user_id must have at most {LONGEST_ID - len(self.prefix)} characters, not {len(given)}"
            )
        return self.prefix + given

    def owns(self, stored: str) -> bool:
        """Whether what is stored under an id is the tenant's."""
        return not stored.startswith(_MARK) if self.name == DEFAULT else stored.startswith(self.prefix)

    def shown(self, stored: str) -> str:
        """The user's own id, of one that is stored for the tenant: the inverse of ``stored``."""
        return stored.removeprefix(self.prefix)

    def unveiled(self, text: str) -> str:
        """A message with the users' own ids in it, in the place of the stored ones."""
        return text.replace(self.prefix, "") if self.prefix else text
