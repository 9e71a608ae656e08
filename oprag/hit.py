"""`Hit`: what an adapter hands to the core for one retrieved framework object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

__all__ = ["Hit", "OffsetFrame"]

OffsetFrame = Literal["document", "parent", "last", "only"]
"""What the framework's own offsets are relative to.

`"document"`: the document, as far as the object tells. `"parent"`: some other
object, so they say nothing here. `"last"`: the document, if this is its last
chunk, which at most one chunk can be. `"only"`: the document, if this is its one
chunk, or if neighbours are not recorded at all (see `llamaindex_oprag`).
"""


class Hit(NamedTuple):
    """One retrieved object, before anything is known of its position.

    Hits are given best first; a hit's index in the list is its rank.
    """

    text: str
    """The text that stands at the position."""
    metadata: Mapping[str, Any]
    """Its metadata; read, never written."""
    source: Any = None
    """The object to hand back when the text stays as it is."""
    subject: Any = None
    """What the user's callables and attribute names are applied to."""
    score: float | None = None
    """As the retriever reported it."""
    document: str | None = None
    """The document's id where the framework keeps it outside the metadata."""
    offsets: tuple[int | None, int | None] | None = None
    """Start and end character where the framework keeps them outside the
    metadata."""
    frame: OffsetFrame = "document"
    """What `offsets` are relative to."""
