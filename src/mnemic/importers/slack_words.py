"""Slack's markup as people see it: names in place of ids, addresses behind their labels."""

from __future__ import annotations

import re
from collections.abc import Mapping

from mnemic.importers.loose import listed, mapping, name, words
from mnemic.types import Json

_LINK = re.compile(r"<(?P<what>[^<>|]*)(?:\|(?P<label>[^<>]*))?>")
_CALLS = {"here", "channel", "everyone"}


def said(raw: Mapping[str, Json], names: Mapping[str, str]) -> str | list[Json]:
    """The words of a message, with its files as parts; empty where there are neither.

    Args:
        raw: The message.
        names: User id -> name.
    """
    text = readable(words(raw.get("text")), names)
    if not text.strip():
        # What programs post often stands here alone.
        found = [mapping(one) for one in listed(raw.get("attachments"))]
        texts = [words(one.get("text")) or words(one.get("fallback")) for one in found]
        text = "\n".join(readable(one, names) for one in texts if one.strip())
    files = [part for one in listed(raw.get("files")) if (part := _file(mapping(one))) is not None]
    if not files:
        return text if text.strip() else ""
    return [*([{"type": "text", "text": text}] if text.strip() else []), *files]


def readable(text: str, names: Mapping[str, str]) -> str:
    """A text as people see it."""

    def shown(found: re.Match[str]) -> str:
        what, label = found["what"], found["label"]
        if what.startswith("@"):
            return f"@{names.get(what[1:]) or label or what[1:]}"
        if what.startswith("#"):
            return f"#{label or what[1:]}"
        if what.startswith("!"):
            return _call(what[1:], label)
        address = what.removeprefix("mailto:")
        return address if label in (None, "", address, what) else f"{label} ({address})"

    return _LINK.sub(shown, text).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _call(what: str, label: str | None) -> str:
    if what in _CALLS:
        return f"@{what}"
    if label:
        return label
    return f"@{what}"


def _file(given: Mapping[str, Json]) -> Json:
    called = name(given.get("title")) or name(given.get("name"))
    where = name(given.get("url_private")) or name(given.get("permalink")) or name(given.get("id"))
    if called is None and where is None:
        return None
    if words(given.get("mimetype")).startswith("image/"):
        return {"type": "image_url", "image_url": {"url": where or called}, **({"caption": called} if called else {})}
    return {"type": "file", "file": {"filename": called, "file_id": where or called}}
