"""What a server allows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """The limits of a server, and whether it asks for keys.

    Attributes:
        auth: False asks nobody for a key: everybody who reaches the server, which is then this machine alone, is the
            tenant ``default`` with every scope.
        rate: Requests a second that one key may make over time.
        burst: How many it may make at once.
        refusals: Requests a second without a good key that one address may make over time; ten times as many at once.
        body_bytes: Longest body of a request.
        import_bytes: Longest file to import.
        reply_hours: How long the reply to a request with an ``Idempotency-Key`` is kept.
        contact: Whom people may ask about what is kept of them; in the notice.
    """

    auth: bool = True
    rate: float = 100.0
    burst: int = 200
    refusals: float = 1.0
    body_bytes: int = 4 << 20
    import_bytes: int = 512 << 20
    reply_hours: float = 24.0
    contact: str | None = None

    def __post_init__(self) -> None:
        """Check the ranges. Raises ValueError."""
        least = {"rate": 0.001, "burst": 1, "refusals": 0.001, "body_bytes": 1024, "import_bytes": 1024}
        for name, low in (*least.items(), ("reply_hours", 0.0)):
            if not getattr(self, name) >= low:
                raise ValueError(f"Settings: {name} must be at least {low:g}, not {getattr(self, name)!r}")
