"""Every error mnemic raises on purpose. Each message names the object concerned and says what to do.

MnemicError
|- InvalidInput (ValueError)      what the caller gave cannot be used; nothing was stored
|  |- InvalidMessage              a message, its role, content, id or timestamp
|  |- InvalidScope                a missing or empty user, agent or session id
|  |- InvalidQuery                a query, top_k, threshold, configuration name
|  |- InvalidFilter               the filter language
|  |- UndoConflict                what is to be undone has changed since
|  `- InvalidFile                 a file to import, or one line of it
|- NotFound (LookupError)         no such turn, session, note or user in this scope
|- ImmutableWords                 somebody tried to change what was said
|- AccessDenied                   who asks may not
|  |- KeyRefused                  no key, or none that is good
|  |- NotAllowed                  a good key, but not for this
|  `- TooManyRequests             the same request may succeed later
|- StoreError                     the database
|  |- StoreLocked                 another process holds it longer than the busy timeout
|  |- StoreUnavailable            its server cannot be reached; the same call may succeed later
|  |- StoreReadOnly               file or folder cannot be written
|  |- StoreFull                   the disk is full; the transaction was rolled back
|  |- StoreCorrupt                not a database, or a damaged one
|  |- StoreNewer                  written by a newer mnemic
|  |- StoreConflict               somebody wrote between plan and write; plan again
|  |- MigrationFailed             the old schema is still in place and usable
|  `- StoreClosed                 used after close()
`- ModelError
   |- EmbedderUnavailable         its files or its extra are missing, or were altered
   |- EmbeddingFailed             it raised, or returned the wrong count, shape or non-numbers
   |- EmbedderMismatch            the database holds another embedder's vectors
   |- RerankingFailed
   |- LanguageModelUnavailable    none is set for what was asked
   |- LanguageModelFailed         it raised, or refused the request
   |  `- LanguageModelBusy         the same request may succeed later
   |- ReplyUnusable               a reply came, and nothing in it is of use
   |- BudgetExceeded              the call was not made
   `- MissingExtra (ImportError)  names the pip command
"""

from __future__ import annotations


class MnemicError(Exception):
    """Root of the tree."""


class InvalidInput(MnemicError, ValueError):
    """What the caller gave cannot be used; nothing was stored."""


class InvalidMessage(InvalidInput):
    """A message, its role, content, id or timestamp."""


class InvalidScope(InvalidInput):
    """A missing or empty user, agent or session id."""


class InvalidQuery(InvalidInput):
    """A query, top_k, threshold or configuration name."""


class InvalidFilter(InvalidInput):
    """A filter expression."""


class UndoConflict(InvalidInput):
    """What is to be undone has changed since; nothing was undone.

    Attributes:
        conflicts: What stands in the way, each with what to undo first; none where its words were erased.
    """

    def __init__(self, message: str, *, conflicts: tuple[str, ...]) -> None:
        super().__init__(message)
        self.conflicts = conflicts


class InvalidFile(InvalidInput):
    """A file to import, or one line of it."""


class NotFound(MnemicError, LookupError):
    """No such turn, session, note or user in this scope."""


class ImmutableWords(MnemicError):
    """Somebody tried to change what was said; a correction is a new note."""


class AccessDenied(MnemicError):
    """Who asks may not."""


class KeyRefused(AccessDenied):
    """No API key was given, or one that is unknown, revoked or expired."""


class NotAllowed(AccessDenied):
    """The API key is good, but has not the scope for what was asked."""


class TooManyRequests(AccessDenied):
    """More requests with one API key, or refused ones from one address, than the server takes.

    Attributes:
        retry_after_s: When one more is taken, in seconds.
    """

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class StoreError(MnemicError):
    """The database."""


class StoreLocked(StoreError):
    """Another process held the database longer than the busy timeout."""


class StoreUnavailable(StoreError):
    """The database's server cannot be reached, longer than a call waits; the same call may succeed later."""


class StoreReadOnly(StoreError):
    """The file or its folder cannot be written."""


class StoreFull(StoreError):
    """The disk is full; the transaction was rolled back."""


class StoreCorrupt(StoreError):
    """Not a database, or a damaged one."""


class StoreNewer(StoreError):
    """Written by a newer mnemic."""


class StoreConflict(StoreError):
    """Somebody wrote between plan and write; nothing was stored, plan again."""


class MigrationFailed(StoreError):
    """A migration did not complete; the old schema is still in place and usable."""


class StoreClosed(StoreError):
    """Used after close()."""


class ModelError(MnemicError):
    """An embedder, extractor, reranker or language model."""


class EmbedderUnavailable(ModelError):
    """The embedder's files or extra are missing, or the files were altered."""


class EmbeddingFailed(ModelError):
    """The embedder raised, or returned the wrong count, shape or non-numbers."""


class EmbedderMismatch(ModelError):
    """The database holds the vectors of another embedder."""


class RerankingFailed(ModelError):
    """The reranker raised, or returned the wrong count."""


class LanguageModelUnavailable(ModelError):
    """No language model is set for what was asked."""


class LanguageModelFailed(ModelError):
    """The language model raised, or refused the request; the same request would fail again.

    Attributes:
        billed: Whether the provider may have worked on the request all the same, and charges for it.
        too_long: Whether a shorter request may succeed.
    """

    def __init__(self, message: str, *, billed: bool = False, too_long: bool = False) -> None:
        super().__init__(message)
        self.billed = billed
        self.too_long = too_long


class LanguageModelBusy(LanguageModelFailed):
    """The same request may succeed later: too many requests, a timeout, a server that fails or cannot be reached.

    Attributes:
        retry_after_s: How long the provider asked to wait, in seconds; None where it did not say.
    """

    def __init__(self, message: str, *, billed: bool = False, retry_after_s: float | None = None) -> None:
        super().__init__(message, billed=billed)
        self.retry_after_s = retry_after_s


class ReplyUnusable(ModelError):
    """A language model replied, and nothing in the reply can be used.

    Attributes:
        failure: Why: one of ``algo.replies.Failure``.
    """

    def __init__(self, message: str, *, failure: str) -> None:
        super().__init__(message)
        self.failure = failure


class BudgetExceeded(ModelError):
    """A budget does not allow the call, which was not made; the message says which, what is spent and the way out.

    Attributes:
        budget: ``call``, ``user_day`` or ``total``.
        unit: ``tokens``, ``calls`` or ``cost``.
        spent, needed, limit: In that unit: what was spent before, what the call may take, and what is allowed.
    """

    def __init__(self, message: str, *, budget: str, unit: str, spent: float, needed: float, limit: float) -> None:
        super().__init__(message)
        self.budget, self.unit = budget, unit
        self.spent, self.needed, self.limit = spent, needed, limit


class MissingExtra(ModelError, ImportError):
    """An optional part is not installed; the message names the pip command."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra '{extra}': pip install 'mnemic[{extra}]'")
