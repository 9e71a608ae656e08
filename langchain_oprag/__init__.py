"""Order-preserving retrieval for LangChain.

Wrap a retriever or a vector store in `OrderPreservingRetriever`, or put
`OrderPreservingCompressor` after any retriever: the model then reads the chunks in
the order the author wrote them. `SelfRouteChain` goes on to the full documents when
the chunks do not hold the answer; `LongUnitRetriever` and `LongReader` read long units
of documents. `EvidenceMiddleware` shows an agent's model each text once. All algorithms
are in `oprag`.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from oprag import _lazy
from oprag.optional import require as _require

_require(
    "langchain_core", extra="langchain", purpose="langchain_oprag", at_least="0.3.81"
)
# The module with the most imports goes first: any other order takes a tenth longer.
_require("langchain_core.retrievers", extra="langchain", purpose="langchain_oprag")

# ruff: noqa: E402 -- the modules below import the framework that is checked above
from langchain_oprag.compressors import OrderPreservingCompressor, order_documents
from langchain_oprag.retrievers import OrderPreservingRetriever

if _TYPE_CHECKING:
    from langchain_oprag.annotator import annotate_positions
    from langchain_oprag.citations import cited
    from langchain_oprag.diagnosis import diagnose
    from langchain_oprag.documents import document_source
    from langchain_oprag.evidence import EvidenceMiddleware, EvidenceState
    from langchain_oprag.indexing import aindex_documents, index_documents
    from langchain_oprag.long_reader import LongReader
    from langchain_oprag.long_units import LongUnitRetriever
    from langchain_oprag.reading_tools import create_reading_tools
    from langchain_oprag.results import as_documents, as_passages, format_documents
    from langchain_oprag.self_route import SelfRouteChain
    from langchain_oprag.splitters import OffsetSentenceSplitter, OffsetTokenSplitter
    from langchain_oprag.stores import chunk_store
    from langchain_oprag.tools import create_retrieval_tool
    from langchain_oprag.vector_stores import OrderPreservingVectorStore

__all__ = [
    "EvidenceMiddleware",
    "EvidenceState",
    "LongReader",
    "LongUnitRetriever",
    "OffsetSentenceSplitter",
    "OffsetTokenSplitter",
    "OrderPreservingCompressor",
    "OrderPreservingRetriever",
    "OrderPreservingVectorStore",
    "SelfRouteChain",
    "aindex_documents",
    "annotate_positions",
    "as_documents",
    "as_passages",
    "chunk_store",
    "cited",
    "create_reading_tools",
    "create_retrieval_tool",
    "diagnose",
    "document_source",
    "format_documents",
    "index_documents",
    "order_documents",
]

# Only the splitters need text-splitters, only the chains need chat models, and only
# the middleware needs langchain; the rest takes a while to import.
__getattr__, __dir__ = _lazy(
    __name__,
    annotator=("annotate_positions",),
    citations=("cited",),
    diagnosis=("diagnose",),
    documents=("document_source",),
    evidence=("EvidenceMiddleware", "EvidenceState"),
    indexing=("aindex_documents", "index_documents"),
    long_reader=("LongReader",),
    long_units=("LongUnitRetriever",),
    reading_tools=("create_reading_tools",),
    results=("as_documents", "as_passages", "format_documents"),
    self_route=("SelfRouteChain",),
    splitters=("OffsetSentenceSplitter", "OffsetTokenSplitter"),
    stores=("chunk_store",),
    tools=("create_retrieval_tool",),
    vector_stores=("OrderPreservingVectorStore",),
)
