"""LangChain documents as the core indexes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.documents import BaseDocumentTransformer, Document

from langchain_oprag._convert import source_of
from langchain_oprag._splitting import OffsetSplitter
from oprag.indexing import Framework, Piece
from oprag.positions import SourceText


class LangChain(Framework[Document]):
    """How LangChain's documents are read, made and split.

    Args:
        splitter: Any; of other splitters than oprag's the positions are found.
    """

    document_type = Document
    takes = "LangChain Documents"
    reserved = frozenset({"_collection_name", "_id"})  # Qdrant's wrapper writes them

    def __init__(self, splitter: BaseDocumentTransformer) -> None:
        self.splitter: BaseDocumentTransformer = splitter
        self.exact = isinstance(splitter, OffsetSplitter)

    def read(self, document: Document) -> SourceText:
        return source_of(document)

    def make(
        self, text: str, own_id: str, metadata: dict[str, Any], like: Document | None
    ) -> Document:
        return Document(text, metadata=metadata)

    def split(self, documents: Sequence[Document]) -> list[Piece]:
        chunks = self.splitter.transform_documents(documents)
        return [Piece(chunk.page_content, chunk.metadata) for chunk in chunks]
