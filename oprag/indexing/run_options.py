"""The options of a run: how a store is brought up to date."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, TypedDict

from oprag.errors import invalid_option
from oprag.indexing.plan import Replace

RemoveMissing: TypeAlias = bool | Literal["all"]
"""Whether documents that are not given are deleted; all of them if need be."""


class RunKeywords(TypedDict, total=False):
    """The same for type checkers; see `RunOptions`."""

    scope: str
    remove_missing: RemoveMissing
    replace: Replace
    batch_size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a store is brought up to date.

    Raises:
        InvalidOptionError: One has no such value.
    """

    scope: str = ""
    """What `oprag.indexing.source_scope` says: whose documents are given."""
    remove_missing: RemoveMissing = False
    """Also delete what the store holds of documents of this scope that are not given.
    Only chunks with oprag's `doc_key` and `doc_uri` are taken to be of a document.
    More than half of them, those that are empty now among them, only with `"all"`;
    likewise any, while a document that the store holds nothing of failed."""
    replace: Replace = "document"
    """What is replaced of a document that is given."""
    batch_size: int = 256
    """Chunks that are embedded and written at once, at least 1."""

    def __post_init__(self) -> None:
        if type(self.batch_size) is not int or self.batch_size < 1:
            takes = "It takes a whole number of chunks from 1 on."
            raise invalid_option("batch_size", self.batch_size, takes)
        if self.replace not in {"document", "same_settings", "all"}:
            takes = "It takes 'document', 'same_settings' or 'all'."
            raise invalid_option("replace", self.replace, takes)
        if self.remove_missing not in {True, False, "all"}:
            takes = "It takes True, False or 'all'."
            raise invalid_option("remove_missing", self.remove_missing, takes)
