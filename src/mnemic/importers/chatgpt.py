"""The ``chatgpt`` format: ``conversations.json`` of ChatGPT's data export, also within its zip file.

A conversation there is a tree of messages, for each edited question and each answer made anew begins a branch. The
branch that was shown last is the conversation's session; every other one is a session of its own, from where it leaves
what came before: ``<conversation>/<first message>``, with ``branch_of`` and ``branches_after`` in its metadata.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mnemic.importers.archive import entries
from mnemic.importers.files import SourceFile
from mnemic.importers.loose import kept, listed, mapping, name, set_time, words
from mnemic.importers.records import Conversation, Message, Record, Skipped
from mnemic.types import Json

HIDDEN = "a message that ChatGPT hid"
REASONING = "a model's reasoning, which was not part of the conversation"
INSTRUCTIONS = "the account's custom instructions, repeated in each conversation"
NO_WORDS = "a message without words"
UNKNOWN = "a message of a kind that is not known"

_ROLES = ("user", "assistant", "system", "tool")
_REASONING = ("thoughts", "reasoning_recap")
_INSTRUCTIONS = ("user_editable_context", "model_editable_context")
# Content type -> the field that holds its words.
_BODIES = {
    "code": "text", "execution_output": "text", "system_error": "text", "tether_quote": "text",
    "tether_browsing_display": "result", "computer_output": "text", "sonic_webpage": "text",
}  # fmt: skip


def read(file: SourceFile) -> Iterator[Record]:
    """Yield one conversation for each branch of each conversation.

    Raises:
        Unusable: It is no JSON array, or the zip file holds none.
    """
    for entry in entries(file, "conversations"):
        if isinstance(entry, Skipped):
            yield entry
        else:
            item, prefix = entry
            yield from _conversation(item.value, f"{file.session}/{item.number}", f"{prefix}conversation {item.number}")


def is_conversation(value: Json) -> bool:
    """Whether a value is one of ChatGPT's conversations."""
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


def _conversation(value: Json, unnamed: str, where: str) -> Iterator[Record]:
    head = mapping(value)
    nodes = mapping(head.get("mapping"))
    if not nodes:
        yield Skipped("a conversation without messages", where)
        return
    session = name(head.get("conversation_id")) or name(head.get("id")) or unnamed
    metadata = kept(title=name(head.get("title")), source="chatgpt", model=name(head.get("default_model_slug")))
    tree = _Tree(nodes)
    shown = tree.path(_shown_leaf(head.get("current_node"), tree))
    found = _Reading(where)
    yield from found.said(shown, nodes, session, metadata)
    for branch in tree.others(shown):
        after = tree.parent(branch[0])
        linked = {**metadata, "branch_of": session, **kept(branches_after=_id(nodes, after))}
        yield from found.said(branch, nodes, f"{session}/{branch[0]}", linked)
    if not found.has_any:
        yield Skipped("a conversation without messages", where)


def _shown_leaf(current: Json, tree: _Tree) -> str:
    """The last message of the branch that is shown: the one that is named, or else the last leaf there is."""
    return current if isinstance(current, str) and current in tree.nodes else tree.leaves[-1]


def _id(nodes: Mapping[str, Json], node: str | None) -> str | None:
    return None if node is None else name(mapping(mapping(nodes.get(node)).get("message")).get("id")) or node


class _Tree:
    """The nodes of a conversation, by what stands before each; what points nowhere, or in a circle, begins anew.

    Attributes:
        leaves: The nodes that nothing stands behind, in the order of the file; never none.
    """

    def __init__(self, nodes: Mapping[str, Json]) -> None:
        self.nodes = nodes
        inner = {self.parent(node) for node in nodes}
        self.leaves = [node for node in nodes if node not in inner] or [list(nodes)[-1]]

    def parent(self, node: str) -> str | None:
        """The node before, if there is one."""
        before = mapping(self.nodes.get(node)).get("parent")
        return before if isinstance(before, str) and before in self.nodes else None

    def path(self, leaf: str, known: set[str] | None = None) -> list[str]:
        """The nodes up to a leaf, oldest first, from behind the last known one on."""
        found: dict[str, None] = {}
        node: str | None = leaf
        while node is not None and node not in found and node not in (known or ()):
            found[node] = None
            node = self.parent(node)
        return list(reversed(found))

    def others(self, shown: Sequence[str]) -> Iterator[list[str]]:
        """The branches besides the one that is shown, each from where it leaves what came before."""
        known = set(shown)
        for leaf in self.leaves:
            branch = self.path(leaf, known)
            if branch:
                known.update(branch)
                yield branch
        # Nodes in a circle have no leaf.
        for node in self.nodes:
            if node not in known:
                branch = self.path(node, known)
                known.update(branch)
                yield branch


@dataclass(slots=True)
class _Reading:
    """The messages of one conversation as they are read."""

    where: str
    has_any: bool = False
    ids: set[str] = field(default_factory=set[str])

    def said(
        self, path: Sequence[str], nodes: Mapping[str, Json], session: str, metadata: Mapping[str, Json]
    ) -> Iterator[Record]:
        """What a branch says, and what of it is left out."""
        messages: list[Message] = []
        for node in path:
            raw = mapping(nodes.get(node)).get("message")
            if raw is None:
                continue  # the root of a conversation holds none
            place = f"{self.where}, message {node}"
            message = _message(raw, node)
            if isinstance(message, str):
                yield Skipped(message, place)
                continue
            if message["id"] in self.ids:
                message["id"] = f"{session}/{node}"
            self.ids.add(str(message["id"]))
            if (wrong := set_time(message, mapping(raw).get("create_time"), place)) is not None:
                yield wrong
            messages.append(message)
        if messages:
            self.has_any = True
            yield Conversation(None, session, tuple(messages), None, metadata)


def _message(raw: Json, node: str) -> Message | str:
    """A message of a node; or why it is none."""
    given = mapping(raw)
    content = mapping(given.get("content"))
    kind = words(content.get("content_type"))
    author = mapping(given.get("author"))
    role = words(author.get("role"))
    if role not in _ROLES:
        return UNKNOWN
    if kind in _INSTRUCTIONS:
        return INSTRUCTIONS
    if kind in _REASONING:
        return REASONING
    said = _content(kind, content)
    if said is None:
        return UNKNOWN
    if not said:
        # The empty system message at the beginning of every conversation is nothing that anybody would miss.
        return HIDDEN if role == "system" else NO_WORDS
    about = mapping(given.get("metadata"))
    if about.get("is_visually_hidden_from_conversation") is True:
        return HIDDEN
    message: Message = {"id": name(given.get("id")) or node, "role": role, "content": said}
    if (speaker := name(author.get("name"))) is not None:
        message["name"] = speaker
    recipient = name(given.get("recipient"))
    details = kept(
        content_type=None if kind in ("text", "multimodal_text") else kind,
        recipient=None if recipient == "all" else recipient,
        model=name(about.get("model_slug")),
        language=name(content.get("language")) if kind == "code" else None,
        url=name(content.get("url")),
    )
    if details:
        message["metadata"] = dict(details)
    return message


def _content(kind: str, content: Mapping[str, Json]) -> str | list[Json] | None:
    """The words: a text, or parts where there are pictures; empty where there are none; None of an unknown kind."""
    if kind in _BODIES:
        return words(content.get(_BODIES[kind])) or words(content.get("summary"))
    if kind not in ("text", "multimodal_text") and "parts" not in content:
        return words(content.get("text")) or None
    found = [part for part in map(_part, listed(content.get("parts"))) if part is not None]
    texts = [words(part.get("text")) for part in found if part.get("type") == "text"]
    if len(texts) == len(found):
        return texts[0] if len(texts) == 1 else "\n".join(text for text in texts if text)
    return list[Json](found)


def _part(part: Json) -> dict[str, Json] | None:
    """A part in the shape of chat messages; None where it says nothing."""
    if isinstance(part, str):
        return {"type": "text", "text": part} if part.strip() else None
    given = mapping(part)
    kind = words(given.get("content_type"))
    if kind == "audio_transcription":
        return {"type": "text", "text": words(given.get("text"))} if name(given.get("text")) else None
    inner = mapping(given.get("audio_asset_pointer"))
    pointer = name(given.get("asset_pointer")) or name(inner.get("asset_pointer"))
    if pointer is None:
        return {"type": "text", "text": words(given.get("text"))} if name(given.get("text")) else None
    if kind == "image_asset_pointer":
        prompt = name(mapping(mapping(given.get("metadata")).get("dalle")).get("prompt"))
        return {"type": "image_url", "image_url": {"url": pointer}, **kept(caption=prompt)}
    if "audio" in kind:
        return {"type": "audio", "audio": {"id": pointer}}
    return {"type": "file", "file": {"file_id": pointer}}
