"""The components for LangChain."""

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool
from langchain_core.vectorstores import VectorStore

from langchain_oprag import (
    EvidenceMiddleware,
    LongReader,
    LongUnitRetriever,
    OffsetTokenSplitter,
    OrderPreservingCompressor,
    OrderPreservingRetriever,
    OrderPreservingVectorStore,
    SelfRouteChain,
    chunk_store,
    create_reading_tools,
    create_retrieval_tool,
    order_documents,
)
from oprag import StoredChunk
from oprag.testing import StoreSuite, StoreUnderTest
from oprag.units import LongUnit


def accepted(s: VectorStore, r: BaseRetriever, units: list[LongUnit]) -> list[Document]:
    retriever = OrderPreservingRetriever(vectorstore=s, k=3, token_budget=1_000)
    OrderPreservingRetriever(base_retriever=r, selection="recall")
    OrderPreservingRetriever(s)
    OrderPreservingRetriever(r, k=3)
    LongUnitRetriever(s, units=units, documents={"a": "text"})
    OrderPreservingRetriever(
        base_retriever=s.as_retriever(search_type="mmr", search_kwargs={"k": 30}),
        document_key=lambda document: document.id,
        name="ordered",
        tags=["a"],
    )
    OrderPreservingRetriever(vectorstore=s, widen=2)
    OrderPreservingRetriever(vectorstore=s, bm25=True)
    OrderPreservingRetriever(vectorstore=s, widen="fill", token_budget=1_000)
    retriever.widen = 1
    retriever.k = None
    retriever.token_budget = 2_000
    compressor = OrderPreservingCompressor(top_n=3, citations=True)
    compressor.top_n = 4
    OrderPreservingRetriever(vectorstore=s, documents=s)
    OrderPreservingCompressor(documents=[Document("text")])
    LongUnitRetriever(vectorstore=s, units=units, documents={"a": "text"}, k=2)
    LongUnitRetriever(base_retriever=r, units=units, documents="folder", order="rank")
    order_documents([Document("text")], token_budget=1_000, documents="folder")
    return compressor.invoke(retriever.invoke("question"))


def refused(s: VectorStore, r: BaseRetriever, units: list[LongUnit]) -> None:
    OrderPreservingRetriever(vectorstore=s, token_bugdet=1)  # type: ignore[call-arg]
    OrderPreservingRetriever(vectorstore=s, top_n=3)  # type: ignore[call-arg]
    OrderPreservingRetriever(vectorstore=s, k="3")  # type: ignore[arg-type]
    OrderPreservingRetriever(vectorstore=s, widen="all")  # type: ignore[arg-type]
    OrderPreservingCompressor(widen=1)  # type: ignore[call-arg]
    OrderPreservingRetriever(r, 3)  # type: ignore[arg-type]
    compressor = OrderPreservingCompressor(token_bugdet=1)  # type: ignore[call-arg]
    OrderPreservingCompressor(k=3)  # type: ignore[call-arg]
    OrderPreservingCompressor(merge="yes")  # type: ignore[arg-type]
    compressor.token_bugdet = 1  # type: ignore[attr-defined]
    compressor.token_budget = "1"  # type: ignore[assignment]
    LongUnitRetriever(
        vectorstore=s,
        units=units,
        documents={},
        selection="recall",  # type: ignore[call-arg]
    )


def accepted_of_models(model: BaseChatModel, r: BaseRetriever) -> None:
    SelfRouteChain(llm=model, retriever=r, documents={"a": "text"}, order="rank")
    LongReader(llm=model, retriever=r, separator="\n")
    OffsetTokenSplitter(chunk_size=128)


def refused_of_models(model: BaseChatModel, r: BaseRetriever) -> None:
    SelfRouteChain(llm=model, retriever=r, documets={})  # type: ignore[call-arg]
    LongReader(llm=model, retriver=r)  # type: ignore[call-arg]
    OffsetTokenSplitter(chunk_sise=128)  # type: ignore[arg-type]


class TestTheirs(StoreSuite):
    store: VectorStore

    def new_store(self) -> StoreUnderTest:
        def search(query: str, k: int, where: object) -> list[StoredChunk]:
            found = self.store.similarity_search(query, k=k, filter=where)
            return [StoredChunk(d.page_content, d.metadata) for d in found]

        return StoreUnderTest(
            chunks=chunk_store(self.store),
            add=lambda chunks: self.store.add_texts([chunk.text for chunk in chunks]),
            search=search,
            delete=self.store.delete,
        )


def accepted_of_agents(messages: list[BaseMessage]) -> list[BaseMessage]:
    create_agent("model", middleware=[EvidenceMiddleware(token_budget=2_000)])
    return EvidenceMiddleware(token_budget=2_000, token_counter=len).apply(messages)


def refused_of_agents() -> None:
    EvidenceMiddleware(2_000)  # type: ignore[call-arg]
    EvidenceMiddleware(token_budget="1")  # type: ignore[arg-type]


def accepted_in_the_place_of_a_store(s: VectorStore, r: BaseRetriever) -> BaseTool:
    ordered = OrderPreservingVectorStore(s, k=3, token_budget=1_000, merge=True)
    store: VectorStore = ordered
    found: list[Document] = ordered.similarity_search("question", k=4, filter={})
    pairs: list[tuple[Document, float]] = ordered.similarity_search_with_score("q", 4)
    ordered.max_marginal_relevance_search("question", fetch_k=30)
    create_retrieval_tool(r, name="search", description="Searches.", k=3)
    create_retrieval_tool(store, documents={"a": "text"}, on_problem="warn")
    create_reading_tools(store, token_budget=1_000)
    assert len(found) == len(pairs)
    return create_retrieval_tool(ordered)


def refused_in_the_place_of_a_store(s: VectorStore, r: BaseRetriever) -> None:
    OrderPreservingVectorStore(r)  # type: ignore[arg-type]
    OrderPreservingVectorStore(s, token_bugdet=1)  # type: ignore[call-arg]
    OrderPreservingVectorStore(s, top_n=3)  # type: ignore[call-arg]
    OrderPreservingVectorStore(s).similarity_search("q", k="4")  # type: ignore[arg-type]
    create_retrieval_tool(s, token_bugdet=1)  # type: ignore[call-arg]
    create_retrieval_tool(s, top_n=3)  # type: ignore[call-arg]
    create_retrieval_tool(s, token_budget="1")  # type: ignore[arg-type]
    create_retrieval_tool("store")  # type: ignore[arg-type]
