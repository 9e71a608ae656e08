"""The way of a question: every path, through the real client, as the server saw it."""

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

from langchain_oprag import OrderPreservingRetriever
from oprag.metadata import result_hash
from tests.langchain.corpus import ListRetriever, RecordingStore
from tests.langchain.routes import (
    BOOK,
    QUESTION,
    REFUSAL,
    RETRIEVED,
    SENTENCES,
    WAYS,
    ask,
    chain_of,
    chat_model,
    decisions,
    sentence,
    text_in,
)
from tests.support.openai_server import Reply, scripted_server

__all__ = ["scripted_server"]


@pytest.mark.parametrize("way", WAYS)
async def test_an_answer_from_the_retrieved_chunks_is_final(scripted_server, way):
    server = scripted_server(["In 1912."])

    result = await ask(chain_of(server), way=way)

    assert len(server.requests) == 1
    assert list(result) == ["input", "context", "answer", "route", "usage"]
    assert result["input"] == QUESTION
    assert result["answer"] == "In 1912."
    assert result["route"] == {"rung": "retrieved", "answered": True}
    assert decisions(result) == {"retrieved": "answered"}


@pytest.mark.parametrize("way", WAYS)
async def test_a_refusal_sends_the_full_document(scripted_server, way):
    server = scripted_server([REFUSAL, "In 1912."])

    result = await ask(chain_of(server), way=way)

    first, second = server.requests
    assert BOOK not in first.prompt
    assert text_in(second) == BOOK
    assert "Another book." not in second.prompt
    assert result["answer"] == "In 1912."
    assert result["route"] == {"rung": "full", "answered": True}
    assert decisions(result) == {"retrieved": "declined", "full": "answered"}


@pytest.mark.parametrize("way", WAYS)
async def test_the_last_refusal_is_final_and_marked(scripted_server, way):
    server = scripted_server([REFUSAL, "Unanswerable from this."])

    result = await ask(chain_of(server), way=way)

    assert len(server.requests) == 2
    assert result["answer"] == "Unanswerable from this."
    assert result["route"] == {"rung": "full", "answered": False}
    assert decisions(result) == {"retrieved": "declined", "full": "declined"}


async def test_the_chunks_are_read_in_document_order(scripted_server):
    server = scripted_server(["In 1912."])

    result = await ask(chain_of(server))

    # Sentences 30 and 31 touch but for a blank, so that they are read as one.
    assert text_in(server.requests[0]) == (
        f"{SENTENCES[5]}\n\n{SENTENCES[30]}\n{SENTENCES[31]}"
    )
    assert [d.page_content for d in result["context"]] == [
        SENTENCES[5],
        SENTENCES[30],
        SENTENCES[31],
    ]
    assert {d.id for d in result["context"]} == {d.id for d in RETRIEVED}
    places = [
        (d.metadata["oprag_rank"], d.metadata["oprag_citation"])
        for d in result["context"]
    ]
    starts = [BOOK.index(SENTENCES[number]) for number in (5, 30, 31)]
    assert sorted(rank for rank, _ in places) == [0, 1, 2]
    assert [cited.split("-")[0] for _, cited in places] == [
        f"book.txt, characters {start}" for start in starts
    ]


async def test_by_score_they_are_read_best_first_behind_their_numbers(scripted_server):
    server = scripted_server(["In 1912."])
    found = [
        Document(text, metadata={"source": "book.txt", "chunk_index": index})
        for text, index in (("Better.", 7), ("Worse.", 3))
    ]

    await ask(chain_of(server, found=found, order="score"))

    assert text_in(server.requests[0]) == "[Chunk 7] Better.\n\n[Chunk 3] Worse."


async def test_the_documents_read_in_full_are_given_back(scripted_server):
    server = scripted_server([REFUSAL, "In 1912."])

    result = await ask(chain_of(server))

    (document,) = result["context"]
    assert document.page_content == BOOK
    assert document.metadata == {
        "source": "book.txt",
        "kind": "book",
        "doc_uri": "book.txt",
        "oprag_rank": 0,
        "oprag_citation": f"book.txt, characters 0-{len(BOOK)}",
        "oprag_document": "book.txt",
        "oprag_key": "book.txt",
        "oprag_start": 0,
        "oprag_end": len(BOOK),
        "oprag_exact": True,
        "oprag_hash": result_hash(BOOK),
    }
    assert RETRIEVED[0].metadata["start_index"] > 0


async def test_nothing_retrieved_calls_no_model(scripted_server):
    server = scripted_server([])

    result = await ask(chain_of(server, found=[]))

    assert server.requests == []
    assert result["answer"] == "unanswerable"
    assert result["context"] == []
    assert result["route"] == {"rung": None, "answered": False}
    assert decisions(result) == {"retrieved": "skipped", "full": "skipped"}


@pytest.mark.parametrize("way", WAYS)
async def test_nothing_retrieved_of_the_only_document_reads_it_in_full(
    scripted_server, way
):
    server = scripted_server(["In 1912."])
    chain = chain_of(server, found=[], documents={"book.txt": BOOK})

    result = await ask(chain, way=way)

    assert [text_in(request) for request in server.requests] == [BOOK]
    assert result["route"] == {"rung": "full", "answered": True}
    assert decisions(result) == {"retrieved": "skipped", "full": "answered"}
    assert result["context"][0].metadata["doc_uri"] == "book.txt"


@pytest.mark.parametrize("way", WAYS)
async def test_the_same_context_is_not_sent_twice_and_the_refusal_stands(
    scripted_server, way
):
    server = scripted_server([REFUSAL])
    whole = Document("All of it.", metadata={"source": "a", "start_index": 0})
    chain = chain_of(server, found=[whole], documents={"a": "All of it."})

    result = await ask(chain, way=way)

    assert len(server.requests) == 1
    assert result["answer"] == REFUSAL
    assert [d.page_content for d in result["context"]] == [whole.page_content]
    assert result["route"] == {"rung": "retrieved", "answered": False}
    assert decisions(result) == {"retrieved": "declined", "full": "skipped"}


async def test_rungs_with_budgets_read_more_each_time(scripted_server):
    server = scripted_server([REFUSAL, REFUSAL, "In 1912."])
    # Best first, 6 words each: a budget of 15 holds two of them.
    found = [sentence(number) for number in (50, 10, 20, 2)]
    chain = chain_of(server, found=found, rungs=[15, 40, "full"])

    result = await ask(chain)

    texts = [text_in(request) for request in server.requests]
    assert texts[0] == f"{SENTENCES[10]}\n\n{SENTENCES[50]}"
    assert texts[1] == "\n\n".join(SENTENCES[number] for number in (2, 10, 20, 50))
    assert texts[2] == BOOK
    assert result["route"] == {"rung": "full", "answered": True}
    assert list(decisions(result)) == ["15", "40", "full"]


async def test_a_vector_store_is_asked_for_as_many_as_the_largest_budget_holds(
    scripted_server,
):
    server = scripted_server(["In 1912."])
    store = RecordingStore([sentence(number) for number in range(60) if number % 2])
    chain = chain_of(server, retriever=store.as_retriever(), rungs=[15, 120, "full"])

    await ask(chain)

    assert len(store.asked) >= 1
    assert store.asked[-1]["k"] >= 20  # 120 words are 20 sentences of 6


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda retriever: retriever,
        lambda retriever: retriever.with_retry(),
        lambda retriever: retriever.with_config(tags=["mine"]).with_retry(),
    ],
)
async def test_a_retriever_that_orders_already_still_gives_the_best_first(
    scripted_server, wrapped
):
    server = scripted_server(["In 1912."])
    best_first = ListRetriever(documents=[sentence(50), sentence(10), sentence(20)])
    retriever = OrderPreservingRetriever(base_retriever=best_first, merge=True)

    await ask(chain_of(server, retriever=wrapped(retriever), rungs=[7, "full"]))

    assert text_in(server.requests[0]) == SENTENCES[50]
    assert retriever.order == "document"


async def test_any_runnable_that_gives_documents_will_do(scripted_server):
    server = scripted_server(["In 1912."])
    asked = []
    retriever = RunnableLambda(lambda query: asked.append(query) or RETRIEVED)

    await ask(chain_of(server, retriever=retriever.with_config(tags=["mine"])))

    assert asked == [QUESTION]


async def test_a_retriever_that_gives_no_documents_is_named(scripted_server):
    server = scripted_server([])
    retriever = RunnableLambda(lambda query: ["just a text"])

    with pytest.raises(ValueError, match=r"just a text.*list of documents"):
        await ask(chain_of(server, retriever=retriever))


async def test_only_the_best_documents_are_read_in_full(scripted_server):
    server = scripted_server([REFUSAL, "In 1912."])
    found = [
        Document("part of b", metadata={"source": "b", "start_index": 5}),
        Document("part of a", metadata={"source": "a", "start_index": 5}),
    ]
    chain = chain_of(server, found=found, documents={"a": "all of a", "b": "all of b"})
    chain.max_documents = 1

    await ask(chain)

    assert text_in(server.requests[1]) == "all of b"


async def test_each_rung_can_have_a_model_of_its_own(scripted_server):
    cheap = scripted_server([REFUSAL])
    large = scripted_server(["In 1912."])
    long_context = chat_model(large, model="large")

    result = await ask(chain_of(cheap, rung_llms={"full": long_context}))

    assert [request.body["model"] for request in cheap.requests] == ["cheap"]
    assert [request.body["model"] for request in large.requests] == ["large"]
    assert [rung["model"] for rung in result["usage"]["rungs"]] == ["cheap", "large"]


@pytest.mark.parametrize("way", WAYS)
async def test_several_questions_at_once_do_not_mix(scripted_server, way):
    server = scripted_server(
        lambda request: "First." if "question one" in request.prompt else "Second."
    )
    chain = chain_of(server)

    if way in {"batch", "abatch"}:
        questions = ["question one", "question two"]
        results = (
            chain.batch(questions) if way == "batch" else await chain.abatch(questions)
        )
    else:
        results = [await ask(chain, f"question {n}", way) for n in ("one", "two")]

    assert [result["answer"] for result in results] == ["First.", "Second."]


@pytest.mark.parametrize("way", WAYS)
async def test_structured_output_declines_by_a_field(scripted_server, way):
    server = scripted_server(
        [
            '{"answerable": false, "answer": ""}',
            '{"answerable": true, "answer": "In 1912."}',
        ]
    )

    result = await ask(chain_of(server, structured_output=True), way=way)

    schema = server.requests[0].body["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == ["answerable", "answer"]
    assert text_in(server.requests[1]) == BOOK
    assert result["answer"] == "In 1912."
    assert result["route"] == {"rung": "full", "answered": True}


@pytest.mark.parametrize("way", WAYS)
async def test_a_structured_answer_that_is_a_refusal_declines_too(scripted_server, way):
    server = scripted_server(
        [
            '{"answerable": true, "answer": "unanswerable"}',
            '{"answerable": false, "answer": "It is not said."}',
        ]
    )

    result = await ask(chain_of(server, structured_output=True), way=way)

    assert result["answer"] == "unanswerable"
    assert result["route"] == {"rung": "full", "answered": False}


async def test_other_sentinels_decline(scripted_server):
    server = scripted_server(["Ohne Antwort.", "1912."])
    chain = chain_of(server, sentinel="ohne Antwort")

    result = await ask(chain)

    assert "ohne Antwort" in server.requests[0].prompt
    assert "unanswerable" not in server.requests[0].prompt
    assert result["answer"] == "1912."
    assert result["route"]["rung"] == "full"


async def test_an_answer_that_mentions_the_word_is_an_answer(scripted_server):
    server = scripted_server(["Unanswerable arguments were made by Burke."])

    result = await ask(chain_of(server))

    assert len(server.requests) == 1
    assert result["route"] == {"rung": "retrieved", "answered": True}


async def test_a_reply_of_blocks_is_read_without_its_reasoning(scripted_server):
    server = scripted_server(
        [
            Reply("<think>Is it unanswerable? Perhaps.</think>\nunanswerable"),
            Reply("<think>Line 40.</think>In 1912.", reasoning="apart"),
        ]
    )

    result = await ask(chain_of(server))

    assert result["answer"] == "In 1912."
    assert result["route"] == {"rung": "full", "answered": True}


def test_the_defaults_are_those_of_the_paper(scripted_server):
    chain = chain_of(scripted_server([]))

    assert tuple(chain.rungs) == ("retrieved", "full")
    assert chain.order == "document"
    assert chain.window_overflow == "order_preserving"
