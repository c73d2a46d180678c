"""A-MEM-style notes (Xu et al. 2025, arXiv:2502.12110; methods.md section 3), written anew for the benchmark.

One note a turn, with keywords, context and tags that a language model writes. Each new note is shown to it with its
nearest neighbours among the older ones, and it says which belong together and how the older ones read now. The index
text is the turn's words with all of these; a search returns the nearest notes, each with those that it is linked to
behind it.

Three things differ from the authors' program: the question is searched as it was asked, without a call for its
keywords; the embedder is the one of all systems; and what a note was before it was rewritten is kept, so that a
question about a part of a history (PersonaMem) sees the notes as they were then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from mnemic.bench.cost import Stopwatch, TimedEmbedder
from mnemic.bench.generated.amem_prompts import Description, describing, description, evolution, linking
from mnemic.bench.generated.model import MemoryModel, fingerprint
from mnemic.bench.records import Built, Found, Level, Question
from mnemic.bench.systems.documents import TEXT, Documents, documents
from mnemic.types import Json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mnemic.importers import Conversation

    Floats = NDArray[np.float32]

NAME: Final = "a-mem"
NEIGHBOURS: Final = 5
"""A-MEM's own."""
_NEVER: Final = 1 << 60


@dataclass(slots=True)
class _Version:
    """A note as it read from one turn on until another.

    Attributes:
        note: Place of its turn.
        born: Place of the turn whose coming made it so.
        died: Place of the turn whose coming made it read otherwise.
    """

    note: int
    description: Description
    vector: Floats
    born: int
    died: int = _NEVER


@dataclass(slots=True)
class _Notes:
    """The notes of one user.

    Attributes:
        held: Its turns, a note each.
        versions: Of all notes, in the order in which they were made.
        current: Place of a note -> its version of now.
        links: Place of a note -> places of older notes.
    """

    held: Documents
    versions: list[_Version] = field(default_factory=list[_Version])
    current: list[_Version] = field(default_factory=list[_Version])
    links: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    _seen: dict[int, tuple[list[_Version], Floats]] = field(default_factory=dict[int, "tuple[list[_Version], Floats]"])

    def text(self, place: int, written: Description) -> str:
        """What is embedded."""
        return "\n".join((self.held.texts[place], *written.lines))

    def shown(self, place: int, written: Description) -> str:
        """What a reader sees, and the model when it links: no line of the turn begins as the first one does."""
        return "\n".join((self.held.hits[place].text, *(f"  {line}" for line in written.lines)))

    def at(self, visible: int) -> tuple[list[_Version], Floats]:
        """Place of a note -> how it read when so many turns had come, and (visible, dim) their vectors."""
        if visible not in self._seen:
            then = sorted((one for one in self.versions if one.born < visible <= one.died), key=lambda one: one.note)
            self._seen[visible] = then, _stacked(then)
        return self._seen[visible]


class AMem:
    """Notes that a language model writes, one a turn.

    Args:
        embedder: The one of all systems.
        model: Writes the notes.
    """

    name = NAME
    levels: tuple[Level, ...] = ("turn",)

    def __init__(self, embedder: TimedEmbedder, model: MemoryModel) -> None:
        self._embedder = embedder
        self._model = model
        self._users: dict[str, _Notes] = {}

    @property
    def configuration(self) -> Mapping[str, Json]:
        """How notes are made, and by whom."""
        return {
            "system": self.name,
            "method": "A-MEM's notes, links and evolution (arXiv:2502.12110), written anew",
            "text": f"{TEXT}; context, keywords and tags",
            "neighbours": NEIGHBOURS,
            "question": "as asked, without a call for its keywords",
            "returned": "the nearest notes, each with the notes that it is linked to behind it",
            "model": self._model.name,
            "prompts": {"notes": fingerprint(describing("")), "links": fingerprint(linking("", [""]))},
            "embedder": self._embedder.name,
            "fingerprint": self._embedder.fingerprint,
        }

    def load(self, user_id: str, conversations: Sequence[Conversation]) -> Built:
        """Write a note on each turn, in order.

        Raises:
            LanguageModelFailed: No reply came, or the memory took its limit of tokens.
        """
        self._model.begin()
        embedding = self._embedder.cpu_s
        with Stopwatch() as watch:
            notes = _Notes(documents(conversations, "turn"))
            for place in range(len(notes.held.hits)):
                self._add(notes, place)
        self._users[user_id] = notes
        counts = {
            "turns": len(notes.current),
            "notes": len(notes.current),
            "links": sum(map(len, notes.links)),
            "rewritten": len(notes.versions) - len(notes.current),
        }
        embedding = self._embedder.cpu_s - embedding
        return Built(watch.wall_s, watch.cpu_s, embedding_cpu_s=embedding, counts=counts, usage=self._model.usage)

    def search(self, question: Question, *, top_k: int, level: Level) -> Found:
        """The nearest notes and behind each its linked ones, each note once; ``relevance`` is the best cosine."""
        import numpy as np

        notes = self._users[question.user_id]
        versions, vectors = notes.at(notes.held.visible(question.end))
        if not versions:
            return Found(())
        embedding = self._embedder.cpu_s
        with Stopwatch() as watch:
            scores = vectors @ self._embedder.embed([question.text], kind="query")[0]
            best: list[int] = np.argsort(-scores, kind="stable")[:top_k].tolist()
            places = list(dict.fromkeys(place for near in best for place in (near, *notes.links[near])))[:top_k]
        hits = [
            replace(notes.held.hits[place], text=notes.shown(place, versions[place].description)) for place in places
        ]
        return Found(
            tuple(hits),
            relevance=float(scores.max()),
            wall_ms=watch.wall_s * 1000,
            cpu_ms=watch.cpu_s * 1000,
            embedding_cpu_ms=(self._embedder.cpu_s - embedding) * 1000,
        )

    def close(self) -> None:
        """Forget everything; the replies stay on disk."""
        self._users.clear()
        self._model.close()

    def _add(self, notes: _Notes, place: int) -> None:
        """Write the note on one turn. Where a reply cannot be read the turn is kept without what it should say."""
        written = description(self._model.ask(describing(notes.held.hits[place].text)))
        if written is None:
            self._model.unreadable("notes")
            written = Description()
        vector = self._embed(notes, place, written)
        linked: tuple[int, ...] = ()
        if near := self._neighbours(notes, vector):
            shown = [notes.shown(one, notes.current[one].description) for one in near]
            evolved = evolution(self._model.ask(linking(notes.shown(place, written), shown)), len(near))
            if evolved is None:
                self._model.unreadable("links")
            else:
                linked = tuple(near[number] for number in evolved.links)
                if evolved.tags is not None and evolved.tags != written.tags:
                    written = replace(written, tags=evolved.tags)
                    vector = self._embed(notes, place, written)
                for number, (context, tags) in evolved.rewritten.items():
                    self._rewrite(notes, near[number], context, tags, born=place)
        version = _Version(place, written, vector, born=place)
        notes.versions.append(version)
        notes.current.append(version)
        notes.links.append(linked)

    def _rewrite(self, notes: _Notes, place: int, context: str, tags: tuple[str, ...], *, born: int) -> None:
        """Let an older note read otherwise from now on, where that is so; what is empty stays."""
        old = notes.current[place]
        written = replace(
            old.description, context=context or old.description.context, tags=tags or old.description.tags
        )
        if written == old.description:
            return
        old.died = born
        notes.current[place] = _Version(place, written, self._embed(notes, place, written), born)
        notes.versions.append(notes.current[place])

    def _neighbours(self, notes: _Notes, vector: Floats) -> list[int]:
        """Places of the nearest older notes, nearest first."""
        import numpy as np

        if not notes.current:
            return []
        scores = _stacked(notes.current) @ vector
        return np.argsort(-scores, kind="stable")[:NEIGHBOURS].tolist()

    def _embed(self, notes: _Notes, place: int, written: Description) -> Floats:
        """(dim,)."""
        return self._embedder.embed([notes.text(place, written)])[0]


def _stacked(versions: Sequence[_Version]) -> Floats:
    """(n, dim) vectors."""
    import numpy as np

    return np.array([one.vector for one in versions], np.float32)
