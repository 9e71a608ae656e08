"""A document is counted once, however many questions are asked of it and how."""

import asyncio
import random
import threading

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from llama_index.core.schema import NodeWithScore, TextNode

import langchain_oprag
import llamaindex_oprag
from tests.langchain.corpus import ListRetriever
from tests.llamaindex.components import Retrieved
from tests.llamaindex.recording import RecordingLLM

pytestmark = pytest.mark.slow

LONG = 10_000
LENGTH = 150_000
NAME = "book.txt"
QUESTIONS = 3
WINDOWS = [{}, {"max_context_tokens": 10**6}, {"max_context_tokens": 9_000}]


class Spy:
    """Counts words, and remembers what it was given."""

    def __init__(self) -> None:
        self.given: list[str] = []
        self._lock = threading.Lock()

    def __call__(self, text: str) -> int:
        with self._lock:
            self.given.append(text)
        return len(text.split())


def book(seed: int) -> str:
    chance = random.Random(seed)  # noqa: S311 -- texts, no secrets
    words = ["the", "order", "bridge,", "1912", "it's", "end.\n\nThen"]
    return f"Book {seed} " + " ".join(chance.choices(words, k=LENGTH // 5))


def langchain_chain(text, counter, options):
    chunk = Document(text[:200], metadata={"source": NAME, "start_index": 0})
    replies = ["unanswerable", "In 1912."] * QUESTIONS
    chain = langchain_oprag.SelfRouteChain(
        llm=FakeListChatModel(responses=replies),
        retriever=ListRetriever(documents=[chunk]),
        documents={NAME: text},
        token_counter=counter,
        **options,
    )
    return chain.invoke, chain.ainvoke


def langchain_reader(text, counter, options):
    reader = langchain_oprag.LongReader(
        llm=FakeListChatModel(responses=["In 1912 by Ann.", "1912"]),
        retriever=ListRetriever(documents=[Document(text)]),
        token_counter=counter,
        max_context_tokens=10**6,
    )
    return reader.invoke, reader.ainvoke


def llamaindex_engine(text, counter, options):
    node = TextNode(text=text[:200], metadata={"doc_id": NAME, "char_start": 0})
    engine = llamaindex_oprag.SelfRouteQueryEngine.from_args(
        Retrieved([NodeWithScore(node=node)]),
        RecordingLLM(replies=["unanswerable", "In 1912."] * QUESTIONS),
        documents={NAME: text},
        token_counter=counter,
        **options,
    )
    return engine.query, engine.aquery


def llamaindex_reader(text, counter, options):
    nodes = [NodeWithScore(node=TextNode(text=text))]
    reader = llamaindex_oprag.LongReaderSynthesizer(
        RecordingLLM(replies=["In 1912 by Ann.", "1912"] * QUESTIONS),
        token_counter=counter,
        max_context_tokens=10**6,
    )
    return (
        lambda question: reader.synthesize(question, nodes),
        lambda question: reader.asynthesize(question, nodes),
    )


CASES = [
    *((make, w) for make in (langchain_chain, llamaindex_engine) for w in WINDOWS),
    *((make, {}) for make in (langchain_reader, llamaindex_reader)),
]


async def spied(make, counter, spy, options, *, awaited):
    """What was counted for each of some questions on one book."""
    text = book(next(SEEDS))
    ask, aask = make(text, counter, options)
    counted = []
    for number in range(QUESTIONS):
        before = len(spy.given)
        question = f"Who is number {number}?"
        if awaited:
            await aask(question)
        else:
            await asyncio.to_thread(ask, question)
        counted.append(spy.given[before:])
    return counted


SEEDS = iter(range(1_000))


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize(
    ("make", "options"), [case for case in CASES if case[1] in WINDOWS[:2]]
)
async def test_a_bare_function_is_given_no_long_text_twice(make, options, awaited):
    spy = Spy()

    counted = await spied(make, spy, spy, options, awaited=awaited)

    long = [text for of_one in counted for text in of_one if len(text) >= LONG]
    assert len(long) == len(set(long))
