"""Full texts from where LangChain applications keep them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from langchain_core.documents import Document
from langchain_core.stores import BaseStore
from langchain_core.vectorstores import VectorStore

from langchain_oprag.stores import chunk_store
from oprag.chunk import FullText
from oprag.documents import DocumentSource, StoreSource, check_text
from oprag.documents import SourceLike as CoreSourceLike
from oprag.documents import document_source as core_source
from oprag.stores import ChunkStore

SourceLike: TypeAlias = (
    CoreSourceLike | BaseStore[str, Any] | VectorStore | ChunkStore | Sequence[Document]
)
"""Sources that `document_source` accepts."""


def document_source(documents: SourceLike, *, exact: bool = True) -> DocumentSource:
    """Make a source of full texts out of whatever holds them.

    Args:
        documents: A `BaseStore` (an `InMemoryStore`, a docstore made by
            `create_kv_docstore`, a `LocalFileStore`) whose keys are the documents'
            names and whose values are texts, `Document`s, or UTF-8 bytes; a vector
            store that `langchain_oprag.chunk_store` can read, each document of it
            put together from its chunks; the list of `Document`s before they were
            split; or anything that `oprag.documents.document_source` takes: a mapping
            from names to texts, a function, plain or `async`, or a folder.
        exact: For a vector store: whether only the exact text of a document will do.
            With False, white space may differ if another splitter dropped it; see
            `oprag.documents.rebuild`. Then `read(name)` and `aread(name)` say of
            each text whether it is exact, and so does a Self-Route that reads it.

    Returns:
        The source: `get(name)` and `aget(name)` give the whole text of a document,
        or raise `DocumentNotFoundError`; for a vector store also the errors of
        `oprag.documents.rebuild`. Nothing is read yet.

    Raises:
        InvalidOptionError: `documents` is none of these, or a vector store that
            cannot give the chunks of a document.

    Example:
        >>> document_source({"a.txt": "all of it"}).get("a.txt")
        'all of it'
    """
    if isinstance(documents, BaseStore):
        return _StoreSource(documents)
    if isinstance(documents, (VectorStore, ChunkStore)):
        return StoreSource(chunk_store(documents), exact=exact)
    return core_source(documents)


class _StoreSource(DocumentSource):
    def __init__(self, store: BaseStore[str, Any]) -> None:
        self._store = store

    def read(self, document_id: str) -> FullText:
        return self._require_text(document_id, self._store.mget([document_id]))

    def names(self) -> Iterable[str]:
        return self._store.yield_keys()

    async def aread(self, document_id: str) -> FullText:
        return self._require_text(document_id, await self._store.amget([document_id]))

    def _require_text(self, document_id: str, found: list[Any]) -> FullText:
        value = found[0] if found else None
        where = f"the {type(self._store).__name__}"
        if isinstance(value, Document):
            value = value.page_content
        if isinstance(value, bytes):
            with suppress(UnicodeDecodeError):  # else they are no text
                value = value.decode("utf-8")
        return check_text(document_id, value, where)
