"""One of four replies, as fits a user best: HERO's answer format for PersonaMem (methods.md 1.6).

Which letter a reply chooses is read by the rules of the papers (``bench.answers.letters``), which differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mnemic.prompts.data import DATA, version
from mnemic.prompts.fragments import ALONE, BESIDE, asking
from mnemic.protocols import Completion

_SYSTEM: Final = """\
You are an assistant with a long history with one user. The user says something new, and four replies are offered.

{source}
{data}

Choose the reply that shows that you remember this user rightly:
- What it says about the user's facts and preferences must agree with what was said.
- A personal reply is better than a general one only if its details hold.
- Where a preference changed, the latest one counts.
- Use only what was said, nothing that you suppose about people in general.

Give your reasons in a few sentences. End with a line that has one letter: Answer: (a), (b), (c) or (d)"""

_WITHOUT: Final = """\
You are an assistant. The user says something, and four replies are offered. You know nothing else about this user.

{data}

Choose the reply that is most likely the best one.

Give your reasons in a few sentences. End with a line that has one letter: Answer: (a), (b), (c) or (d)"""

VERSION: Final = version("\n".join((_SYSTEM, _WITHOUT, DATA, ALONE, BESIDE)), None)


def render(
    question: str,
    entries: Sequence[str],
    *,
    beside: Sequence[str] = (),
    asked_on: str | None = None,
    options: Sequence[str] = (),
    max_tokens: int = 1024,
) -> Completion:
    """The request; where no memory found anything it has words of its own."""
    if not entries and not beside:
        user = asking(question, None, asked_on=asked_on, options=options)
        return Completion("answer", _WITHOUT.format(data=DATA), user, max_tokens)
    system = _SYSTEM.format(source=BESIDE if beside else ALONE, data=DATA)
    user = asking(question, entries, beside=beside, asked_on=asked_on, options=options)
    return Completion("answer", system, user, max_tokens)
