"""Full texts from where LlamaIndex applications keep them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.indices.base import BaseIndex
from llama_index.core.schema import BaseNode, Document, MetadataMode
from llama_index.core.storage.docstore.types import BaseDocumentStore, RefDocInfo
from llama_index.core.vector_stores.types import BasePydanticVectorStore

from oprag.errors import DocumentNotFoundError, InvalidOptionError
from oprag.sources import DocumentSource, not_found
from oprag.sources import document_source as core_source

__all__ = ["SourceLike", "document_source"]

_KEEP_ORIGINALS = (
    "Keep the full documents: run an IngestionPipeline with docstore=, or call "
    "docstore.add_documents(documents), and give that docstore; or give the texts as "
    "a mapping, a function or a folder."
)

SourceLike: TypeAlias = (
    DocumentSource
    | Mapping[str, str]
    | Callable[[str], str | None]
    | Callable[[str], Awaitable[str | None]]
    | BaseDocumentStore
    | BaseIndex[Any]
    | str
    | Path
)
"""What `document_source` takes."""


def document_source(documents: SourceLike) -> DocumentSource:
    """Make a source of full texts out of whatever holds them.

    Args:
        documents: A docstore that holds the original `Document`s by their ids (an
            `IngestionPipeline` with `docstore=` fills one, as does
            `docstore.add_documents`), or an index that has such a docstore; or
            anything that `oprag.sources.document_source` takes: a mapping from
            names to texts, a function, plain or `async`, or a folder.

    Returns:
        The source: `get(name)` and `aget(name)` give the whole text of a document,
        or raise `DocumentNotFoundError`. Nothing is read yet. Of a docstore that
        holds chunks only, as that of a `VectorStoreIndex` usually does, no
        document is put together: it counts as not having it.

    Raises:
        InvalidOptionError: `documents` is none of these.

    Example:
        >>> document_source({"a.txt": "all of it"}).get("a.txt")
        'all of it'
    """
    if isinstance(documents, BaseIndex):
        documents = documents.docstore
    if isinstance(documents, BaseDocumentStore):
        return _DocstoreSource(documents)
    if isinstance(documents, (BasePydanticVectorStore, BaseRetriever)):
        message = (
            f"documents={type(documents).__name__} gives chunks, not full texts. "
            f"{_KEEP_ORIGINALS}"
        )
        raise InvalidOptionError(message, option="documents", value=documents)
    return core_source(documents)


class _DocstoreSource(DocumentSource):
    def __init__(self, docstore: BaseDocumentStore) -> None:
        self._docstore = docstore

    def get(self, document_id: str) -> str:
        found = self._docstore.get_document(document_id, raise_error=False)
        if isinstance(found, Document):
            return _text(found)
        info = self._docstore.get_ref_doc_info(document_id)
        raise self._missing(document_id, found, info)

    async def aget(self, document_id: str) -> str:
        found = await self._docstore.aget_document(document_id, raise_error=False)
        if isinstance(found, Document):
            return _text(found)
        info = await self._docstore.aget_ref_doc_info(document_id)
        raise self._missing(document_id, found, info)

    def _missing(
        self, document_id: str, found: BaseNode | None, info: RefDocInfo | None
    ) -> DocumentNotFoundError:
        if found is None and info is None:
            return not_found(document_id, f"the {type(self._docstore).__name__}")
        what = "a chunk by this name" if info is None else "its chunks"
        message = (
            f"The {type(self._docstore).__name__} holds {what} and not the full text "
            f"of document {document_id!r}. {_KEEP_ORIGINALS}"
        )
        return DocumentNotFoundError(message, document=document_id)


def _text(document: Document) -> str:
    return document.get_content(metadata_mode=MetadataMode.NONE)
