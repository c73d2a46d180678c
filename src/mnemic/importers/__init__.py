"""Reads conversations from files, and puts them into a memory.

One module a format; ``read`` opens a file of any of them, ``read_folder`` a folder of such files. What cannot be
read is never dropped silently: it comes out as ``Skipped``, with its reason and place.
"""

from mnemic.importers.detect import Format
from mnemic.importers.folder import Folder, open_source, read_folder
from mnemic.importers.load import load, survey
from mnemic.importers.records import Conversation, Derived, Exported, Message, Noted, Notice, Record, Skipped
from mnemic.importers.report import Report
from mnemic.importers.source import FORMATS, Source, read
from mnemic.importers.table import columns

__all__ = [
    "FORMATS",
    "Conversation",
    "Derived",
    "Exported",
    "Folder",
    "Format",
    "Message",
    "Noted",
    "Notice",
    "Record",
    "Report",
    "Skipped",
    "Source",
    "columns",
    "load",
    "open_source",
    "read",
    "read_folder",
    "survey",
]
