"""Every async method of every public class of both adapters, on long texts.

What is awaited is in the tables below. The texts are of a million characters, and were
never counted before.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import cached_property, partial
from operator import attrgetter
from typing import Any

from langchain.agents.middleware import ModelRequest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import ToolMessage
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import Document as LlamaDocument
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.schema import (
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
)

import langchain_oprag
import llamaindex_oprag
from oprag.units.grouping_documents import group_documents
from tests.langchain.corpus import ListRetriever
from tests.support.heartbeat import longest_block

LIMIT = 0.05
"""Seconds."""
LENGTH = 1_000_000
NAME = "book.txt"
REFUSAL = "unanswerable"
WORDS = [
    *("the", "order", "of", "the", "passages", "mattered", ",", "because", "Ann"),
    *("built", "it", "in", "1912", "."),
]
_seeds = iter(range(10**9))


def prose(seed: int, length: int) -> str:
    """Paragraphs by chance, the same for one seed."""
    chance = random.Random(seed)  # noqa: S311 -- texts, no secrets
    text = f"Book {seed}. " + " ".join(chance.choices(WORDS, k=length // 4))
    lines = [text[start : start + 700] for start in range(0, len(text), 700)]
    return "\n\n".join(lines)[:length]


class Material:
    """A text that nobody has seen, and what was retrieved of it: all of it."""

    def __init__(self, length: int = LENGTH) -> None:
        self.text = prose(next(_seeds), length)
        self.texts = {NAME: self.text}
        self.spans = [(s, min(s + 500, length)) for s in range(0, length, 500)]
        chance = random.Random(0)  # noqa: S311 -- an order, no secret
        chance.shuffle(self.spans)

    @cached_property
    def chunks(self) -> list[Document]:
        return [
            Document(
                self.text[start:end], metadata={"source": NAME, "start_index": start}
            )
            for start, end in self.spans
        ]

    @cached_property
    def nodes(self) -> list[NodeWithScore]:
        return [
            NodeWithScore(
                node=TextNode(
                    text=self.text[start:end],
                    start_char_idx=start,
                    end_char_idx=end,
                    relationships={
                        NodeRelationship.SOURCE: RelatedNodeInfo(node_id=NAME)
                    },
                )
            )
            for start, end in self.spans
        ]

    @cached_property
    def bare(self) -> list[Document]:
        """The chunks without their positions."""
        return [
            Document(c.page_content, metadata={"source": NAME}) for c in self.chunks
        ]

    @cached_property
    def bare_nodes(self) -> list[NodeWithScore]:
        return [
            NodeWithScore(node=TextNode(text=c.page_content, metadata={"source": NAME}))
            for c in self.chunks
        ]

    @cached_property
    def retriever(self) -> ListRetriever:
        return ListRetriever(documents=self.chunks)

    @cached_property
    def unit_texts(self) -> dict[str, str]:
        return {**self.texts, "other.txt": "Another book."}

    @cached_property
    def units(self) -> list[Any]:
        return list(
            group_documents(
                self.unit_texts, max_tokens=10**7, token_counter="approximate"
            )
        )

    @cached_property
    def unit(self) -> Document:
        return Document(self.text, metadata={"source": NAME})

    @cached_property
    def store(self) -> InMemoryVectorStore:
        """Holds the text in chunks of our own splitter."""
        store = InMemoryVectorStore(DeterministicFakeEmbedding(size=4))
        langchain_oprag.index_documents([self.unit], store)
        return store

    @cached_property
    def index(self) -> VectorStoreIndex:
        index = VectorStoreIndex([], embed_model=MockEmbedding(4))
        llamaindex_oprag.index_documents(
            [LlamaDocument(text=self.text, id_=NAME)], index, node_parser=large_nodes()
        )
        return index


def large_nodes(tokens: int = 1_000) -> Any:
    """LlamaIndex takes a second for some hundred nodes."""
    return llamaindex_oprag.OffsetTokenNodeParser(chunk_size=tokens)


class Retrieved(BaseRetriever):
    """Gives what it was given."""

    def __init__(self, nodes: Sequence[NodeWithScore]) -> None:
        self.nodes = nodes
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return list(self.nodes)


class ScriptedLLM(CustomLLM):
    """Says one thing after another, streamed in two pieces."""

    replies: list[str]
    window: int

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=self.window, num_output=256)

    def complete(self, prompt, formatted=False, **kwargs):
        return CompletionResponse(text=self.replies.pop(0))

    def stream_complete(self, prompt, formatted=False, **kwargs):
        text, said = self.replies.pop(0), ""
        for delta in (text[:4], text[4:]):
            said += delta
            yield CompletionResponse(text=said, delta=delta)


async def read(pieces: AsyncIterator[Any]) -> list[Any]:
    return [piece async for piece in pieces]


Case = Callable[[Material], Awaitable[Any]]

# LangChain

WINDOWS: dict[str, dict[str, Any]] = {
    "whole": {},
    "in a window": {"max_context_tokens": 10**6},
    "cut in order": {"max_context_tokens": 60_000},
}


def chain(material: Material, **options: Any) -> langchain_oprag.SelfRouteChain:
    return langchain_oprag.SelfRouteChain(
        llm=FakeListChatModel(responses=[REFUSAL, "In 1912."]),
        **{
            "retriever": material.retriever,
            "documents": material.texts,
            "rungs": [2_000, "full"],
            **options,
        },
    )


def long_reader(material: Material, **options: Any) -> langchain_oprag.LongReader:
    return langchain_oprag.LongReader(
        llm=FakeListChatModel(responses=["Ann built it in 1912.", "1912"]),
        retriever=ListRetriever(documents=[material.unit]),
        max_context_tokens=10**7,
        **options,
    )


def wrapped(material: Material, **options: Any) -> Any:
    return langchain_oprag.OrderPreservingRetriever(
        base_retriever=material.retriever, **{"token_budget": 50_000, **options}
    )


def long_units(material: Material) -> Any:
    return langchain_oprag.LongUnitRetriever(
        base_retriever=material.retriever,
        units=material.units,
        documents=material.unit_texts,
    )


def runnable(name: str, make: Callable[[Material], Any]) -> dict[str, Case]:
    """All ways in which LangChain asks what can be asked."""
    asked = {"input": "Who?"} if name in ("SelfRouteChain", "LongReader") else "Who?"

    async def only() -> AsyncIterator[Any]:
        yield asked

    ways: dict[str, Case] = {
        "ainvoke": lambda m: make(m).ainvoke(asked),
        "abatch": lambda m: make(m).abatch([asked, asked]),
        "abatch_as_completed": lambda m: read(make(m).abatch_as_completed([asked])),
        "astream": lambda m: read(make(m).astream(asked)),
        "astream_events": lambda m: read(make(m).astream_events(asked, version="v2")),
        "astream_log": lambda m: read(make(m).astream_log(asked)),
        "atransform": lambda m: read(make(m).atransform(only())),
    }
    return {f"{name}.{way}": case for way, case in ways.items()}


def compressor(**options: Any) -> langchain_oprag.OrderPreservingCompressor:
    return langchain_oprag.OrderPreservingCompressor(token_budget=200_000, **options)


def ordered_store(material: Material) -> langchain_oprag.OrderPreservingVectorStore:
    return langchain_oprag.OrderPreservingVectorStore(material.store, k=300)


def empty_store() -> langchain_oprag.OrderPreservingVectorStore:
    return langchain_oprag.OrderPreservingVectorStore(
        InMemoryVectorStore(DeterministicFakeEmbedding(size=4))
    )


def searching(how: str, asked: Any, *more: Any) -> dict[str, Case]:
    """A search of a store, by its name."""
    name = f"OrderPreservingVectorStore.{how}, a store"
    return {name: lambda m: getattr(ordered_store(m), how)(asked, *more)}


async def asked_of_a_model(material: Material) -> Any:
    """What an agent does before it asks its model, after it found everything."""

    async def handler(request: Any) -> Any:
        return request

    found = ToolMessage(
        "\n\n".join(each.page_content for each in material.chunks),
        artifact=material.chunks,
        tool_call_id="1",
    )
    request = ModelRequest(
        model=FakeListChatModel(responses=["In 1912."]), messages=[found, found]
    )
    middleware = langchain_oprag.EvidenceMiddleware(token_budget=100_000)
    return await middleware.awrap_model_call(request, handler)


LANGCHAIN: dict[str, Case] = {
    **runnable("OrderPreservingRetriever", wrapped),
    **searching("asimilarity_search", "Who?"),
    **searching("asimilarity_search_with_score", "Who?"),
    **searching("asimilarity_search_by_vector", [0.1, 0.2, 0.3, 0.4]),
    **searching("amax_marginal_relevance_search", "Who?", 4),
    **searching("amax_marginal_relevance_search_by_vector", [0.1, 0.2, 0.3, 0.4], 4),
    **searching("asearch", "Who?", "similarity"),
    "OrderPreservingVectorStore.aadd_documents": lambda m: empty_store().aadd_documents(
        m.chunks
    ),
    "OrderPreservingVectorStore.aadd_texts": lambda m: empty_store().aadd_texts(
        [m.text]
    ),
    "OrderPreservingVectorStore.adelete": lambda _: empty_store().adelete(["1"]),
    "OrderPreservingVectorStore.aget_by_ids": lambda _: empty_store().aget_by_ids(
        ["1"]
    ),
    "EvidenceMiddleware.awrap_model_call": asked_of_a_model,
    "OrderPreservingRetriever.ainvoke, recall": lambda m: wrapped(
        m, selection="recall", token_budget=20_000
    ).ainvoke("Who?"),
    "OrderPreservingRetriever.ainvoke, gaps": lambda m: wrapped(
        m, merge=True, documents=m.texts
    ).ainvoke("Who?"),
    "OrderPreservingRetriever.ainvoke, a store": lambda m: (
        langchain_oprag.OrderPreservingRetriever(
            vectorstore=m.store, token_budget=300_000
        )
    ).ainvoke("Who?"),
    "OrderPreservingRetriever.ainvoke, words of a store": lambda m: (
        langchain_oprag.OrderPreservingRetriever(
            vectorstore=m.store, token_budget=300_000, bm25=True
        )
    ).ainvoke("Who built the harbour?"),
    "OrderPreservingRetriever.averify, a store": lambda m: (
        langchain_oprag.OrderPreservingRetriever(vectorstore=m.store).averify(None)
    ),
    **runnable("LongUnitRetriever", long_units),
    "LongUnitRetriever.averify, a store": lambda m: langchain_oprag.LongUnitRetriever(
        vectorstore=m.store, units=m.units, documents=m.unit_texts
    ).averify(None),
    "OrderPreservingCompressor.acompress_documents, located": lambda m: compressor(
        documents=m.texts
    ).acompress_documents(m.bare, "Who?"),
    "OrderPreservingCompressor.acompress_documents": lambda m: (
        compressor().acompress_documents(m.chunks, "Who?")
    ),
    "OrderPreservingCompressor.atransform_documents": lambda m: (
        compressor().atransform_documents(m.chunks)
    ),
    **runnable("SelfRouteChain", chain),
    **{
        f"SelfRouteChain.ainvoke, {how}": lambda m, options=options: chain(
            m, **options
        ).ainvoke("Who?")
        for how, options in WINDOWS.items()
    },
    "SelfRouteChain.ainvoke, all chunks": lambda m: chain(
        m, rungs=["retrieved"], max_context_tokens=10**6
    ).ainvoke("Who?"),
    "SelfRouteChain.ainvoke, document of a store": lambda m: chain(
        m, retriever=m.store.as_retriever(), documents=m.store
    ).ainvoke("Who?"),
    "SelfRouteChain.averify, a store": lambda m: chain(
        m, retriever=m.store.as_retriever(), documents=m.store
    ).averify(None),
    "SelfRouteChain.ainvoke, long conversation": lambda m: chain(
        m, retriever=ListRetriever(documents=m.chunks[:3]), rungs=["retrieved"]
    ).ainvoke({"input": "Who?", "chat_history": [("user", m.text)]}),
    **runnable("LongReader", long_reader),
    "LongReader.ainvoke, given": lambda m: long_reader(m).ainvoke(
        {"input": "Who?", "context": [m.unit]}
    ),
    "OffsetTokenSplitter.atransform_documents": lambda m: (
        langchain_oprag.OffsetTokenSplitter().atransform_documents([m.unit])
    ),
    "OffsetSentenceSplitter.atransform_documents": lambda m: (
        langchain_oprag.OffsetSentenceSplitter().atransform_documents([m.unit])
    ),
    "OffsetSentenceSplitter.atransform_documents, a long run of blanks": lambda m: (
        langchain_oprag.OffsetSentenceSplitter().atransform_documents(
            [Document(f"{m.text[:500]}{' ' * 50_000}End.")]
        )
    ),
    "aindex_documents": lambda m: langchain_oprag.aindex_documents(
        [m.unit], InMemoryVectorStore(DeterministicFakeEmbedding(size=4))
    ),
    "document_source, mapping": lambda m: langchain_oprag.document_source(m.texts).aget(
        NAME
    ),
    "document_source, list": lambda m: langchain_oprag.document_source([m.unit]).aget(
        NAME
    ),
    "document_source, store": lambda m: langchain_oprag.document_source(m.store).aget(
        NAME
    ),
}

# LlamaIndex


def engine(material: Material, **options: Any) -> Any:
    settings = {
        "documents": material.texts,
        "max_context_tokens": 10**7,
        "rungs": [2_000, "full"],
        **options,
    }
    return llamaindex_oprag.SelfRouteQueryEngine.from_args(
        settings.pop("retriever", None) or Retrieved(material.nodes),
        ScriptedLLM(replies=[REFUSAL, "In 1912."], window=10**7),
        **settings,
    )


def synthesizer(**options: Any) -> Any:
    return llamaindex_oprag.LongReaderSynthesizer(
        ScriptedLLM(replies=["Ann built it in 1912.", "1912"], window=10**7), **options
    )


async def streamed(asked: Awaitable[Any]) -> list[str]:
    return await read((await asked).async_response_gen())


def in_order(material: Material, **options: Any) -> Any:
    return llamaindex_oprag.OrderPreservingRetriever(
        Retrieved(material.nodes), **{"token_budget": 200_000, **options}
    )


def parsed(material: Material) -> list[LlamaDocument]:
    return [LlamaDocument(text=material.text, id_=NAME)]


def unit_node(material: Material) -> list[NodeWithScore]:
    return [NodeWithScore(node=TextNode(text=material.text))]


LLAMAINDEX: dict[str, Case] = {
    "OrderPreservingRetrieverTool.acall": lambda m: (
        llamaindex_oprag.OrderPreservingRetrieverTool.from_defaults(
            Retrieved(m.nodes), token_budget=50_000
        )
    ).acall("Who?"),
    "OrderPreservingRetriever.aretrieve": lambda m: in_order(m).aretrieve("Who?"),
    "OrderPreservingRetriever.aretrieve, recall": lambda m: in_order(
        m, selection="recall", token_budget=20_000
    ).aretrieve("Who?"),
    "OrderPreservingRetriever.aretrieve, index": lambda m: (
        llamaindex_oprag.OrderPreservingRetriever(
            m.index.as_retriever(), token_budget=300_000
        )
    ).aretrieve("Who?"),
    "OrderPreservingRetriever.aretrieve, words of an index": lambda m: (
        llamaindex_oprag.OrderPreservingRetriever(
            m.index.as_retriever(), token_budget=300_000, bm25=True
        )
    ).aretrieve("Who built the harbour?"),
    "OrderPreservingRetriever.averify, index": lambda m: (
        llamaindex_oprag.OrderPreservingRetriever(m.index.as_retriever()).averify(None)
    ),
    "LongUnitRetriever.aretrieve": lambda m: llamaindex_oprag.LongUnitRetriever(
        Retrieved(m.nodes), units=m.units, documents=m.unit_texts
    ).aretrieve("Who?"),
    "LongUnitRetriever.averify, an index": lambda m: llamaindex_oprag.LongUnitRetriever(
        m.index.as_retriever(), units=m.units, documents=m.unit_texts
    ).averify(None),
    "OrderPreservingPostprocessor.apostprocess_nodes": lambda m: (
        llamaindex_oprag.OrderPreservingPostprocessor(
            token_budget=200_000
        ).apostprocess_nodes(m.nodes)
    ),
    "OrderPreservingPostprocessor.apostprocess_nodes, located": lambda m: (
        llamaindex_oprag.OrderPreservingPostprocessor(
            documents=m.texts
        ).apostprocess_nodes(m.bare_nodes)
    ),
    "SelfRouteQueryEngine.averify, an index": lambda m: engine(
        m, retriever=m.index.as_retriever(), documents=m.index
    ).averify(None),
    "SelfRouteQueryEngine.aquery": lambda m: engine(m).aquery("Who?"),
    **{
        f"SelfRouteQueryEngine.aquery, {how}": lambda m, options=options: engine(
            m, **options
        ).aquery("Who?")
        for how, options in WINDOWS.items()
    },
    "SelfRouteQueryEngine.aquery, all chunks": lambda m: engine(
        m, rungs=["retrieved"]
    ).aquery("Who?"),
    "SelfRouteQueryEngine.aquery, document of an index": lambda m: engine(
        m, retriever=m.index.as_retriever(), documents=m.index
    ).aquery("Who?"),
    "SelfRouteQueryEngine.aquery, streamed": lambda m: streamed(
        engine(m, streaming=True).aquery("Who?")
    ),
    "SelfRouteQueryEngine.aretrieve": lambda m: engine(
        m, rungs=[300_000, "full"]
    ).aretrieve(QueryBundle("Who?")),
    "SelfRouteQueryEngine.asynthesize": lambda m: engine(m).asynthesize(
        QueryBundle("Who?"), m.nodes
    ),
    "LongReaderSynthesizer.asynthesize": lambda m: synthesizer().asynthesize(
        "Who?", unit_node(m)
    ),
    "LongReaderSynthesizer.asynthesize, streamed": lambda m: streamed(
        synthesizer(streaming=True).asynthesize("Who?", unit_node(m))
    ),
    "LongReaderSynthesizer.aget_response": lambda m: synthesizer().aget_response(
        "Who?", [m.text]
    ),
    **{
        f"{name}.{way}": lambda m, name=name, way=way: getattr(
            getattr(llamaindex_oprag, name)(), way
        )(parsed(m))
        for name in ("OffsetTokenNodeParser", "OffsetSentenceNodeParser")
        for way in ("acall", "aget_nodes_from_documents")
    },
    "PositionAnnotator.acall": lambda m: llamaindex_oprag.PositionAnnotator(
        parsed(m)
    ).acall(sorted((each.node for each in m.nodes), key=attrgetter("start_char_idx"))),
    "aindex_documents": lambda m: llamaindex_oprag.aindex_documents(
        parsed(m),
        VectorStoreIndex([], embed_model=MockEmbedding(4)),
        # LlamaIndex's document store hashes each node in our thread. For 2,048 bytes
        # and more Python frees the interpreter meanwhile, and our thread mostly has it
        # again before the loop wakes: the loop stands still until all are stored.
        node_parser=large_nodes(400),
    ),
    "document_source, list": lambda m: llamaindex_oprag.document_source(parsed(m)).aget(
        NAME
    ),
    "document_source, index": lambda m: llamaindex_oprag.document_source(m.index).aget(
        NAME
    ),
}
CASES: dict[str, Case] = {
    **{f"langchain {name}": case for name, case in LANGCHAIN.items()},
    **{f"llamaindex {name}": case for name, case in LLAMAINDEX.items()},
}


IN_EVERY_RUN = (
    "langchain OrderPreservingVectorStore.asimilarity_search, a store",
    "langchain EvidenceMiddleware.awrap_model_call",
    "llamaindex OrderPreservingRetrieverTool.acall",
    "langchain OrderPreservingRetriever.ainvoke",
    "langchain OrderPreservingRetriever.ainvoke, words of a store",
    "langchain LongUnitRetriever.ainvoke",
    "langchain OrderPreservingCompressor.acompress_documents",
    "langchain SelfRouteChain.ainvoke, in a window",
    "langchain SelfRouteChain.ainvoke, cut in order",
    "langchain LongReader.ainvoke",
    "llamaindex OrderPreservingRetriever.aretrieve",
    "llamaindex OrderPreservingRetriever.aretrieve, words of an index",
    "llamaindex OrderPreservingPostprocessor.apostprocess_nodes",
    "llamaindex SelfRouteQueryEngine.aquery, in a window",
    "llamaindex SelfRouteQueryEngine.aquery, cut in order",
    "llamaindex LongReaderSynthesizer.asynthesize",
    "llamaindex OffsetSentenceNodeParser.acall",
    "llamaindex PositionAnnotator.acall",
)
"""Those that `make test` awaits; all others take another minute."""


def prepared(name: str) -> Material:
    """A new text, and all that is built before anything is asked."""
    material = Material()
    made = ["chunks", "nodes", "retriever", "units", "unit", "bare", "bare_nodes"]
    made += [last for last in ("store", "index") if name.endswith(f" {last}")]
    for attribute in made:
        getattr(material, attribute)
    return material


async def shortest_block(name: str) -> float:
    """For how many seconds a case blocks its event loop, on a machine that is busy.

    That is the least of five times, or the first below the limit.
    """
    case, least = CASES[name], float("inf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        await case(Material(20_000))  # what is loaded once is loaded
        for _ in range(5):
            material = prepared(name)
            least = min(least, await longest_block(partial(case, material)))
            if least < LIMIT:
                break
    return least
