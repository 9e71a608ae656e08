"""`selection=` through the components, on a real store."""

from __future__ import annotations

import pytest
from llama_index.core.indices.vector_store.retrievers import VectorIndexRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.schema import QueryBundle

from llamaindex_oprag import (
    LongUnitRetriever,
    OrderPreservingRetriever,
    SelfRouteQueryEngine,
)
from oprag.units.grouping_documents import group_documents
from tests.llamaindex.corpus import QUESTION, index, scored
from tests.llamaindex.recording import WordEmbedding


def words(text):
    return len(text.split())


def touching(number):
    text = f"§{number}§ says it. "
    return scored(
        text, char_start=number * len(text), char_end=(number + 1) * len(text)
    )


FOUND = [touching(5), touching(9), touching(6)]
for _found in FOUND:
    _found.node.excluded_llm_metadata_keys = list(_found.node.metadata)


class Asked(VectorIndexRetriever):
    """Notes how many nodes it is asked for."""

    asked: list[int] = []  # noqa: RUF012 -- shared by the copies that ask

    def _retrieve(self, query_bundle):
        self.asked.append(self.similarity_top_k)
        return super()._retrieve(query_bundle)


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ({}, 16),
        ({"selection": "recall"}, 1200),
        ({"selection": "recall", "similarity_top_k": 20}, 20),
    ],
)
def test_an_index_is_asked_for_enough_to_choose_from(options, asked):
    base = Asked(index(), embed_model=WordEmbedding())
    Asked.asked.clear()
    OrderPreservingRetriever(base, token_budget=60, **options).retrieve(QUESTION)
    assert Asked.asked == [asked]


class Repeating(Asked):
    """Gives as many nodes as it is asked for, and some more: the same ones."""

    more = 0

    def _retrieve(self, query_bundle):
        self.asked.append(self.similarity_top_k)
        number = self.similarity_top_k + self.more
        return [FOUND[place % len(FOUND)] for place in range(number)]

    async def _aretrieve(self, query_bundle):
        return self._retrieve(query_bundle)


@pytest.mark.parametrize("more", [-1, 0, 5])
@pytest.mark.parametrize("way", ["retrieve", "aretrieve"])
async def test_an_index_that_repeats_itself_is_asked_once(more, way):
    base = Repeating(index(), embed_model=WordEmbedding())
    base.more = more
    full = " ".join(["word"] * 200)
    units = group_documents({"d": full, "b": "x"}, token_counter=words)
    texts = {"d": full, "b": "x"}
    routed = SelfRouteQueryEngine.from_args(
        base, MockLLM(), documents=texts, rungs=[64_000, "full"]
    )

    for retriever, least in (
        (OrderPreservingRetriever(base, token_budget=1_000_000), 15_625),
        (LongUnitRetriever(base, units=units, documents=texts, similarity_top_k=2), 16),
        (routed, 1_000),
    ):
        Asked.asked.clear()
        if way == "retrieve":
            retriever.retrieve(QueryBundle(QUESTION))
        else:
            await retriever.aretrieve(QueryBundle(QUESTION))
        # Once: LlamaIndex's retrievers leave out what comes again.
        assert Asked.asked == [least]
