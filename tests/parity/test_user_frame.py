"""Warnings name the user's line, not one of a framework or of oprag."""

from __future__ import annotations

import asyncio
import linecache
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import RunnableLambda, RunnableParallel
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import Document as LlamaIndexDocument
from llama_index.core import VectorStoreIndex
from llama_index.core.schema import NodeWithScore

import langchain_oprag
import llamaindex_oprag
from oprag.errors import OpragWarning
from tests.llamaindex.recording import RecordingLLM
from tests.stores.langchain_places import HashEmbeddings
from tests.stores.llamaindex_fakes import ChecksumEmbedding

HITS = [
    Document(f"Chunk {n} here.", metadata={"source": "a.txt", "start_index": n * 20})
    for n in (3, 1, 2, 0)
]
UNPLACED = [Document("Somewhere.", metadata={"source": "a.txt"})]
UNPLACED += [Document("Elsewhere.", metadata={"source": "a.txt"})]
VERSIONS = [
    Document(
        v, metadata={"source": "a.txt", "start_index": n * 9, "doc_version": f"1-{v}"}
    )
    for n, v in enumerate(("old", "new"))
]
NUL = "A text.\0"


def nodes() -> list[NodeWithScore]:
    made = [LlamaIndexDocument(text=h.page_content, metadata=h.metadata) for h in HITS]
    return [NodeWithScore(node=each, score=1.0) for each in made]


def index() -> VectorStoreIndex:
    made = VectorStoreIndex([], embed_model=ChecksumEmbedding())
    text = "One sentence here. Another one there! " * 30
    llamaindex_oprag.index_documents([LlamaIndexDocument(text=text, id_="a.txt")], made)
    return made


def langchain_retriever() -> Any:
    return langchain_oprag.OrderPreservingRetriever(
        base_retriever=RunnableLambda(lambda _: HITS), token_budget=900
    )


def llamaindex_retriever() -> Any:
    base = index().as_retriever(similarity_top_k=3)
    return llamaindex_oprag.OrderPreservingRetriever(base, token_budget=9_000)


def compressor() -> Any:
    return langchain_oprag.OrderPreservingCompressor(token_budget=900)


def postprocessor() -> Any:
    return llamaindex_oprag.OrderPreservingPostprocessor(token_budget=900)


def unordered_compressor() -> Any:
    return langchain_oprag.OrderPreservingCompressor(on_problem="warn")


def chain() -> Any:
    return langchain_oprag.SelfRouteChain(
        llm=FakeListChatModel(responses=["An answer."]),
        retriever=langchain_retriever(),
        documents={"a.txt": "x" * 90},
    )


def unordered_chain() -> Any:
    return langchain_oprag.SelfRouteChain(
        llm=FakeListChatModel(responses=["An answer."]),
        retriever=RunnableLambda(lambda _: UNPLACED),
        documents={"a.txt": "x" * 90},
        on_problem="warn",
    )


def engine() -> Any:
    return llamaindex_oprag.SelfRouteQueryEngine.from_args(
        llamaindex_retriever(), llm=RecordingLLM(), documents={"a.txt": "x" * 90}
    )


def store() -> Any:
    return InMemoryVectorStore(HashEmbeddings())


def two(kind: Any) -> list[Any]:
    if kind is Document:
        return [Document(t, metadata={"source": t[:6]}) for t in (NUL, "Fine.")]
    return [LlamaIndexDocument(text=t, id_=t[:6]) for t in (NUL, "Fine.")]


CALLS = {
    "langchain retriever": lambda: langchain_retriever().invoke("q"),
    "langchain compressor": lambda: compressor().compress_documents(HITS, "q"),
    "langchain in a chain": lambda: (
        RunnableLambda(lambda _: HITS) | compressor()
    ).invoke("q"),
    "langchain Self-Route": lambda: chain().invoke({"input": "q"}),
    "langchain index": lambda: langchain_oprag.index_documents(two(Document), store()),
    "llamaindex retriever": lambda: llamaindex_retriever().retrieve("q"),
    "llamaindex postprocessor": lambda: postprocessor().postprocess_nodes(nodes()),
    "llamaindex Self-Route": lambda: engine().query("q"),
    "llamaindex index": lambda: llamaindex_oprag.index_documents(
        two(LlamaIndexDocument), index()
    ),
}
AWAITED = {
    "langchain retriever": lambda: langchain_retriever().ainvoke("q"),
    "langchain compressor": lambda: compressor().acompress_documents(HITS, "q"),
    "langchain index": lambda: langchain_oprag.aindex_documents(two(Document), store()),
    "llamaindex retriever": lambda: llamaindex_retriever().aretrieve("q"),
    "llamaindex postprocessor": lambda: postprocessor().apostprocess_nodes(nodes()),
    "llamaindex index": lambda: llamaindex_oprag.aindex_documents(
        two(LlamaIndexDocument), index()
    ),
    "llamaindex Self-Route": lambda: engine().aquery("q"),
}
"""Not LangChain's Self-Route: its driver's tasks have no line of the user's below."""


def files(caught: list[warnings.WarningMessage]) -> set[str]:
    ours = [each for each in caught if issubclass(each.category, OpragWarning)]
    return {each.filename for each in ours}


@pytest.mark.parametrize("name", CALLS)
def test_a_warning_names_the_users_file(name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CALLS[name]()

    assert files(caught) == {__file__}


@pytest.mark.parametrize("name", AWAITED)
async def test_an_awaited_warning_names_the_users_file(name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        await AWAITED[name]()

    assert files(caught) == {__file__}


def awaiting(call: Any, *given: Any) -> Any:
    async def both() -> Any:
        return await asyncio.gather(call(*given))

    return asyncio.run(both())


def in_an_executor(call: Any, *given: Any) -> Any:
    with ThreadPoolExecutor() as threads:
        return threads.submit(call, *given).result()


def facade() -> Any:
    inner = store()
    inner.add_documents(HITS)
    return langchain_oprag.OrderPreservingVectorStore(
        inner, on_problem="warn", position_keys="page"
    )


MADE = {"compressor": compressor, "llamaindex postprocessor": postprocessor}
THREADS = {
    "langchain ainvoke of a sync retriever": lambda: awaiting(
        RunnableLambda(langchain_retriever().invoke).ainvoke, "q"
    ),
    "compressor": lambda: RunnableParallel(
        one=RunnableLambda(compressor()), two=RunnableLambda(len)
    ).invoke(HITS),
    "executor": lambda: in_an_executor(langchain_retriever().invoke, "q"),
    "store": lambda: in_an_executor(facade().similarity_search, "q"),
    "langchain Self-Route": lambda: awaiting(chain().ainvoke, {"input": "q"}),
    "langchain problem": lambda: awaiting(
        RunnableLambda(unordered_compressor()).ainvoke, UNPLACED
    ),
    "langchain Self-Route problem": lambda: awaiting(
        unordered_chain().ainvoke, {"input": "q"}
    ),
    "two versions": lambda: in_an_executor(compressor(), VERSIONS),
    "llamaindex task": lambda: awaiting(llamaindex_retriever().aretrieve, "q"),
    "llamaindex postprocessor": lambda: in_an_executor(
        postprocessor().postprocess_nodes, nodes()
    ),
    "llamaindex Self-Route": lambda: in_an_executor(engine().query, "q"),
    "batch": lambda: langchain_retriever().batch(["q", "r"]),
    "RunnableParallel": lambda: RunnableParallel(
        one=langchain_retriever(), two=RunnableLambda(len)
    ).invoke("q"),
    "langchain to_thread": lambda: awaiting(
        asyncio.to_thread, langchain_retriever().invoke, "q"
    ),
    "llamaindex to_thread": lambda: awaiting(
        asyncio.to_thread, llamaindex_retriever().retrieve, "q"
    ),
}


@pytest.mark.parametrize("name", THREADS)
def test_in_a_thread_a_warning_names_the_line_where_the_component_was_made(name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        THREADS[name]()

    assert files(caught) == {__file__}
    lines = {linecache.getline(__file__, each.lineno) for each in caught}
    assert all("_oprag.Order" in line or "_oprag.SelfRoute" in line for line in lines)


def test_components_made_at_different_lines_are_equal():
    one = langchain_oprag.OrderPreservingCompressor(token_budget=900)
    assert one == compressor()


def test_in_a_thread_a_line_of_the_users_is_found():
    retriever = langchain_retriever()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        awaiting(asyncio.to_thread, lambda: retriever.invoke("q"))

    assert files(caught) == {__file__}


def test_a_hello_world_is_not_warned():
    """One chunk in the index, and the budget that the documentation shows."""
    one = store()
    one.add_documents([HITS[0]])
    fresh = VectorStoreIndex([], embed_model=ChecksumEmbedding())
    llamaindex_oprag.index_documents(
        [LlamaIndexDocument(text="One. Two.", id_="a.txt")], fresh
    )
    own = llamaindex_oprag.OrderPreservingRetriever(
        fresh.as_retriever(), token_budget=4_000
    )
    after = llamaindex_oprag.OrderPreservingPostprocessor(token_budget=4_000)

    assert langchain_oprag.OrderPreservingRetriever(
        vectorstore=one, token_budget=4_000
    ).invoke("q")
    assert compressor().compress_documents(one.as_retriever().invoke("q"), "q")
    assert own.retrieve("q")
    assert after.postprocess_nodes(fresh.as_retriever().retrieve("q"))
