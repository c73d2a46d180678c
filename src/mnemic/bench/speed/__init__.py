"""How cost grows: one user to many turns, one store to many users, mnemic beside the peers."""

from mnemic.bench.speed.grow import Growth, grow
from mnemic.bench.speed.subjects import check, start

__all__ = ["Growth", "check", "grow", "start"]
