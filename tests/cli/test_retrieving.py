"""What a question brings: by score, in order, merged, within the budget."""

from __future__ import annotations

import pytest

from langchain_oprag import OrderPreservingRetriever
from oprag import render
from oprag.cli.demo import jumps_back, language_reference
from oprag.cli.index import own_index
from oprag.cli.options import ReadingOrder, SearchOptions
from oprag.cli.searching import retrieve, retrieved_values
from oprag.errors import BudgetTooSmallError
from oprag.files import FilesRead, FileText
from oprag.tokens import resolve_token_counter

QUESTION = "What happens when an exception is raised inside a with statement?"


@pytest.fixture(scope="module")
def text() -> str:
    """The reference's sections on `try` and `with`, and a little more."""
    reference = language_reference()
    start = reference.index('The "try" statement\n=====')
    return reference[start : start + 11_000]


@pytest.fixture(scope="module")
def vectorstore(text, minilm, tmp_path_factory):
    read = FilesRead((FileText("try and with", text),), ())
    folder = tmp_path_factory.mktemp("index")
    return own_index(["part"], read, minilm, folder=folder).vectorstore


@pytest.fixture(scope="module")
def retrieved(vectorstore):
    return retrieve(vectorstore, QUESTION, SearchOptions(token_budget=600))


@pytest.mark.slow
def test_the_answer_is_among_the_passages_however_they_are_ordered(retrieved):
    told = " ".join(" ".join(p.text for p in retrieved.passages).split())

    assert "If the suite was exited due to an exception" in told


def test_by_score_the_reader_goes_back_and_in_document_order_never(retrieved):
    def back(chunks) -> int:
        return sum(jumps_back(chunk.span.start for chunk in chunks))

    assert back(retrieved.by_score) > 0
    assert back(retrieved.chunks) == 0


def test_the_best_chunk_is_the_first_that_the_store_finds(retrieved, vectorstore):
    found = vectorstore.similarity_search(QUESTION, k=len(retrieved.by_score))

    assert [c.text for c in retrieved.by_score] == [d.page_content for d in found]


def test_the_order_is_that_of_the_retriever_that_users_put_in(retrieved, vectorstore):
    retriever = OrderPreservingRetriever(vectorstore=vectorstore, token_budget=600)

    read = [document.page_content for document in retriever.invoke(QUESTION)]

    assert read == [chunk.text for chunk in retrieved.chunks]
    assert read != [chunk.text for chunk in retrieved.by_score]


def test_every_span_is_its_slice_of_the_text(retrieved, text):
    for passage in retrieved.passages:
        ((start, end),) = passage.spans
        assert passage.text == text[start:end]
        assert passage.citation == f"try and with, characters {start}-{end}"


def test_tokens_are_counted_as_they_are_sent_and_keep_to_the_budget(retrieved):
    counter = resolve_token_counter()

    assert retrieved.tokens == counter(render(retrieved.passages)) <= 600
    assert retrieved.passage_tokens == tuple(
        counter(passage.text) for passage in retrieved.passages
    )


def test_a_larger_budget_brings_more(retrieved, vectorstore):
    larger = retrieve(vectorstore, QUESTION, SearchOptions(token_budget=1200))

    best = [chunk.text for chunk in retrieved.by_score]
    assert [chunk.text for chunk in larger.by_score][: len(best)] == best
    assert len(larger.by_score) > len(best)


def test_a_budget_for_everything_gives_the_text_itself(vectorstore, text):
    everything = retrieve(vectorstore, QUESTION, SearchOptions(token_budget=100_000))

    assert [passage.text for passage in everything.passages] == [text]


def test_k_keeps_the_best(retrieved, vectorstore):
    three = retrieve(vectorstore, QUESTION, SearchOptions(token_budget=600, k=3))

    best = [chunk.text for chunk in retrieved.by_score]
    assert [chunk.text for chunk in three.by_score] == best[:3]


def test_citations_count_towards_the_budget_and_the_best_stay(retrieved, vectorstore):
    options = SearchOptions(token_budget=600)
    cited = retrieve(vectorstore, QUESTION, options, citations=True)

    assert cited.context == render(cited.passages, citations=True)
    assert 400 < resolve_token_counter()(cited.context) == cited.tokens <= 600
    best = [chunk.text for chunk in cited.by_score]
    assert best == [chunk.text for chunk in retrieved.by_score][: len(best)]
    one = retrieve(vectorstore, QUESTION, SearchOptions(token_budget=600, k=1))
    with pytest.raises(BudgetTooSmallError):
        retrieve(
            vectorstore,
            QUESTION,
            SearchOptions(token_budget=one.tokens),
            citations=True,
        )


def test_in_order_of_score_and_unmerged_the_passages_are_the_chunks(
    retrieved, vectorstore
):
    options = SearchOptions(token_budget=600, order=ReadingOrder.SCORE, merge=False)
    plain = retrieve(vectorstore, QUESTION, options)

    texts = [passage.text for passage in plain.passages]
    assert texts == [chunk.text for chunk in plain.by_score]
    assert texts == [chunk.text for chunk in retrieved.by_score][: len(texts)]
    assert plain.chunks == plain.by_score


def test_a_budget_that_holds_nothing_is_an_error(vectorstore):
    with pytest.raises(BudgetTooSmallError):
        retrieve(vectorstore, QUESTION, SearchOptions(token_budget=3))


def test_the_values_say_the_same(retrieved, text):
    values = retrieved_values(retrieved)

    assert values["question"] == QUESTION
    assert values["tokens"] == retrieved.tokens
    for passage in values["passages"]:
        assert [text[start:end] for start, end in passage["spans"]] == [passage["text"]]
    ranks = [rank for passage in values["passages"] for rank in passage["ranks"]]
    assert [chunk["rank"] for chunk in values["by_score"]] == sorted(ranks)
    assert sorted(ranks) == list(range(len(ranks))) != ranks
    for chunk in values["by_score"]:
        start, end = chunk["span"]
        assert text[start:end] == chunk["text"]
