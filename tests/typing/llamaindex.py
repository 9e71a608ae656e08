"""The components for LlamaIndex."""

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import Document, NodeWithScore

from llamaindex_oprag import (
    LongUnitRetriever,
    OffsetTokenNodeParser,
    OrderPreservingPostprocessor,
    OrderPreservingRetriever,
    OrderPreservingRetrieverTool,
    SelfRouteQueryEngine,
    create_reading_tools,
)
from oprag.units import LongUnit


def accepted(r: BaseRetriever, units: list[LongUnit]) -> list[NodeWithScore]:
    retriever = OrderPreservingRetriever(r, similarity_top_k=3, token_budget=1_000)
    OrderPreservingRetriever(r, selection="recall", verbose=True)
    retriever.similarity_top_k = None
    postprocessor = OrderPreservingPostprocessor(top_n=3, position_keys="page")
    postprocessor.top_n = 4
    OrderPreservingRetriever(r, documents=[Document(text="text")])
    OrderPreservingRetriever(r, widen=2)
    OrderPreservingRetriever(r, bm25=True)
    OrderPreservingRetriever(r, widen="fill", token_budget=1_000)
    OrderPreservingPostprocessor(documents="folder")
    SelfRouteQueryEngine.from_args(r, steps=[1_500, "full"], documents={}, order="rank")
    SelfRouteQueryEngine.from_args(r, token_budget=1)  # type: ignore[arg-type]
    LongUnitRetriever(r, units=units, documents={"a": "text"}, similarity_top_k=2)
    LongUnitRetriever(r, units=units, documents="folder", order="rank")
    OffsetTokenNodeParser(chunk_size=128, include_metadata=False)
    OrderPreservingRetrieverTool.from_defaults(r, token_budget=1_000, show="unseen")
    create_reading_tools({"a": "text"}, token_budget=1_000)
    return postprocessor.postprocess_nodes(retriever.retrieve("question"))


def refused(r: BaseRetriever, units: list[LongUnit]) -> None:
    OrderPreservingRetriever(r, token_bugdet=1)  # type: ignore[call-arg]
    OrderPreservingRetriever(r, top_n=3)  # type: ignore[call-arg]
    OrderPreservingRetriever(r, similarity_top_k="3")  # type: ignore[arg-type]
    OrderPreservingRetriever(r, widen="all")  # type: ignore[arg-type]
    postprocessor = OrderPreservingPostprocessor(
        token_bugdet=1  # type: ignore[call-arg]
    )
    OrderPreservingPostprocessor(similarity_top_k=3)  # type: ignore[call-arg]
    OrderPreservingPostprocessor(merge="yes")  # type: ignore[arg-type]
    postprocessor.token_bugdet = 1  # type: ignore[attr-defined]
    postprocessor.token_budget = "1"  # type: ignore[assignment]
    LongUnitRetriever(r, units=units, documents={}, k=3)  # type: ignore[call-arg]
    OrderPreservingRetrieverTool.from_defaults(r, show="new")  # type: ignore[arg-type]
    OffsetTokenNodeParser(chunk_sise=128)  # type: ignore[call-arg]
