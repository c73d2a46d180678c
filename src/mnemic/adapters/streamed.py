"""A chat completion that comes in pieces, put together."""

from __future__ import annotations


class Reply:
    """The message that the pieces of the first choice make."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._calls: dict[int, dict[str, str]] = {}

    def take(self, chunk: object) -> None:
        """Take the next piece."""
        for choice in getattr(chunk, "choices", None) or ():
            delta = getattr(choice, "delta", None)
            if delta is None or getattr(choice, "index", 0):
                continue
            if text := getattr(delta, "content", None):
                self._texts.append(text)
            for call in getattr(delta, "tool_calls", None) or ():
                self._take_call(call)

    def message(self) -> dict[str, object] | None:
        """What there is so far in the OpenAI shape; None where that is nothing."""
        if not self._texts and not self._calls:
            return None
        said: dict[str, object] = {"role": "assistant", "content": "".join(self._texts) or None}
        if self._calls:
            said["tool_calls"] = [
                {
                    "id": call["id"],
                    "type": "function",
                    "function": {"name": call["name"], "arguments": call["arguments"]},
                }
                for _, call in sorted(self._calls.items())
            ]
        return said

    def _take_call(self, call: object) -> None:
        so_far = self._calls.setdefault(getattr(call, "index", 0) or 0, {"id": "", "name": "", "arguments": ""})
        so_far["id"] += getattr(call, "id", None) or ""
        function = getattr(call, "function", None)
        so_far["name"] += getattr(function, "name", None) or ""
        so_far["arguments"] += getattr(function, "arguments", None) or ""
