"""How many chunks an index is asked for: the same in both frameworks."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.indices.vector_store import VectorIndexRetriever

import langchain_oprag
import llamaindex_oprag
from oprag.units import group_documents
from tests.kit.words import words
from tests.langchain.corpus import RecordingStore, book, chunk
from tests.parity.components import nodes
from tests.stores.llamaindex_fakes import ChecksumEmbedding

COUNTED = {"token_counter": words}
UNITS = group_documents({"many": "x", "few": "y"}, [], 9, words)
OF_UNITS: dict[str, Any] = {"units": UNITS, "documents": {"many": "x", "few": "y"}}


class Counting(VectorIndexRetriever):
    """Keeps how many nodes it is asked for; copies share the list."""

    asked: list[int] = []  # noqa: RUF012 -- that is meant

    def _retrieve(self, query_bundle):
        self.asked.append(self.similarity_top_k)
        return super()._retrieve(query_bundle)

    async def _aretrieve(self, query_bundle):
        self.asked.append(self.similarity_top_k)
        return await super()._aretrieve(query_bundle)


class InLangChain:
    def __init__(self, chunks: Any) -> None:
        self.base = RecordingStore(chunks)

    @property
    def asked(self) -> list[int]:
        return [each["k"] for each in self.base.asked]

    def found(self, kind: str, count: int | None = None, **options: Any) -> list[str]:
        made = getattr(langchain_oprag, kind)(vectorstore=self.base, k=count, **options)
        return [each.page_content for each in made.invoke("?")]

    async def afound(self, kind: str, count: int | None = None, **options: Any) -> Any:
        made = getattr(langchain_oprag, kind)(vectorstore=self.base, k=count, **options)
        return [each.page_content for each in await made.ainvoke("?")]


class InLlamaIndex:
    def __init__(self, chunks: Any) -> None:
        pairs = [(each.page_content, each.metadata) for each in chunks]
        made = [each.node for each in nodes(*zip(*pairs, strict=True))]
        self.base = Counting(VectorStoreIndex(made, embed_model=ChecksumEmbedding()))
        self.asked = self.base.asked
        self.asked.clear()

    def found(self, kind: str, count: int | None = None, **options: Any) -> list[str]:
        options["similarity_top_k"] = count
        found = getattr(llamaindex_oprag, kind)(self.base, **options).retrieve("?")
        assert self.base.similarity_top_k == 2  # its own is not written to
        return [each.text for each in found]

    async def afound(self, kind: str, count: int | None = None, **options: Any) -> Any:
        options["similarity_top_k"] = count
        made = getattr(llamaindex_oprag, kind)(self.base, **options)
        return [each.text for each in await made.aretrieve("?")]


FRAMEWORKS = pytest.mark.parametrize("framework", [InLangChain, InLlamaIndex])


@FRAMEWORKS
@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ({}, 16),
        ({"selection": "recall"}, 1200),
        ({"selection": "recall", "count": 20}, 20),
        ({"count": 3}, 3),
    ],
)
async def test_for_enough_to_choose_from(framework, options, asked):
    made = framework(book(40))

    found = made.found("OrderPreservingRetriever", token_budget=8, **COUNTED, **options)
    again = await made.afound(
        "OrderPreservingRetriever", token_budget=8, **COUNTED, **options
    )

    assert made.asked == [asked] * 2
    assert again == found


@FRAMEWORKS
def test_until_a_budget_is_full(framework):
    """200 words hold 50 chunks of 4."""
    made = framework(book(300))

    found = made.found("OrderPreservingRetriever", token_budget=200, **COUNTED)

    assert made.asked == [16, 32, 64]
    assert len(found) == 50
    assert found == sorted(found)


@FRAMEWORKS
def test_until_there_are_enough_units(framework):
    """Eight for each unit and 16 at least; twice as many, until there are no more."""
    made = framework([chunk(n, "many" if n < 150 else "few") for n in range(151)])

    assert sorted(made.found("LongUnitRetriever", 2, **OF_UNITS)) == ["x", "y"]

    assert made.asked == [16 * 2**n for n in range(len(made.asked))]
    assert len(made.asked) > 1


def test_units_begin_with_the_k_of_search_kwargs_if_that_is_more():
    store = RecordingStore([chunk(0, "many")])
    for own in (50, 2):
        base = store.as_retriever(search_kwargs={"k": own})
        retriever = langchain_oprag.LongUnitRetriever(
            base_retriever=base, k=1, **OF_UNITS
        )
        retriever.invoke("?")

    assert [each["k"] for each in store.asked] == [50, 16]
