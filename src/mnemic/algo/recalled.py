"""What a memory said itself, sent back to it: a client puts ``Memory.context`` into a message, and adds the message.

Such words are kept as they came, and found; but nobody said them anew, so no note may rest on them. Otherwise a
statement that was wrong once would come back as its own proof.
"""

from __future__ import annotations

import re
from typing import Final

# As ``retrieve.evidence.block`` writes it. Words inside cannot close it.
_BLOCK: Final = re.compile(r"<memory>\n\[\d+\] session .*?</memory>", re.DOTALL)


def blanked(text: str) -> str:
    """A text with a blank for every character of what a memory said in it, so that places in it stay what they are."""
    return _BLOCK.sub(lambda block: " " * len(block[0]), text) if "<memory>" in text else text
