"""Users' indexes in memory: disposable, exact copies of what the rows say."""

from mnemic.index.cache import Indexes
from mnemic.index.snapshots import Snapshots
from mnemic.index.telling import told
from mnemic.index.user_index import UserIndex

__all__ = ["Indexes", "Snapshots", "UserIndex", "told"]
