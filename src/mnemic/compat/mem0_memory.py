"""mem0's ``Memory`` over a memory of mnemic: see ``compat.mem0``."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, Self, cast

from mnemic.algo.filters import compile_filter
from mnemic.compat import mem0_arguments as arguments
from mnemic.compat import mem0_filters
from mnemic.compat import mem0_shapes as shapes
from mnemic.compat.mem0_shapes import Change, Event, Events, Item, Items, Told
from mnemic.errors import InvalidInput, InvalidQuery, NotFound
from mnemic.memory import Memory as Words
from mnemic.types import Json, Scope, Turn

_log = logging.getLogger("mnemic")
_OURS: Final = "mnemic"
_UNSET: Final = object()
_UPDATED: Final[Told] = {"message": "Memory updated successfully!"}
_DELETED: Final[Told] = {"message": "Memory deleted successfully!"}
_ALL_DELETED: Final[Told] = {"message": "Memories deleted successfully!"}


class Memory:
    """mem0's ``Memory``.

    Args:
        config: None for ``memory.db`` with the defaults of ``mnemic.Memory.open``; an opened ``mnemic.Memory``; or a
            mapping whose entry ``mnemic`` has the arguments of ``open``, as ``{"mnemic": {"database": "ana.db"}}``.
            What else a configuration of mem0 says, of vector stores and models, has no use here and is logged.
    """

    def __init__(self, config: Words | Mapping[str, object] | None = None) -> None:
        if isinstance(config, Words):
            self.memory = config
            return
        given = dict(config or {})
        options = cast(dict[str, Any], given.pop(_OURS, None) or {})
        if given:
            _log.warning("of a configuration of mem0, %s has no use; mnemic's own stands under 'mnemic'", list(given))
        self.memory = Words.open(**options)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, object]) -> Self:
        """One with a configuration: see the class."""
        return cls(config_dict)

    def add(
        self,
        messages: arguments.Messages,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, object] | None = None,
        timestamp: object = None,
        expiration_date: object = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> Events:
        """Store messages; system messages are left out, as mem0 does. ``infer`` and ``prompt`` change nothing.

        Raises:
            InvalidInput: A ValueError; names the argument.
        """
        whose = shapes.scope({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        if memory_type is not None:
            raise InvalidInput(f"memory_type {memory_type!r} is not supported: a memory is what was said")
        common = shapes.own(
            {key: value for key, value in arguments.metadata(metadata).items() if key not in shapes.IDENTITIES}
        )
        if (expires := shapes.day(expiration_date)) is not None:
            common[shapes.EXPIRES] = expires
        sent = [arguments.sent(message, common) for message in arguments.listed(messages) if arguments.is_said(message)]
        if not sent:
            return {"results": []}
        added = self.memory.add(
            sent,
            user_id=whose.user_id,
            agent_id=whose.agent_id,
            session_id=whose.session_id,
            timestamp=cast(datetime | None, timestamp) or datetime.now(UTC),
        )
        return {"results": [self._event(whose.user_id, turn_id) for turn_id in added.turn_ids]}

    def get(self, memory_id: str) -> Item | None:
        """A memory by its id; None where there is none."""
        found = self._versions(memory_id)
        return shapes.item(_user(memory_id), found[0], found[-1]) if found else None

    def get_all(
        self,
        *,
        filters: Mapping[str, object] | None = None,
        top_k: int = 20,
        show_expired: bool = False,
        **kwargs: object,
    ) -> Items:
        """Memories in the order in which they were said, ``top_k`` at most.

        Args:
            filters: ``user_id``, ``agent_id``, ``run_id``, and conditions on metadata.
            top_k: At most so many.
            show_expired: Whether what has expired is listed.
            kwargs: As mem0 1.x had it: ``user_id``, ``agent_id``, ``run_id``, and ``limit`` for ``top_k``.

        Raises:
            InvalidInput: A ValueError; nobody is named, or an argument cannot be used.
        """
        filters, top_k = arguments.earlier(kwargs, filters, top_k)
        whose, wanted = self._wanted(filters, show_expired=show_expired)
        passes = compile_filter(wanted)
        turns = [turn for turn in self._turns(whose) if passes(turn.metadata)][:top_k]
        results = [self._item(whose.user_id, turn) for turn in turns]
        for one in results:
            one.pop("score", None)
        return {"results": results}

    def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: Mapping[str, object] | None = None,
        threshold: float | None = 0.1,
        rerank: bool = False,
        explain: bool = False,
        reference_date: object = None,
        show_expired: bool = False,
        **kwargs: object,
    ) -> Items:
        """The memories that matter to a query, best first.

        Args:
            query: In plain words.
            top_k: At most so many; 0 for none.
            filters: ``user_id``, ``agent_id``, ``run_id``, and conditions on metadata.
            threshold: The least score: what all signals together give, at most 1; it compares within one search. (The
                probabilities of ``Memory.search`` would let far less through the threshold that mem0 has by default.)
            rerank: By the words' meaning in each other's company, offline; some 25 ms a result.
            explain: Add ``score_details``: what each signal contributes.
            reference_date: What "yesterday" in the query counts from.
            show_expired: Whether what has expired is found.
            kwargs: As for ``get_all``.

        Raises:
            InvalidInput: A ValueError; names the argument.
        """
        filters, top_k = arguments.earlier(kwargs, filters, top_k)
        whose, wanted = self._wanted(filters, show_expired=show_expired)
        if threshold is not None and not 0 <= threshold <= 1:
            raise InvalidQuery(f"threshold must be between 0 and 1, not {threshold}")
        if top_k == 0:
            return {"results": []}
        found = self.memory.search(
            query,
            user_id=whose.user_id,
            agent_id=whose.agent_id,
            session_id=whose.session_id,
            top_k=top_k,
            filters=wanted,
            reference_time=cast(datetime | None, reference_date),
            granularity="turn",
            rerank="late-interaction" if rerank else None,
        )
        results: list[Item] = []
        for hit in found.results:
            score = sum(hit.signals.values())
            if threshold is not None and score < threshold:
                continue
            one = self._item(whose.user_id, self._turn(whose.user_id, hit.turn_ids[0]))
            one["score"] = score
            if explain:
                one["score_details"] = dict(hit.signals)
            results.append(one)
        return {"results": results}

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, object] | None = None,
        expiration_date: object = _UNSET,
        data: str | None = None,
    ) -> Told:
        """Replace a memory's text by a further message, which hides it, or add to its metadata.

        Raises:
            InvalidInput: A ValueError; there is no such memory, or nothing to update.
        """
        words = data if text is None else text
        if words is None and metadata is None and expiration_date is _UNSET:
            raise InvalidInput("At least one of text, metadata, or expiration_date must be provided.")
        versions = self._versions(memory_id)
        if not versions:
            raise shapes.not_found(memory_id)
        user_id, last = _user(memory_id), versions[-1]
        changed = {key: value for key, value in arguments.metadata(metadata).items() if key not in shapes.IDENTITIES}
        kept = {**last.metadata, **shapes.own(changed)}
        if expiration_date is not _UNSET:
            kept.pop(shapes.EXPIRES, None)
            if (expires := shapes.day(expiration_date)) is not None:
                kept[shapes.EXPIRES] = expires
        if words is None or words == last.text:
            self.memory.update(last.turn_id, user_id=user_id, metadata=kept)
            return _UPDATED
        said = {
            "role": last.role,
            "content": words,
            "name": shapes.actor(last),
            "timestamp": datetime.now(UTC),
            "metadata": {**kept, shapes.VERSIONS: {"of": versions[0].turn_id}},
        }
        [turn_id] = self.memory.add(said, user_id=user_id, session_id=last.session_id, agent_id=last.agent_id).turn_ids
        hidden = {**last.metadata, shapes.VERSIONS: {**shapes.links(last), "by": turn_id}}
        self.memory.update(last.turn_id, user_id=user_id, metadata=hidden)
        return _UPDATED

    def delete(self, memory_id: str) -> Told:
        """Erase a memory, all of its versions, and all that was derived from them alone.

        Raises:
            InvalidInput: A ValueError; there is no such memory.
        """
        versions = self._versions(memory_id)
        if not versions:
            raise shapes.not_found(memory_id)
        for turn in reversed(versions):
            self.memory.delete(user_id=_user(memory_id), turn_id=turn.turn_id)
        return _DELETED

    def delete_all(self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None) -> Told:
        """Erase all memories of a user, or what of them was said to an agent or in a run.

        Raises:
            InvalidInput: A ValueError; nobody is named.
        """
        whose = shapes.scope({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        if whose.agent_id is None and whose.session_id is None:
            self.memory.delete_all(user_id=whose.user_id)
            return _ALL_DELETED
        for turn in self._turns(whose):
            self.memory.delete(user_id=whose.user_id, turn_id=turn.turn_id)
        return _ALL_DELETED

    def history(self, memory_id: str) -> list[Change]:
        """The versions of a memory's text, oldest first; none of one that was deleted: its words are gone."""
        versions = self._versions(memory_id)
        earlier: list[Turn | None] = [None, *versions]
        return [
            {
                "id": turn.turn_id,
                "memory_id": memory_id,
                "old_memory": None if before is None else before.text,
                "new_memory": turn.text,
                "event": "ADD" if before is None else "UPDATE",
                "created_at": shapes.moment(versions[0].timestamp or versions[0].recorded_at),
                "updated_at": shapes.moment(turn.timestamp or turn.recorded_at),
                "is_deleted": False,
                "actor_id": shapes.actor(turn),
                "role": turn.role,
            }
            for before, turn in zip(earlier, versions, strict=False)
        ]

    def reset(self) -> None:
        """Erase everything of everybody in the database."""
        for user_id in self.memory.users():
            self.memory.delete_all(user_id=user_id)

    def close(self) -> None:
        """Close the database; twice is allowed."""
        self.memory.close()

    def chat(self, query: str) -> None:
        """As in mem0, there is no such thing. Raises NotImplementedError."""
        raise NotImplementedError("use mnemic.Memory.answer")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _wanted(self, filters: Mapping[str, object] | None, *, show_expired: bool) -> tuple[Scope, dict[str, Json]]:
        identities, rest = mem0_filters.split(filters)
        whose = shapes.scope(identities)
        return whose, mem0_filters.counting(rest, show_expired=show_expired, today=datetime.now(UTC).date())

    def _turns(self, whose: Scope) -> list[Turn]:
        return self.memory.get_all(user_id=whose.user_id, agent_id=whose.agent_id, session_id=whose.session_id)

    def _turn(self, user_id: str, turn_id: str) -> Turn:
        found = self.memory.get(turn_id, user_id=user_id)
        if not isinstance(found, Turn):
            raise NotFound(f"user {user_id!r} has no turn {turn_id!r}")
        return found

    def _versions(self, memory_id: str) -> list[Turn]:
        """A memory's versions, oldest first; none where there is none."""
        found: list[Turn] = []
        try:
            user_id, turn_id = shapes.taken_apart(memory_id)
            following: Json = turn_id
            while isinstance(following, str):
                found.append(self._turn(user_id, following))
                following = shapes.links(found[-1]).get("by")
        except (NotFound, InvalidInput):
            pass  # it is not there, or its last version was erased some other way
        return found

    def _item(self, user_id: str, last: Turn) -> Item:
        first = shapes.links(last).get("of")
        return shapes.item(user_id, self._turn(user_id, first) if isinstance(first, str) else last, last)

    def _event(self, user_id: str, turn_id: str) -> Event:
        turn = self._turn(user_id, turn_id)
        return {
            "id": shapes.memory_id(user_id, turn_id),
            "memory": turn.text,
            "event": "ADD",
            "actor_id": shapes.actor(turn),
            "role": turn.role,
        }


def _user(memory_id: str) -> str:
    return shapes.taken_apart(memory_id)[0]
