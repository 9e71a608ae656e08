"""What a search's filter hides comes back nowhere, the same in both frameworks."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.vector_stores import (
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

import langchain_oprag
import llamaindex_oprag
from oprag.documents import SearchFilter
from oprag.errors import DocumentNotFoundError
from tests.kit.effort import cases
from tests.kit.tenants import OPEN, SHARED, Tenants, told, words
from tests.langchain.recording import RecordingChatModel
from tests.llamaindex.recording import RecordingLLM
from tests.stores.langchain_places import HashEmbeddings

pytestmark = pytest.mark.filterwarnings("ignore::oprag.errors.UnfilledBudgetWarning")

QUESTION = "What does the lease say?"
REPLIES = ("unanswerable", "An answer.")
FILTERS = {
    "none": ("ab", None, None),
    "is a": ("a", lambda d: d.metadata["tenant"] == "a", ("a", FilterOperator.EQ)),
    "is b": ("b", lambda d: d.metadata["tenant"] == "b", ("b", FilterOperator.EQ)),
    "not a": ("b", lambda d: d.metadata["tenant"] != "a", ("a", FilterOperator.NE)),
    "one of": ("ab", lambda d: d.metadata["tenant"] in "ab", (["a", "b"], "in")),
    "nobody": ("", lambda d: d.metadata["tenant"] == "c", ("c", FilterOperator.EQ)),
}
"""Whose chunks each admits, and how the frameworks are told."""
SELECTIONS: dict[str, dict[str, Any]] = {
    "merge": {"merge": True},
    "recall": {"selection": "recall", "token_budget": 1_000},
}
COMMON: dict[str, Any] = {
    "token_counter": words,
    "document_order": lambda chunks: chunks[0].metadata["source"],
}


class SameEmbedding(BaseEmbedding):
    """The vectors of `HashEmbeddings`, so that both frameworks rank alike."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return HashEmbeddings().embed_query(text)

    _get_query_embedding = _get_text_embedding

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


class Seen(NamedTuple):
    """What came of a search and of a question, in words of no framework."""

    passages: list[str]
    route: dict[str, Any]
    notes: list[Any]
    read: list[str]
    texts: dict[str, str | type[Exception]]
    """What `document_source` gives within the filter, or which error it raises."""
    everything: str
    """All that anybody was shown."""


async def full_texts(
    source: Any, where: Any, *, waiting: bool
) -> tuple[dict, list[str]]:
    found: dict[str, Any] = {}
    shown = []
    for name in (SHARED, OPEN):
        bound = source.within(SearchFilter(where))
        try:
            found[name] = await bound.aget(name) if waiting else bound.get(name)
        except DocumentNotFoundError as error:
            found[name] = type(error)
            shown += told(error)
    return found, [*shown, repr(found)]


async def by_langchain(
    tenants: Tenants, filtered: str, k: int, selection: str, *, waiting
):
    store = InMemoryVectorStore(HashEmbeddings())
    store.add_documents(tenants.documents())
    where = FILTERS[filtered][1]
    search = {"k": k} if where is None else {"k": k, "filter": where}
    model = RecordingChatModel(replies=[AIMessage(reply) for reply in REPLIES])
    retriever = langchain_oprag.OrderPreservingRetriever(
        base_retriever=store.as_retriever(search_kwargs=search),
        documents=store,
        **COMMON,
        **SELECTIONS[selection],
    )
    chain = langchain_oprag.SelfRouteChain(
        llm=model,
        retriever=store.as_retriever(search_kwargs=search),
        documents=store,
        max_context_tokens=100_000,
        token_counter=words,
    )
    if waiting:
        found = await retriever.ainvoke(QUESTION)
        answer = await chain.ainvoke(QUESTION)
    else:
        found, answer = retriever.invoke(QUESTION), chain.invoke(QUESTION)
    source = langchain_oprag.document_source(store)
    texts, shown = await full_texts(source, where, waiting=waiting)
    return Seen(
        [document.page_content for document in found],
        answer["route"],
        [rung["note"] for rung in answer["usage"]["rungs"]],
        [document.page_content for document in answer["context"]],
        texts,
        f"{found} {answer} {model.calls} {shown}",
    )


async def by_llamaindex(
    tenants: Tenants, filtered: str, k: int, selection: str, *, waiting
):
    index = VectorStoreIndex(tenants.nodes(), embed_model=SameEmbedding())
    asked = FILTERS[filtered][2]
    where = asked and MetadataFilters(
        filters=[MetadataFilter(key="tenant", value=asked[0], operator=asked[1])]
    )
    base = index.as_retriever(similarity_top_k=k, filters=where)
    model = RecordingLLM(replies=list(REPLIES))
    retriever = llamaindex_oprag.OrderPreservingRetriever(
        base, documents=index, **COMMON, **SELECTIONS[selection]
    )
    engine = llamaindex_oprag.SelfRouteQueryEngine.from_args(
        base, model, documents=index, max_context_tokens=100_000, token_counter=words
    )
    if waiting:
        found = await retriever.aretrieve(QUESTION)
        answer = await engine.aquery(QUESTION)
    else:
        found, answer = retriever.retrieve(QUESTION), engine.query(QUESTION)
    source = llamaindex_oprag.document_source(index)
    texts, shown = await full_texts(source, where, waiting=waiting)
    nodes = [each.to_dict() for each in (*found, *answer.source_nodes)]
    return Seen(
        [each.node.text for each in found],
        answer.metadata["route"],
        [rung["note"] for rung in answer.metadata["usage"]["rungs"]],
        [each.node.text for each in answer.source_nodes],
        texts,
        f"{json.dumps(nodes)} {answer} {answer.metadata} {model.prompts} {shown}",
    )


@settings(max_examples=cases(40))
@given(
    shared=st.text("ab", min_size=1, max_size=7),
    filtered=st.sampled_from(sorted(FILTERS)),
    k=st.sampled_from([1, 3, 4, 100]),
    selection=st.sampled_from(sorted(SELECTIONS)),
    waiting=st.booleans(),
)
@example(shared="ababa", filtered="is a", k=100, selection="merge", waiting=False)
@example(shared="ababa", filtered="is a", k=100, selection="recall", waiting=True)
@example(shared="abbba", filtered="is b", k=3, selection="recall", waiting=False)
async def test_what_a_filter_hides_is_shown_nowhere(
    shared, filtered, k, selection, waiting
):
    tenants = Tenants(shared)
    admitted = FILTERS[filtered][0]
    hidden = tenants.words_of("ab") - tenants.words_of(admitted)

    seen = [
        await by_langchain(tenants, filtered, k, selection, waiting=waiting),
        await by_llamaindex(tenants, filtered, k, selection, waiting=waiting),
    ]

    for each in seen:
        assert [word for word in sorted(hidden) if word in each.everything] == []
        for name, text in tenants.texts.items():
            owners = set(tenants.owners(name))
            if owners <= set(admitted):
                assert each.texts[name] == text
            elif owners & set(admitted):
                assert each.texts[name] is DocumentNotFoundError
            else:
                assert each.texts[name] is DocumentNotFoundError
    first, second = (each._replace(everything="") for each in seen)
    if admitted:
        assert first == second
    else:  # each framework has its own words where nothing was found
        assert first.passages == second.passages == []
        assert first.notes == second.notes
