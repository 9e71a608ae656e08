"""Callbacks, tags, metadata and configuration reach the wrapped retriever."""

from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler

from langchain_oprag import OrderPreservingRetriever, create_retrieval_tool
from tests.langchain.corpus import QUERY, ListRetriever, RecordingStore, book, chunk


class Runs(BaseCallbackHandler):
    """Remembers every retriever run that started, and how it ended."""

    def __init__(self) -> None:
        self.started: list[dict[str, Any]] = []
        self.ended: list[Any] = []

    def on_retriever_start(
        self,
        serialized,
        query,
        *,
        run_id,
        parent_run_id=None,
        tags=None,
        metadata=None,
        **kwargs,
    ):
        run = {"id": run_id, "parent": parent_run_id, "tags": tags, **kwargs}
        self.started.append({**run, "metadata": metadata})

    def on_tool_start(self, *args, run_id, parent_run_id=None, **kwargs):
        self.started.append({"id": run_id, "parent": parent_run_id})

    def on_retriever_end(self, documents, *, run_id, **kwargs):
        self.ended.append((run_id, len(documents)))

    def on_retriever_error(self, error, *, run_id, **kwargs):
        self.ended.append((run_id, type(error).__name__))


def wrapped() -> OrderPreservingRetriever:
    base = ListRetriever(documents=[chunk(2), chunk(1)], tags=["inner"])
    return OrderPreservingRetriever(
        base_retriever=base, k=1, tags=["outer"], metadata={"own": 1}
    )


def test_an_error_of_ours_ends_our_run_alone():
    runs = Runs()
    retriever = wrapped()
    retriever.position_keys = "nowhere"

    with pytest.raises(ValueError, match="nowhere"):
        retriever.invoke(QUERY, {"callbacks": [runs]})

    outer, inner = runs.started
    assert runs.ended == [(inner["id"], 2), (outer["id"], "MissingPositionError")]


def test_the_vector_store_and_its_embedding_are_named_to_langsmith():
    runs = Runs()
    retriever = OrderPreservingRetriever(vectorstore=RecordingStore(book()), k=2)

    retriever.invoke(QUERY, {"callbacks": [runs]})

    named = {
        k: v for k, v in runs.started[0]["metadata"].items() if k.startswith("ls_")
    }
    assert named == {
        "ls_retriever_name": "orderpreserving",
        "ls_vector_store_provider": "RecordingStore",
        "ls_embedding_provider": "DeterministicFakeEmbedding",
    }


@pytest.mark.parametrize("awaited", [False, True])
async def test_what_a_tool_searches_is_a_run_within_the_run_of_the_tool(awaited):
    runs = Runs()

    made = create_retrieval_tool(RecordingStore(book()), k=2)
    asked = {"query": QUERY}, {"callbacks": [runs]}
    await made.ainvoke(*asked) if awaited else made.invoke(*asked)

    tool, ours, inner = runs.started
    assert (ours["parent"], inner["parent"]) == (tool["id"], ours["id"])
