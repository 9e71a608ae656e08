"""The components for LangChain."""

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore

from langchain_oprag import (
    LongReader,
    LongUnitRetriever,
    OffsetTokenSplitter,
    OrderPreservingCompressor,
    OrderPreservingRetriever,
    SelfRouteChain,
)
from oprag.units import LongUnit


def accepted(s: VectorStore, r: BaseRetriever, units: list[LongUnit]) -> list[Document]:
    retriever = OrderPreservingRetriever(vectorstore=s, k=3, token_budget=1_000)
    OrderPreservingRetriever(base_retriever=r, selection="recall", rescore="score")
    OrderPreservingRetriever(
        vectorstore=s,
        search_type="mmr",
        search_kwargs={"k": 30},
        document_key=lambda document: document.id,
        name="ordered",
        tags=["a"],
    )
    OrderPreservingRetriever(vectorstore=s, widen=2)
    OrderPreservingRetriever(vectorstore=s, widen="fill", token_budget=1_000)
    retriever.widen = 1
    retriever.k = None
    retriever.token_budget = 2_000
    compressor = OrderPreservingCompressor(top_n=3, overflow="skip", gap_mark="[…]")
    compressor.top_n = 4
    OrderPreservingRetriever(vectorstore=s, documents=s)
    OrderPreservingCompressor(documents=[Document("text")])
    LongUnitRetriever(vectorstore=s, units=units, documents={"a": "text"}, k=2)
    LongUnitRetriever(base_retriever=r, units=units, documents="folder", order="score")
    return compressor(retriever.invoke("question"))


def refused(s: VectorStore, r: BaseRetriever, units: list[LongUnit]) -> None:
    OrderPreservingRetriever(vectorstore=s, token_bugdet=1)  # type: ignore[call-arg]
    OrderPreservingRetriever(vectorstore=s, top_n=3)  # type: ignore[call-arg]
    OrderPreservingRetriever(vectorstore=s, preset="recall")  # type: ignore[call-arg]
    OrderPreservingRetriever(vectorstore=s, k="3")  # type: ignore[arg-type]
    OrderPreservingRetriever(vectorstore=s, widen="all")  # type: ignore[arg-type]
    OrderPreservingCompressor(widen=1)  # type: ignore[call-arg]
    OrderPreservingRetriever(vectorstore=s, order="best")  # type: ignore[arg-type]
    OrderPreservingRetriever(r)  # type: ignore[call-arg]
    compressor = OrderPreservingCompressor(token_bugdet=1)  # type: ignore[call-arg]
    OrderPreservingCompressor(k=3)  # type: ignore[call-arg]
    OrderPreservingCompressor(merge="yes")  # type: ignore[arg-type]
    compressor.token_bugdet = 1  # type: ignore[attr-defined]
    compressor.token_budget = "1"  # type: ignore[assignment]
    LongUnitRetriever(
        vectorstore=s,
        units=units,
        documents={},
        token_budget=1,  # type: ignore[call-arg]
    )


def accepted_of_models(model: BaseChatModel, r: BaseRetriever) -> None:
    SelfRouteChain(llm=model, retriever=r, documents={"a": "text"}, order="score")
    LongReader(llm=model, retriever=r, separator="\n")
    OffsetTokenSplitter(chunk_size=128)


def refused_of_models(model: BaseChatModel, r: BaseRetriever) -> None:
    SelfRouteChain(llm=model, retriever=r, documets={})  # type: ignore[call-arg]
    LongReader(llm=model, retriver=r)  # type: ignore[call-arg]
    OffsetTokenSplitter(chunk_sise=128)  # type: ignore[call-arg]
