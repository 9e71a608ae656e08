"""`create_retrieval_tool`: what a model reads, and what an application keeps."""

from itertools import pairwise

import pytest
from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from langchain_core.runnables import ConfigurableField
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import ConfigDict

from langchain_oprag import (
    OrderPreservingCompressor,
    OrderPreservingRetriever,
    OrderPreservingVectorStore,
    create_retrieval_tool,
    format_documents,
)
from oprag import place_of
from oprag.errors import InvalidOptionError
from tests.kit.words import words
from tests.langchain.corpus import QUERY, ListRetriever, RecordingStore, book, numbers

CALL = {"name": "search_documents", "args": {"query": QUERY}, "id": "1"}


@pytest.fixture
def store():
    return RecordingStore(book(40))


def called(made) -> ToolMessage:
    return made.invoke({"type": "tool_call", **CALL})


def in_order(documents):
    return all(first <= second for first, second in pairwise(numbers(documents)))


# What the model reads


@pytest.mark.parametrize(
    "given",
    [
        lambda store: (store, SMALL),
        lambda store: (store.as_retriever(), SMALL),
        lambda store: (ordered(store), {}),
        lambda store: (OrderPreservingVectorStore(store, **SMALL), {}),
        lambda store: (ordered(store).with_config(tags=["x"]), {}),
        lambda store: (ordered(store).with_retry(), {}),
        lambda store: (ordered(store).configurable_fields(k=FIELD), {}),
        lambda store: (ordered(store) | OrderPreservingCompressor(), {}),
        lambda store: (ordered(store).configurable_alternatives(FIELD), SMALL),
    ],
)
def test_the_budget_has_room_for_all_that_is_written_and_is_used(given, store):
    searched, options = given(store)
    message = called(create_retrieval_tool(searched, **options))

    assert 90 < words(message.content) <= 120
    assert message.content == format_documents(message.artifact)
    assert in_order(message.artifact)


FIELD = ConfigurableField("k")
SMALL = {"token_budget": 120, "token_counter": words}


def ordered(store):
    return OrderPreservingRetriever(vectorstore=store, **SMALL)


def test_the_options_of_an_ordered_retriever_hold_and_it_is_not_changed(store):
    retriever = OrderPreservingRetriever(vectorstore=store, k=30, token_budget=999)

    made = create_retrieval_tool(retriever)
    message = called(made)

    assert len(message.artifact) == 30
    assert "\n\n[…]\n\n" in message.content
    assert not retriever.citations
    with pytest.raises(InvalidOptionError, match="token_budget=9 is not possible"):
        create_retrieval_tool(retriever, token_budget=9)


def test_nothing_found_is_said():
    message = called(create_retrieval_tool(ListRetriever(documents=[])))

    assert message.content == "No passages were found."
    assert message.artifact == []


def test_the_model_is_told_what_the_tool_does_and_takes(store):
    made = create_retrieval_tool(store)
    own = create_retrieval_tool(store, name="search_lease", description="The lease.")

    assert made.name == "search_documents"
    assert made.description == (
        "Searches the documents. Returns passages in the order of their documents, "
        "each after its source and place; […] marks text that was left out."
    )
    assert list(made.args) == ["query"]
    assert made.args["query"]["description"].startswith("What to look for")
    assert (own.name, own.description) == ("search_lease", "The lease.")


# What the application keeps


def test_the_artifact_is_plain_documents_that_a_checkpointer_stores():
    class Page(Document):
        model_config = ConfigDict(arbitrary_types_allowed=True)

    page = Page("Of a class of the user's.", id="p", metadata={"source": "a.txt"})
    serde = JsonPlusSerializer()

    artifact = called(create_retrieval_tool(ListRetriever(documents=[page]))).artifact

    assert [type(each) for each in artifact] == [Document]
    assert place_of(artifact[0]).citation == "a.txt"
    assert artifact[0].id == "p"
    assert serde.loads_typed(serde.dumps_typed(artifact)) == artifact
