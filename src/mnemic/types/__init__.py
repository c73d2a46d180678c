"""What memory is made of: frozen values, no behaviour beyond what their fields imply.

Names follow HERO (arXiv 2608.22310): a *trace* v_t is a packed run of dialogue and the only evidence, a
*unit* v_u one sentence, a *cue* v_c a normalised entity or key phrase, a *note* v_p a statement about someone.
"""

from mnemic.types.found import Answer, Evidence, FoundNote, SearchResult, Step, Sufficiency
from mnemic.types.kept import (
    CueMention,
    Episode,
    Interval,
    Note,
    Operation,
    Part,
    Scope,
    Span,
    Task,
    TimePhrase,
    Trace,
    Turn,
    Unit,
)
from mnemic.types.names import (
    STATUSES,
    Action,
    Granularity,
    Json,
    Metadata,
    Mode,
    NoteKind,
    NoteStatus,
    PartKind,
    Purpose,
    Role,
    WorkKind,
    WorkState,
)
from mnemic.types.sizes import Added, Counts, Enrichment, FailedWork, Status, Thresholds

__all__ = [
    "STATUSES",
    "Action",
    "Added",
    "Answer",
    "Counts",
    "CueMention",
    "Enrichment",
    "Episode",
    "Evidence",
    "FailedWork",
    "FoundNote",
    "Granularity",
    "Interval",
    "Json",
    "Metadata",
    "Mode",
    "Note",
    "NoteKind",
    "NoteStatus",
    "Operation",
    "Part",
    "PartKind",
    "Purpose",
    "Role",
    "Scope",
    "SearchResult",
    "Span",
    "Status",
    "Step",
    "Sufficiency",
    "Task",
    "Thresholds",
    "TimePhrase",
    "Trace",
    "Turn",
    "Unit",
    "WorkKind",
    "WorkState",
]
