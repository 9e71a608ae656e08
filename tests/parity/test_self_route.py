"""Self-Route is one method: both frameworks send, answer and report the same."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.schema import NodeWithScore, TextNode

import langchain_oprag
import llamaindex_oprag
from tests.kit.openai_server import ScriptedServer
from tests.kit.words import words
from tests.langchain.corpus import ListRetriever
from tests.langchain.routes import chat_model
from tests.llamaindex.components import Retrieved
from tests.llamaindex.self_routing import scripted_llm

pytestmark = pytest.mark.slow

QUESTION = "When was the bridge built?"
REFUSAL = "Unanswerable. The text does not say so."
SENTENCES = [f"Line {number} tells of the river." for number in range(40)]
TEXTS = {"a.txt": " ".join(SENTENCES), "b.txt": "It was built in 1912."}
"""Two documents; no line breaks."""
RETRIEVED = [
    ("b.txt", TEXTS["b.txt"]),
    ("a.txt", SENTENCES[30]),
    ("a.txt", SENTENCES[5]),
]
COUNTED = {"token_counter": words}


def documents(found: Any, texts: dict[str, str]) -> list[Document]:
    return [
        Document(
            text, metadata={"source": name, "start_index": texts[name].index(text)}
        )
        for name, text in found
    ]


def nodes(found: Any, texts: dict[str, str]) -> list[TextNode]:
    return [
        TextNode(
            text=each.page_content,
            start_char_idx=(start := each.metadata["start_index"]),
            end_char_idx=start + len(each.page_content),
            metadata={"source": each.metadata["source"]},
            excluded_llm_metadata_keys=["source"],
        )
        for each in documents(found, texts)
    ]


class Asked(NamedTuple):
    """The requests of a framework, and its result."""

    prompts: list[str]
    answer: str
    route: dict[str, Any]
    usage: dict[str, Any]


def asked(server: ScriptedServer, answer: str, facts: dict[str, Any]) -> Asked:
    rungs = [{**rung, "seconds": 0} for rung in facts["usage"]["rungs"]]
    usage = {**facts["usage"], "rungs": rungs, "seconds": 0}
    prompts = [request.prompt for request in server.requests]
    return Asked(prompts, answer, facts["route"], usage)


def by_langchain(replies: list[str], **options: Any) -> Asked:
    with ScriptedServer(replies) as server:
        result = langchain_oprag.SelfRouteChain(
            llm=chat_model(server, model="scripted"),
            retriever=ListRetriever(documents=documents(RETRIEVED, TEXTS)),
            documents=TEXTS,
            **COUNTED,
            **options,
        ).invoke(QUESTION)
    return asked(server, result["answer"], result)


def by_llamaindex(replies: list[str], **options: Any) -> Asked:
    found = [NodeWithScore(node=node) for node in nodes(RETRIEVED, TEXTS)]
    with ScriptedServer(replies) as server:
        response = llamaindex_oprag.SelfRouteQueryEngine.from_args(
            Retrieved(found),
            scripted_llm(server),
            documents=TEXTS,
            **COUNTED,
            **options,
        ).query(QUESTION)
    return asked(server, str(response), response.metadata)


@pytest.mark.parametrize(
    ("replies", "options"),
    [
        (["In 1912."], {}),
        ([REFUSAL, "In 1912."], {}),
        ([REFUSAL, "Unanswerable: no year."], {}),
        ([REFUSAL, "In 1912."], {"max_context_tokens": 220, "answer_tokens": 20}),
        ([REFUSAL, REFUSAL, "In 1912."], {"rungs": [6, 30, "full"]}),
        (["Nicht da.", "1912."], {"decline": lambda reply: "Nicht" in reply}),
    ],
)
def test_both_send_and_report_the_same(replies, options):
    chain = by_langchain(replies, **options)
    engine = by_llamaindex(replies, **options)

    assert chain == engine
    assert len(chain.prompts) == len(replies)


# How much the first step reads


CHUNKS = [f"Chunk {n:03} tells of the river and its banks. " for n in range(450)]
"""Of 9 words each."""
PARAGRAPHS = [" ".join(["word"] * 99) + f" {n:03}. " for n in range(45)]
"""Of 100 words each."""
LONG = [" ".join(["word"] * 3_000) + f" {n}. " for n in range(3)]
"""Each longer than the first step is by default."""


def book_chain(server: ScriptedServer, chunks: list[str], make: Any) -> Any:
    """A chain over a store of these chunks of one text."""
    texts = {"book": "".join(chunks)}
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_documents(documents([("book", chunk) for chunk in chunks], texts))
    chain = langchain_oprag.SelfRouteChain(
        llm=chat_model(server), retriever=make(store), documents=texts, **COUNTED
    )
    return chain.invoke, chain.ainvoke


def book_engine(server: ScriptedServer, chunks: list[str], make: Any) -> Any:
    """The same for LlamaIndex."""
    texts = {"book": "".join(chunks)}
    made = nodes([("book", chunk) for chunk in chunks], texts)
    index = VectorStoreIndex(made, embed_model=MockEmbedding(8))
    engine = llamaindex_oprag.SelfRouteQueryEngine.from_args(
        make(index), scripted_llm(server), documents=texts, **COUNTED
    )
    return engine.query, engine.aquery


def langchain_wrapper(**options: Any) -> Any:
    wrapper = langchain_oprag.OrderPreservingRetriever
    return lambda store: wrapper(vectorstore=store, **COUNTED, **options)


def llamaindex_wrapper(**options: Any) -> Any:
    wrapper = llamaindex_oprag.OrderPreservingRetriever
    return lambda index: wrapper(index.as_retriever(), **COUNTED, **options)


async def first_read(make_chain: Any, make: Any, chunks: list[str]) -> int:
    """The words of the chunks that the first step read; sync and async agree."""
    sizes = []
    for awaited in (False, True):
        with ScriptedServer(["In 1912."]) as server:
            ask, aask = make_chain(server, chunks, make)
            await aask(QUESTION) if awaited else ask(QUESTION)
            (request,) = server.requests
            text = request.prompt.split("<text>\n", 1)[1].rsplit("\n</text>", 1)[0]
            sizes.append(words(text))
    assert sizes[0] == sizes[1]
    return sizes[0]


@pytest.mark.parametrize(
    ("made", "retriever"),
    [
        (book_chain, lambda store: store.as_retriever()),
        (book_chain, lambda store: store.as_retriever().with_config(tags=["mine"])),
        (book_chain, langchain_wrapper(merge=True, order="score")),
        (book_engine, lambda index: index.as_retriever()),
        (book_engine, llamaindex_wrapper(merge=True)),
    ],
)
async def test_where_nobody_says_how_many_it_reads_two_thousand_tokens_or_one_chunk(
    made, retriever
):
    assert 1_900 <= await first_read(made, retriever, PARAGRAPHS) <= 2_000
    assert await first_read(made, retriever, LONG) == 3_001


@pytest.mark.parametrize(
    ("made", "retriever", "read"),
    [
        (book_chain, lambda store: store.as_retriever(search_kwargs={"k": 300}), 300),
        (book_chain, langchain_wrapper(k=3), 3),
        (book_chain, langchain_wrapper(token_budget=100), 11),
        (book_chain, langchain_wrapper(token_budget=3_000), 333),
        (book_engine, lambda index: index.as_retriever(similarity_top_k=300), 300),
        (book_engine, llamaindex_wrapper(similarity_top_k=3), 3),
        (book_engine, llamaindex_wrapper(token_budget=100), 11),
        (book_engine, llamaindex_wrapper(token_budget=3_000), 333),
    ],
)
async def test_a_count_or_a_budget_that_was_given_is_kept_to(made, retriever, read):
    assert await first_read(made, retriever, CHUNKS) == 9 * read
