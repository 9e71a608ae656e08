"""The results of a question: by score, in order, merged, within the budget."""

from __future__ import annotations

import pytest

from langchain_oprag import OrderPreservingRetriever
from oprag import render
from oprag.cli.demo import jumps_back, language_reference
from oprag.cli.embedding_models import load_embedding_model
from oprag.cli.index import own_index
from oprag.cli.options import SearchOptions
from oprag.cli.search import retrieve
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
def vectorstore(text, tiny_model, tmp_path_factory):
    read = FilesRead((FileText("try and with", text),), ())
    folder = tmp_path_factory.mktemp("index")
    model = load_embedding_model(str(tiny_model))
    return own_index(["part"], read, model, folder=folder).vectorstore


@pytest.fixture(scope="module")
def retrieved(vectorstore):
    return retrieve(vectorstore, QUESTION, SearchOptions(token_budget=600))


def test_by_score_the_reader_goes_back_and_in_document_order_never(retrieved):
    def back(chunks) -> int:
        return sum(jumps_back(chunk.span.start for chunk in chunks))

    assert back(retrieved.by_score) > 0
    assert back(retrieved.chunks) == 0


def test_the_order_is_that_of_the_retriever_that_users_put_in(retrieved, vectorstore):
    retriever = OrderPreservingRetriever(vectorstore=vectorstore, token_budget=600)

    read = [document.page_content for document in retriever.invoke(QUESTION)]

    assert read == [chunk.text for chunk in retrieved.chunks]
    assert read != [chunk.text for chunk in retrieved.by_score]


def test_tokens_are_counted_as_they_are_sent_and_keep_to_the_budget(retrieved):
    counter = resolve_token_counter()

    assert retrieved.tokens == counter(render(retrieved.passages)) <= 600
    assert retrieved.passage_tokens == tuple(
        counter(passage.text) for passage in retrieved.passages
    )
