"""A made-up ChatGPT export of any size, always the same: the words are drawn from a small stock by a seeded choice.

python tests/chatgpt_kit.py 100 export.json      writes 100 MB
"""

from __future__ import annotations

import json
import random
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

THINGS = (
    "ferry", "greenhouse", "bassoon", "marathon", "invoice", "sourdough", "telescope", "kayak", "mortgage", "beehive",
    "choir", "garden wall", "violin", "thesis", "allotment", "sauna", "darkroom", "kiln", "canal boat", "orchard",
)  # fmt: skip
PEOPLE = ("Marta", "Jonas", "Amina", "Teodor", "Ingrid", "Rafael", "Yuki", "Olu", "Petra", "Sami")
PLACES = ("Delft", "Porto", "Tromsø", "Graz", "Malmö", "Cork", "Lublin", "Ghent", "Turku", "Trieste")
VERBS = (
    "repaired",
    "sold",
    "painted",
    "borrowed",
    "lost",
    "finished",
    "measured",
    "dreamt of",
    "insured",
    "photographed",
)
_START = 1_680_000_000.0


def conversations(count: int | None = None, seed: int = 7) -> Iterator[dict[str, Any]]:
    """One conversation after the other, without end where no count is given."""
    chance = random.Random(seed)
    number = 0
    while count is None or number < count:
        yield conversation(chance, number)
        number += 1


def conversation(chance: random.Random, number: int) -> dict[str, Any]:
    """A tree of 4 to 40 messages; every third has a branch that was left."""
    at = _START + 7200.0 * number
    root = _id(chance)
    nodes: dict[str, Any] = {root: {"id": root, "message": None, "parent": None, "children": []}}
    last = _put(nodes, chance, root, "system", {"content_type": "text", "parts": [""]}, None, hidden=True)
    turns = chance.randint(2, 20)
    for turn in range(turns):
        at += chance.uniform(20, 400)
        asked = {"content_type": "text", "parts": [sentences(chance, 1, 4)]}
        last = _put(nodes, chance, last, "user", asked, at)
        if number % 3 == 0 and turn == turns // 2:
            left = {"content_type": "text", "parts": [f"(an answer that was made anew) {sentences(chance, 2, 4)}"]}
            _put(nodes, chance, last, "assistant", left, at + 5)
        answer = {"content_type": "text", "parts": [sentences(chance, 2, 14)]}
        last = _put(nodes, chance, last, "assistant", answer, None if turn % 11 == 10 else at + 9)
    identity = _id(chance)
    return {
        "title": f"{chance.choice(THINGS).title()} in {chance.choice(PLACES)}",
        "create_time": _START + 7200.0 * number,
        "update_time": at,
        "mapping": nodes,
        "moderation_results": [],
        "current_node": last,
        "conversation_id": identity,
        "id": identity,
        "default_model_slug": "gpt-4o",
        "is_archived": False,
    }


def sentences(chance: random.Random, least: int, most: int) -> str:
    """That many sentences."""
    made: list[str] = []
    for _ in range(chance.randint(least, most)):
        who, where, thing = chance.choice(PEOPLE), chance.choice(PLACES), chance.choice(THINGS)
        made.append(f"{who} {chance.choice(VERBS)} the {thing} number {chance.randint(1, 9999)} near {where}.")
    return " ".join(made)


def write(path: Path, size: int) -> int:
    """Write an export of at least so many bytes; how many conversations it has."""
    count = 0
    with path.open("w", encoding="utf-8") as stream:
        stream.write("[")
        for one in conversations():
            stream.write((",\n" if count else "") + json.dumps(one))
            count += 1
            if stream.tell() >= size:
                break
        stream.write("]\n")
    return count


def _put(nodes, chance, parent, role, content, at, *, hidden=False) -> str:
    node = _id(chance)
    nodes[node] = {
        "id": node,
        "message": {
            "id": node,
            "author": {"role": role, "name": None, "metadata": {}},
            "create_time": at,
            "update_time": None,
            "content": content,
            "status": "finished_successfully",
            "end_turn": True,
            "weight": 1.0,
            "metadata": {"is_visually_hidden_from_conversation": True} if hidden else {"model_slug": "gpt-4o"},
            "recipient": "all",
            "channel": None,
        },
        "parent": parent,
        "children": [],
    }
    nodes[parent]["children"].append(node)
    return node


def _id(chance: random.Random) -> str:
    return str(uuid.UUID(int=chance.getrandbits(128), version=4))


if __name__ == "__main__":
    print(write(Path(sys.argv[2]), int(float(sys.argv[1]) * 1_000_000)), "conversations")
