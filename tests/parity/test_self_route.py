"""Self-Route is one method: both frameworks send, answer and report the same."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.llms.openai_like import OpenAILike
from pydantic import SecretStr

import langchain_oprag
import llamaindex_oprag
from tests.kit.openai_server import ScriptedServer, count_words

pytestmark = pytest.mark.slow

QUESTION = "When was the bridge built?"
REFUSAL = "Unanswerable. The text does not say so."
SENTENCES = [f"Line {number} tells of the river." for number in range(40)]
TEXTS = {"a.txt": " ".join(SENTENCES), "b.txt": "It was built in 1912."}
"""Two documents; no line breaks."""
LONGEST = 3_000
"""Words of a chunk that is longer than the first step is by default."""

Found = list[tuple[str, int]]
RETRIEVED: Found = [("b.txt", 0), ("a.txt", 30), ("a.txt", 5)]


class Asked(NamedTuple):
    """What a framework sent, and what it gave."""

    prompts: list[str]
    answer: str
    route: dict[str, Any]
    usage: dict[str, Any]


def chunk(source: str, number: int) -> tuple[str, int]:
    """A sentence of a document, and where it stands."""
    text = TEXTS[source] if source == "b.txt" else SENTENCES[number]
    return text, TEXTS[source].index(text)


def usage_of(usage: dict[str, Any]) -> dict[str, Any]:
    rungs = [{**rung, "seconds": 0} for rung in usage["rungs"]]
    return {**usage, "rungs": rungs, "seconds": 0}


def by_langchain(replies: list, found: Found, **options: Any) -> Asked:
    documents = [
        Document(text, metadata={"source": source, "start_index": start})
        for source, number in found
        for text, start in [chunk(source, number)]
    ]
    with ScriptedServer(replies) as server:
        model = ChatOpenAI(
            base_url=server.base_url,
            api_key=SecretStr("none"),
            model="scripted",
            max_retries=0,
        )
        result = langchain_oprag.SelfRouteChain(
            llm=model,
            retriever=RunnableLambda(lambda query: documents),
            documents=TEXTS,
            token_counter=count_words,
            **options,
        ).invoke(QUESTION)
    prompts = [request.prompt for request in server.requests]
    return Asked(prompts, result["answer"], result["route"], usage_of(result["usage"]))


class Fixed(BaseRetriever):
    """What a retriever returns, whatever the question."""

    def __init__(self, nodes: list[NodeWithScore]) -> None:
        super().__init__()
        self.nodes = nodes

    def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
        return list(self.nodes)


def by_llamaindex(replies: list, found: Found, **options: Any) -> Asked:
    nodes = []
    for source, number in found:
        text, start = chunk(source, number)
        node = TextNode(
            text=text,
            start_char_idx=start,
            end_char_idx=start + len(text),
            metadata={"source": source},
            excluded_llm_metadata_keys=["source"],
        )
        nodes.append(NodeWithScore(node=node, score=None))
    with ScriptedServer(replies) as server:
        llm = OpenAILike(
            model="scripted",
            api_base=server.base_url,
            api_key="none",
            is_chat_model=True,
            max_retries=0,
        )
        response = llamaindex_oprag.SelfRouteQueryEngine.from_args(
            Fixed(nodes), llm, documents=TEXTS, token_counter=count_words, **options
        ).query(QUESTION)
    prompts = [request.prompt for request in server.requests]
    facts = response.metadata
    return Asked(prompts, str(response), facts["route"], usage_of(facts["usage"]))


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
    chain = by_langchain(replies, RETRIEVED, **options)
    engine = by_llamaindex(replies, RETRIEVED, **options)

    assert chain == engine
    assert len(chain.prompts) == len(replies)


BOOK_LENGTH = 450
"""Chunks of the book, of 10 words each."""


def book_chunk(number: int) -> str:
    return f"Chunk {number:03} tells of the river and its banks. "


def book_chain(server: ScriptedServer, chunks: list[str], make: Any, **options) -> Any:
    """A chain over a store of these chunks of one text."""
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    starts = [sum(map(len, chunks[:number])) for number in range(len(chunks))]
    store.add_documents(
        [
            Document(text, metadata={"source": "book", "start_index": start})
            for text, start in zip(chunks, starts, strict=True)
        ]
    )
    model = ChatOpenAI(
        base_url=server.base_url, api_key=SecretStr("none"), model="x", max_retries=0
    )
    return langchain_oprag.SelfRouteChain(
        llm=model,
        retriever=make(store),
        documents={"book": "".join(chunks)},
        token_counter=count_words,
        **options,
    )


def book_engine(server: ScriptedServer, chunks: list[str], make: Any, **options) -> Any:
    """The same for LlamaIndex."""
    starts = [sum(map(len, chunks[:number])) for number in range(len(chunks))]
    nodes = [
        TextNode(
            text=text,
            start_char_idx=start,
            end_char_idx=start + len(text),
            metadata={"source": "book"},
            excluded_llm_metadata_keys=["source"],
        )
        for text, start in zip(chunks, starts, strict=True)
    ]
    llm = OpenAILike(
        model="x",
        api_base=server.base_url,
        api_key="none",
        is_chat_model=True,
        max_retries=0,
    )
    index = VectorStoreIndex(nodes, embed_model=MockEmbedding(8))
    return llamaindex_oprag.SelfRouteQueryEngine.from_args(
        make(index),
        llm,
        documents={"book": "".join(chunks)},
        token_counter=count_words,
        **options,
    )


def langchain_wrapper(**options: Any) -> Any:
    wrapper = langchain_oprag.OrderPreservingRetriever
    return lambda store: wrapper(
        vectorstore=store, token_counter=count_words, **options
    )


def llamaindex_wrapper(**options: Any) -> Any:
    wrapper = llamaindex_oprag.OrderPreservingRetriever
    return lambda index: wrapper(
        index.as_retriever(), token_counter=count_words, **options
    )


async def first_read(make_chain: Any, make: Any, chunks=None, **options: Any) -> int:
    """The words of the chunks that the first step read; sync and async agree."""
    given = chunks or [book_chunk(number) for number in range(BOOK_LENGTH)]
    sizes = []
    for awaited in (False, True):
        with ScriptedServer(["In 1912."]) as server:
            asked = make_chain(server, given, make, **options)
            if make_chain is book_chain:
                await asked.ainvoke(QUESTION) if awaited else asked.invoke(QUESTION)
            else:
                await asked.aquery(QUESTION) if awaited else asked.query(QUESTION)
            (request,) = server.requests
            text = request.prompt.split("<text>\n", 1)[1].rsplit("\n</text>", 1)[0]
            sizes.append(count_words(text))
    assert sizes[0] == sizes[1]
    return sizes[0]


LANGCHAIN = [
    lambda store: store.as_retriever(),
    lambda store: store.as_retriever().with_config(tags=["mine"]),
    langchain_wrapper(),
    langchain_wrapper(merge=True, order="score"),
]
LLAMAINDEX = [lambda index: index.as_retriever(), llamaindex_wrapper(merge=True)]
UNTOLD = [
    *((book_chain, m) for m in LANGCHAIN),
    *((book_engine, m) for m in LLAMAINDEX),
]


@pytest.mark.slow
@pytest.mark.parametrize(("made", "retriever"), UNTOLD)
class TestNobodySaysHowMany:
    """Neither the retriever nor what of ours is around it."""

    async def test_the_first_step_reads_about_two_thousand_tokens(
        self, made, retriever
    ):
        assert 1_985 <= await first_read(made, retriever) <= 2_000

    async def test_one_chunk_at_least(self, made, retriever):
        chunks = [" ".join(["word"] * LONGEST) + f" {n}. " for n in range(3)]

        assert await first_read(made, retriever, chunks) == LONGEST + 1


TOLD = [
    (book_chain, lambda store: store.as_retriever(search_kwargs={"k": 3}), 3 * 9),
    (book_chain, lambda store: store.as_retriever(search_kwargs={"k": 300}), 300 * 9),
    (book_chain, langchain_wrapper(k=3), 3 * 9),
    (book_chain, langchain_wrapper(token_budget=100), 11 * 9),
    (book_chain, langchain_wrapper(token_budget=3_000), 333 * 9),
    (book_engine, lambda index: index.as_retriever(similarity_top_k=3), 3 * 9),
    (book_engine, lambda index: index.as_retriever(similarity_top_k=300), 300 * 9),
    (book_engine, llamaindex_wrapper(similarity_top_k=3), 3 * 9),
    (book_engine, llamaindex_wrapper(token_budget=100), 11 * 9),
    (book_engine, llamaindex_wrapper(token_budget=3_000), 333 * 9),
]


@pytest.mark.slow
@pytest.mark.parametrize(("made", "retriever", "read"), TOLD)
async def test_a_count_or_a_budget_that_was_given_is_kept_to(made, retriever, read):
    assert await first_read(made, retriever) == read
