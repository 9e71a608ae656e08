"""Whole documents: from where an application keeps them, or out of a store's chunks."""

from oprag.documents.annotation import SourcePart, annotate_chunks, replaced
from oprag.documents.entries import check_entries
from oprag.documents.folders import count_files, read_folder
from oprag.documents.foreign_chunks import ForeignChunks
from oprag.documents.sources import (
    DocumentSource,
    SourceLike,
    checked_text,
    document_source,
    exact_text,
    not_found,
    refuse_strangers,
)
from oprag.documents.store_source import StoreSource
from oprag.documents.whole_text import by_version, rebuild

__all__ = [
    "DocumentSource",
    "ForeignChunks",
    "SourceLike",
    "SourcePart",
    "StoreSource",
    "annotate_chunks",
    "by_version",
    "check_entries",
    "checked_text",
    "count_files",
    "document_source",
    "exact_text",
    "not_found",
    "read_folder",
    "rebuild",
    "refuse_strangers",
    "replaced",
]
