"""GPT Researcher reads the passages of each of your documents in document order.

Tried with gpt-researcher 0.15.1. Put this file beside the program that runs GPT
Researcher, and this line into that program:

    import in_document_order

It needs `pip install "oprag[langchain]"`. Without that, and where anything fails here,
GPT Researcher keeps its own order, and its log says why.
"""

import logging
from collections import Counter
from collections.abc import Sequence
from typing import Any

from gpt_researcher.context.compression import ContextCompressor
from gpt_researcher.skills import context_manager
from langchain_core.documents import (
    BaseDocumentCompressor,
    BaseDocumentTransformer,
    Document,
)

_log = logging.getLogger(__name__)
_KEPT = "Passages stay in GPT Researcher's own order."


class Pages(BaseDocumentTransformer):
    """Numbers the texts that were loaded of one file: of a PDF, each page is one."""

    def transform_documents(
        self, documents: Sequence[Document], **kwargs: Any
    ) -> Sequence[Document]:
        """Write the numbers."""
        pages: Counter[Any] = Counter()
        for document in documents:
            file = document.metadata.get("source")
            document.metadata["page"] = pages[file]
            pages[file] += 1
        return documents


class DocumentOrder(BaseDocumentCompressor):
    """Keeps the best passages, in the order of their documents, each with its place."""

    top_n: int

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Any = None
    ) -> Sequence[Document]:
        """Put passages in order that come best first; after any problem, leave them."""
        try:
            from langchain_oprag import order_documents
            from oprag import place_of

            found = order_documents(documents, top_n=self.top_n)
        except Exception:  # else the report would be written from nothing
            _log.exception(_KEPT)
            return documents
        for passage in found:
            title = passage.metadata.get("title")
            passage.metadata["title"] = title or place_of(passage).citation
        return found


class InDocumentOrder(ContextCompressor):
    """GPT Researcher's own choice of passages, put in order at the end."""

    async def async_get_context(
        self, query: str, max_results: int = 5, cost_callback: Any = None
    ) -> str:
        """Return the best passages as text."""
        self.best = max_results
        return await super().async_get_context(query, max_results, cost_callback)

    def _ContextCompressor__get_contextual_retriever(self) -> Any:  # noqa: N802
        retriever = super()._ContextCompressor__get_contextual_retriever()
        try:
            pipeline = retriever.base_compressor
            splitter, *others = pipeline.transformers
            splitter._add_start_index = True
            last = DocumentOrder(top_n=self.best)
            pipeline.transformers = [Pages(), splitter, *others, last]
        except Exception:  # another version may be built otherwise
            _log.exception(_KEPT)
        return retriever


context_manager.ContextCompressor = InDocumentOrder
