"""Full texts from where LlamaIndex applications keep them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from llama_index.core.indices.base import BaseIndex
from llama_index.core.schema import Document
from llama_index.core.storage.docstore.types import BaseDocumentStore
from llama_index.core.vector_stores.types import BasePydanticVectorStore

from llamaindex_oprag._nodes import text_of
from llamaindex_oprag.stores import chunk_store
from oprag.chunk import FullText, Hit
from oprag.documents import DocumentSource, StoreSource
from oprag.documents import SourceLike as CoreSourceLike
from oprag.documents import document_source as core_source
from oprag.errors import DocumentNotFoundError
from oprag.positions import document_name, identify_document
from oprag.stores import ChunkStore, SearchFilter

SourceLike: TypeAlias = (
    CoreSourceLike
    | BaseDocumentStore
    | BaseIndex[Any]
    | BasePydanticVectorStore
    | ChunkStore
    | Sequence[Document]
)
"""Sources that `document_source` accepts."""


def document_source(documents: SourceLike, *, exact: bool = True) -> DocumentSource:
    """Make a source of full texts out of whatever holds them.

    Args:
        documents: An index, a docstore, or a vector store that keeps texts
            (`ChromaVectorStore`, `QdrantVectorStore`, `PGVectorStore`); the list of
            `Document`s before they were parsed; or anything that
            `oprag.documents.document_source` takes: a mapping from names to texts, a
            function, plain or `async`, or a folder.
        exact: For an index or a store: whether only the exact text of a document will
            do. With False, white space may differ if another parser dropped it; see
            `oprag.documents.rebuild`. Then `read(name)` and `aread(name)` say of
            each text whether it is exact, and so does a Self-Route that reads it.

    Returns:
        The source: `get(name)` and `aget(name)` give the whole text of a document.
        Nothing is read yet.

        If a docstore holds the original `Document` by this id or name (an
        `IngestionPipeline` with `docstore=` fills one, as does
        `docstore.add_documents`), `get` returns that. Else the document is put together
        from the chunks of the store, if oprag's metadata is on them, and verified;
        `get` then raises the errors of `StoreSource.get`.

    Raises:
        InvalidOptionError: `documents` is none of these, or a store whose chunks
            cannot be read: one that keeps vectors only, or one that is not known.

    Example:
        >>> document_source({"a.txt": "all of it"}).get("a.txt")
        'all of it'
    """
    docstore = documents.docstore if isinstance(documents, BaseIndex) else documents
    if isinstance(docstore, BaseDocumentStore):
        return _IndexSource(docstore, chunk_store(documents), exact=exact)  # type: ignore[arg-type]  # of either
    if isinstance(documents, (BasePydanticVectorStore, ChunkStore)):
        return StoreSource(chunk_store(documents), exact=exact)
    return core_source(documents)  # type: ignore[arg-type]  # it checks the rest itself


def source_or_none(documents: SourceLike | None) -> DocumentSource | None:
    """Return the source of an option `documents=`; None if it is not given."""
    return None if documents is None else document_source(documents)


class _IndexSource(DocumentSource):
    """Full documents of a docstore, or else put together from chunks."""

    def __init__(
        self, docstore: BaseDocumentStore, chunks: ChunkStore, *, exact: bool
    ) -> None:
        self._docstore = docstore
        self._chunks = StoreSource(chunks, exact=exact)

    def read(self, document_id: str) -> FullText:
        found = self._docstore.get_document(document_id, raise_error=False)
        if isinstance(found, Document):
            return FullText(text_of(found))
        try:
            return self._chunks.read(document_id)
        except DocumentNotFoundError as error:
            return self._find_named(document_id, error)

    async def aread(self, document_id: str) -> FullText:
        found = await self._docstore.aget_document(document_id, raise_error=False)
        if isinstance(found, Document):
            return FullText(text_of(found))
        try:
            return await self._chunks.aread(document_id)
        except DocumentNotFoundError as error:
            return await asyncio.to_thread(self._find_named, document_id, error)

    def called(self) -> Mapping[str, str]:
        """Return the full names of the whole documents and of the chunks' documents."""
        names = {}
        for each in self._documents():
            name = document_name(each.metadata) or each.node_id
            known = identify_document(Hit("", each.metadata, document=name))
            names[name] = known[1] if known else name
        return {**names, **self._chunks.called()}

    def within(self, search: SearchFilter) -> DocumentSource:
        """Return only the chunks for a filtered search: a `Document` has all text."""
        return self if search == SearchFilter() else self._chunks.within(search)

    def _documents(self) -> list[Document]:
        nodes = [*self._docstore.docs.values()]
        return [node for node in nodes if isinstance(node, Document)]

    def _find_named(self, name: str, error: DocumentNotFoundError) -> FullText:
        """Return the one document that has this name in its metadata."""
        whole = self._documents()
        named = [each for each in whole if document_name(each.metadata) == name]
        if len(named) != 1:
            raise error
        return FullText(text_of(named[0]))
