"""Self-Route is one method: both frameworks send, answer and report the same."""

import itertools
from typing import Any, NamedTuple

import pytest
from langchain_core.runnables import ConfigurableField

import langchain_oprag
import llamaindex_oprag
from oprag.stores import StoredChunk
from tests.kit.frameworks import Held, InLangChain, InLlamaIndex
from tests.kit.openai_server import ScriptedServer
from tests.kit.words import words
from tests.langchain.corpus import ListRetriever
from tests.langchain.routes import chat_model
from tests.llamaindex.components import Retrieved
from tests.llamaindex.self_routing import scripted_llm
from tests.parity.components import documents, nodes

pytestmark = pytest.mark.slow

QUESTION = "When was the bridge built?"
REFUSAL = "Unanswerable. The text does not say so."
SENTENCES = [f"Line {number} tells of the river." for number in range(40)]
TEXTS = {"a.txt": " ".join(SENTENCES), "b.txt": "It was built in 1912."}
"""Two documents; no line breaks."""
FOUND = [TEXTS["b.txt"], SENTENCES[30], SENTENCES[5]]
PLACES = [
    {"source": name, "start_index": TEXTS[name].index(text)}
    for name, text in zip(("b.txt", "a.txt", "a.txt"), FOUND, strict=True)
]
COUNTED = {"token_counter": words}
ORDERS = llamaindex_oprag.OrderPreservingPostprocessor()


class Asked(NamedTuple):
    """The requests of a framework, and its result."""

    prompts: list[str]
    answer: str
    route: dict[str, Any]
    usage: dict[str, Any]


def asked(server: ScriptedServer, answer: str, facts: dict[str, Any]) -> Asked:
    steps = [{**step, "seconds": 0} for step in facts["usage"]["steps"]]
    usage = {**facts["usage"], "steps": steps, "seconds": 0}
    prompts = [request.prompt for request in server.requests]
    return Asked(prompts, answer, facts["route"], usage)


def by_langchain(replies: list[str], **options: Any) -> Asked:
    with ScriptedServer(replies) as server:
        result = langchain_oprag.SelfRouteChain(
            llm=chat_model(server, model="scripted"),
            retriever=ListRetriever(documents=documents(FOUND, PLACES)),
            documents=TEXTS,
            **COUNTED,
            **options,
        ).invoke(QUESTION)
    return asked(server, result["answer"], result)


def by_llamaindex(replies: list[str], **options: Any) -> Asked:
    with ScriptedServer(replies) as server:
        response = llamaindex_oprag.SelfRouteQueryEngine.from_args(
            Retrieved(nodes(FOUND, PLACES)),
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
        ([REFUSAL, REFUSAL, "In 1912."], {"steps": [6, 30, "full"]}),
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


def over(**options: Any) -> Any:
    """A wrapper around the plain retriever of a store."""
    return lambda held: held.ordered(
        held.documents.as_retriever(), **COUNTED, **options
    )


def configurable(held: Held) -> Any:
    field = ConfigurableField("words")
    return over()(held).configurable_fields(token_counter=field)


def holding(framework: Any, chunks: list[str]) -> Held:
    held, starts = framework(), [0, *itertools.accumulate(map(len, chunks))]
    places = [{"source": "book", "start_index": start} for start in starts[:-1]]
    rows = zip(chunks, places, map(str, range(len(chunks))), strict=True)
    held.add([StoredChunk(*row) for row in rows])
    return held


def read_first(held: Held, retriever: Any, **options: Any) -> list[str]:
    """The chunks that the first step read."""
    options["documents"] = {"book": "A book."}
    routed = held.routed(retriever, "In 1912.", **options)
    return held.ask(routed, QUESTION).texts


def first_read(framework: Any, make: Any, chunks: list[str]) -> int:
    held = holding(framework, chunks)
    return sum(map(words, read_first(held, make(held))))


@pytest.mark.parametrize(
    ("framework", "make"),
    [
        (InLangChain, lambda held: held.store.as_retriever()),
        (InLangChain, lambda held: held.store.as_retriever().with_config(tags=["a"])),
        (InLangChain, over(merge=True, order="rank")),
        (InLangChain, lambda held: over()(held).with_config(tags=["a"]).with_retry()),
        (InLangChain, configurable),
        (InLlamaIndex, lambda held: held.documents.as_retriever()),
        (InLlamaIndex, over(merge=True)),
    ],
)
def test_where_nobody_says_how_many_it_reads_two_thousand_tokens_or_one_chunk(
    framework, make
):
    assert 1_900 <= first_read(framework, make, PARAGRAPHS) <= 2_000
    assert first_read(framework, make, LONG) == 3_001


@pytest.mark.parametrize(
    ("framework", "make", "read"),
    [
        (InLangChain, lambda held: held.search(300), 300),
        (InLangChain, over(k=3), 3),
        (InLlamaIndex, lambda held: held.search(300), 300),
        (InLlamaIndex, over(similarity_top_k=3), 3),
        *((each, over(token_budget=100), 11) for each in (InLangChain, InLlamaIndex)),
        *((each, over(bm25=True), 32) for each in (InLangChain, InLlamaIndex)),
        *(
            (each, over(token_budget=3_000), 333)
            for each in (InLangChain, InLlamaIndex)
        ),
    ],
)
def test_a_count_or_a_budget_that_was_given_is_kept_to(framework, make, read):
    assert first_read(framework, make, CHUNKS) == 9 * read


@pytest.mark.parametrize(
    ("framework", "make", "options"),
    [
        (InLangChain, over(merge=True), {}),
        (
            InLangChain,
            lambda held: over()(held).with_config(tags=["a"]).with_retry(),
            {},
        ),
        (InLlamaIndex, over(merge=True), {}),
        (InLlamaIndex, lambda held: held.search(9), {"node_postprocessors": [ORDERS]}),
    ],
)
def test_of_what_comes_in_order_the_best_is_read_where_there_is_room_for_one(
    framework, make, options
):
    held = holding(framework, CHUNKS[:60])
    best, *_ = held.find(held.search(1), QUESTION)

    read = read_first(held, make(held), steps=[12, "full"], **options)

    assert read == [best.text]


@pytest.mark.parametrize("framework", [InLangChain, InLlamaIndex])
def test_what_a_retriever_around_a_store_finds_out_is_kept(framework):
    held, book = framework(), "".join(CHUNKS[:9])
    rows = enumerate(CHUNKS[:9])
    held.add([StoredChunk(text, {"source": "book"}, str(n)) for n, text in rows])

    assert read_first(held, over(documents={"book": book})(held)) == CHUNKS[:9]


@pytest.mark.parametrize("framework", [InLangChain, InLlamaIndex])
def test_documents_with_ids_that_were_made_up_are_read_by_their_files(framework):
    held, path = framework(), "/home/x/a.md"
    made_up = "00000000-0000-4000-8000-000000000005"
    ids = {"doc_id": made_up, "source": path, "start_index": 0}
    held.add([StoredChunk("It was", ids, "1")])
    texts = {path: "It was built in 1912."}
    routed = held.routed(held.search(4), REFUSAL, "In 1912.", documents=texts)

    assert routed.verify().chunks == 1
    assert held.ask(routed).texts == [*texts.values()]
