"""Whole documents, from an application's own place or out of a store's chunks."""

from oprag.documents.annotation import SourcePart, annotate_chunks, replace_positions
from oprag.documents.entries import check_entries
from oprag.documents.folders import count_files, read_folder
from oprag.documents.foreign_chunks import ForeignChunks
from oprag.documents.sources import (
    DocumentSource,
    SourceLike,
    check_text,
    document_source,
    exact_text,
    not_found,
    refuse_strangers,
)
from oprag.documents.store_source import StoreSource
from oprag.documents.whole_text import group_by_version, rebuild

__all__ = [
    "DocumentSource",
    "ForeignChunks",
    "SourceLike",
    "SourcePart",
    "StoreSource",
    "annotate_chunks",
    "check_entries",
    "check_text",
    "count_files",
    "document_source",
    "exact_text",
    "group_by_version",
    "not_found",
    "read_folder",
    "rebuild",
    "refuse_strangers",
    "replace_positions",
]
