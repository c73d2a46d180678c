"""Stored text as a page shows it, times, and addresses of pages. Nothing here trusts what it is given."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from mnemic.types import Interval

_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_INVISIBLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_PLAIN: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_QUOTED: Final = re.compile(rb"%([0-9A-Fa-f]{2})")


def shown(text: str) -> str:
    """Words as they were said, but for what no page can carry: lone surrogates and control characters become marks.

    Marks that turn the direction of writing stay: pages isolate words from what stands around them.
    """
    return _CONTROLS.sub(_picture, _SURROGATES.sub("\ufffd", text))


def named(text: str, *, most: int = 200) -> str:
    """A name, id or cue on one line, with everything visible that could make it look like another."""
    visible = _INVISIBLE.sub(lambda found: f"[U+{ord(found[0]):04X}]", _SURROGATES.sub("\ufffd", text))
    return visible if len(visible) <= most else visible[: most - 1] + "…"


def short(text: str, most: int) -> str:
    """The beginning of a text on one line."""
    line = " ".join(shown(text).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def moment(at: datetime | None) -> str:
    """``5 March 2024, 19:40 +01:00``."""
    if at is None:
        return "at an unknown time"
    return f"{at.day} {at:%B %Y, %H:%M} {_zone(at)}"


def day(at: datetime | None) -> str:
    """``5 March 2024``."""
    return "undated" if at is None else f"{at.day} {at:%B %Y}"


def stretch(time: Interval) -> str:
    """From the first to the last day."""
    ends = list(dict.fromkeys(day(at) for at in (time.start, time.end) if at is not None))
    return " – ".join(ends) or "undated"


def validity(valid: Interval) -> str:
    """When a note holds."""
    if valid.start is None and valid.end is None:
        return "at any time"
    if valid.start is None:
        return f"until {day(valid.end)}"
    return f"since {day(valid.start)}" if valid.end is None else f"{day(valid.start)} – {day(valid.end)}"


def counted(number: int, noun: str) -> str:
    """``1 note``, ``2,000 notes``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def size(count: int) -> str:
    """Bytes in the unit that fits."""
    if count < 1 << 10:
        return counted(count, "byte")
    if count < 1 << 20:
        return f"{count / (1 << 10):,.0f} KiB"
    return f"{count / (1 << 20):,.1f} MiB" if count < 1 << 30 else f"{count / (1 << 30):,.2f} GiB"


def address(page: str, given: Mapping[str, str | None], *, at: str | None = None) -> str:
    """A relative address of a page, whatever its values hold; those that are None or empty are left out.

    Args:
        page: Its name.
        given: What is asked of it.
        at: The id of an element to jump to.
    """
    query = "&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in given.items() if value)
    jump = f"#{_quoted(at)}" if at else ""
    return f"{page}{'?' if query else ''}{query}{jump}"


def asked(query: str) -> dict[str, str]:
    """What a page is asked, from the query of its address, or from a form: the inverse of ``address``."""
    pairs = (pair.partition("=") for pair in query.split("&") if pair)
    return {_unquoted(name): _unquoted(value) for name, _, value in pairs}


def _quoted(text: str) -> str:
    """As an address has it; lone surrogates survive, as they do everywhere else in mnemic."""
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in text.encode("utf-8", "surrogatepass"))


def _unquoted(text: str) -> str:
    raw = text.replace("+", " ").encode("utf-8", "surrogatepass")
    given = _QUOTED.sub(lambda found: bytes((int(found[1], 16),)), raw)
    try:
        return given.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:  # no address of ours
        return given.decode("utf-8", "replace")


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"


def _zone(at: datetime) -> str:
    return "UTC" if at.utcoffset() == UTC.utcoffset(None) else f"{at:%z}"[:3] + ":" + f"{at:%z}"[3:5]
