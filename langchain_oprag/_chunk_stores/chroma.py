"""Chunks of `langchain_chroma.Chroma`, embedded or on a server."""

from __future__ import annotations

from typing import Any

from oprag.stores import ChromaChunks as _ChromaChunks


class ChromaChunks(_ChromaChunks):
    """Reads the collection that the store holds."""

    def __init__(self, store: Any) -> None:
        super().__init__(store._collection)  # noqa: SLF001 -- nothing public gives it
