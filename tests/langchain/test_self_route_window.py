"""No request exceeds the declared window, whatever is retrieved and however cut."""

import pytest
from langchain_core.documents import Document

from oprag.errors import ContextWindowError
from tests.langchain.routes import (
    BOOK,
    QUESTION,
    REFUSAL,
    RETRIEVED,
    SENTENCES,
    ask,
    chain_of,
    chat_model,
    sentence,
    text_in,
)
from tests.support.openai_server import count_words, scripted_server

pytestmark = pytest.mark.slow

__all__ = ["scripted_server"]

WORDS = len(BOOK.split())
RESERVED = 20
FRAME = 7
"""What is reckoned with for the format of one message."""


def always_declining(request):
    return REFUSAL


@pytest.mark.parametrize("window_overflow", ["order_preserving", "truncate_middle"])
@pytest.mark.parametrize("window", [134, 137, 150, 180, 200, 299, 400, 479, 1000])
async def test_no_request_exceeds_the_window(scripted_server, window, window_overflow):
    server = scripted_server(always_declining)
    chain = chain_of(
        server,
        rungs=[20, 60, "full"],
        found=[sentence(number) for number in (30, 5, 31, 50, 8, 9, 10, 41, 2)],
        max_context_tokens=window,
        answer_tokens=RESERVED,
        window_overflow=window_overflow,
        documents={"book.txt": BOOK},
    )

    await ask(chain)

    assert len(server.requests) >= 2
    for request in server.requests:
        assert count_words(request.prompt) + FRAME + RESERVED <= window


async def test_what_fits_is_the_largest_selection_with_the_retrieved_first(
    scripted_server,
):
    server = scripted_server([REFUSAL, "In 1912."])
    window = 250
    chain = chain_of(server, max_context_tokens=window, answer_tokens=RESERVED)

    result = await ask(chain)

    sent = text_in(server.requests[1])
    excerpts = result["context"]
    assert sent == "\n\n".join(d.page_content for d in excerpts)
    # Every excerpt is a slice of the book, in its order, and says which.
    spans = [(d.metadata["oprag_start"], d.metadata["oprag_end"]) for d in excerpts]
    assert spans == sorted(spans)
    assert [BOOK[start:end] for start, end in spans] == [
        d.page_content for d in excerpts
    ]
    for document in RETRIEVED:
        assert document.page_content in sent
    # Full but for less than one piece of 8 words.
    left = window - RESERVED - FRAME - count_words(server.requests[1].prompt)
    assert 0 <= left < 8
    note = result["usage"]["rungs"][1]["note"]
    assert note == f"order_preserving: {count_words(sent)} of {WORDS} tokens"


async def test_the_middle_is_cut_out_where_that_is_wanted(scripted_server):
    server = scripted_server([REFUSAL, "In 1912."])
    chain = chain_of(
        server,
        max_context_tokens=250,
        answer_tokens=RESERVED,
        window_overflow="truncate_middle",
    )

    result = await ask(chain)

    head, tail = text_in(server.requests[1]).split("\n\n")
    assert BOOK.startswith(head)
    assert BOOK.endswith(tail)
    assert abs(count_words(head) - count_words(tail)) <= 1
    assert [d.page_content for d in result["context"]] == [head, tail]
    assert result["usage"]["rungs"][1]["note"].startswith("truncate_middle")


async def test_documents_that_do_not_fit_can_be_an_error(scripted_server):
    server = scripted_server([REFUSAL])
    chain = chain_of(server, max_context_tokens=250, window_overflow="error")

    with pytest.raises(ContextWindowError, match="window_overflow="):
        await ask(chain)

    assert len(server.requests) == 1


async def test_documents_that_fit_are_sent_whole(scripted_server):
    server = scripted_server([REFUSAL, "In 1912."])
    prompt = 100  # of the built-in prompt with question, frame and answer: less

    result = await ask(
        chain_of(server, max_context_tokens=WORDS + prompt + 256, answer_tokens=256)
    )

    assert text_in(server.requests[1]) == BOOK
    assert result["usage"]["rungs"][1]["note"] is None


async def test_the_worst_chunks_are_left_out_of_a_rung_that_exceeds_the_window(
    scripted_server,
):
    server = scripted_server(["In 1912."])
    numbers = [30, 5, 31, 50, 8, 9, 10, 41, 2, 59, 21, 22, 23]
    chain = chain_of(
        server,
        found=[sentence(number) for number in numbers],
        max_context_tokens=150,
        answer_tokens=RESERVED,
    )

    result = await ask(chain)

    sent = text_in(server.requests[0])
    kept = [number for number in numbers if SENTENCES[number] in sent]
    assert kept == numbers[: len(kept)]
    assert 0 < len(kept) < len(numbers)
    assert result["usage"]["rungs"][0]["note"] == "cut to the window"


async def test_an_unknown_window_is_noted_and_the_document_sent_whole(scripted_server):
    server = scripted_server([REFUSAL, "In 1912."])

    result = await ask(chain_of(server))

    assert text_in(server.requests[1]) == BOOK
    assert result["usage"]["rungs"][1]["note"] == "window unknown"


async def test_a_window_without_any_room_is_an_error(scripted_server):
    server = scripted_server([])

    with pytest.raises(ContextWindowError, match="no room"):
        await ask(chain_of(server, max_context_tokens=40))

    assert server.requests == []


async def test_the_longest_answer_of_the_model_is_kept_free(scripted_server):
    server = scripted_server([REFUSAL, "In 1912."])
    model = chat_model(server, max_tokens=120)

    await ask(chain_of(server, llm=model, max_context_tokens=300))

    sent = count_words(server.requests[1].prompt)
    assert 300 - 120 - FRAME - 8 < sent <= 300 - 120 - FRAME


async def test_so_is_one_that_is_bound_to_it(scripted_server):
    server = scripted_server([REFUSAL, "In 1912."])
    model = chat_model(server).bind(max_tokens=120).with_config(tags=["mine"])

    await ask(chain_of(server, llm=model, max_context_tokens=300))

    sent = count_words(server.requests[1].prompt)
    assert 300 - 120 - FRAME - 8 < sent <= 300 - 120 - FRAME


async def test_each_rung_can_have_a_window_of_its_own(scripted_server):
    server = scripted_server([REFUSAL, "In 1912."])
    windows = {"retrieved": 130, "full": 300}
    chain = chain_of(server, max_context_tokens=windows, answer_tokens=RESERVED)

    await ask(chain)

    first, second = (count_words(request.prompt) for request in server.requests)
    assert first <= 130 - RESERVED - FRAME
    assert 130 < second <= 300 - RESERVED - FRAME


async def test_the_models_profile_says_its_window(scripted_server):
    server = scripted_server([REFUSAL, "In 1912."])
    model = chat_model(server, profile={"max_input_tokens": 250})

    result = await ask(chain_of(server, llm=model, answer_tokens=RESERVED))

    assert count_words(server.requests[1].prompt) <= 250 - RESERVED - FRAME
    assert result["usage"]["rungs"][1]["note"].startswith("order_preserving")


async def test_what_the_user_says_goes_before_the_profile(scripted_server):
    server = scripted_server([REFUSAL, "In 1912."])
    model = chat_model(server, profile={"max_input_tokens": 50})

    await ask(chain_of(server, llm=model, max_context_tokens=2000))

    assert text_in(server.requests[1]) == BOOK


async def test_the_schema_of_a_structured_reply_counts(scripted_server):
    def request_words(structured_output):
        server = scripted_server(
            [
                '{"answerable": false, "answer": ""}',
                '{"answerable": true, "answer": "In 1912."}',
            ]
            if structured_output
            else [REFUSAL, "In 1912."]
        )
        chain = chain_of(
            server,
            max_context_tokens=300,
            answer_tokens=RESERVED,
            structured_output=structured_output,
        )
        chain.invoke(QUESTION)
        return count_words(server.requests[1].prompt)

    assert request_words(structured_output=False) - 20 > request_words(
        structured_output=True
    )


async def test_several_documents_share_the_window(scripted_server):
    server = scripted_server([REFUSAL, "In 1912."])
    found = [
        Document("b b b", metadata={"source": "b", "start_index": 0}),
        sentence(30),
    ]
    documents = {"b": "b b b " * 100, "book.txt": BOOK}
    chain = chain_of(
        server,
        found=found,
        documents=documents,
        max_context_tokens=300,
        answer_tokens=RESERVED,
    )

    result = await ask(chain)

    names = [document.metadata["doc_uri"] for document in result["context"]]
    assert names == sorted(names, key=["b", "book.txt"].index)
    assert set(names) == {"b", "book.txt"}
    assert SENTENCES[30] in text_in(server.requests[1])


@pytest.mark.parametrize(
    "options",
    [
        {"max_context_tokens": 0},
        {"max_context_tokens": {"full": -1}},
        {"max_context_tokens": {"fool": 100}},
        {"answer_tokens": 0},
        {"window_overflow": "drop"},
    ],
)
def test_windows_that_cannot_be_are_refused(scripted_server, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        chain_of(scripted_server([]), **options)
