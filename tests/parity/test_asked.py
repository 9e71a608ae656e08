"""How many chunks an index is asked for: the same in both frameworks."""

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
from tests.real_stores.llamaindex_fakes import ChecksumEmbedding

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

    async def found(
        self, kind: str, count: int | None = None, *, awaited: bool, **options: Any
    ) -> list[str]:
        made = getattr(langchain_oprag, kind)(vectorstore=self.base, k=count, **options)
        found = await made.ainvoke("?") if awaited else made.invoke("?")
        return [each.page_content for each in found]


class InLlamaIndex:
    def __init__(self, chunks: Any) -> None:
        pairs = [(each.page_content, each.metadata) for each in chunks]
        made = [each.node for each in nodes(*zip(*pairs, strict=True))]
        self.base = Counting(VectorStoreIndex(made, embed_model=ChecksumEmbedding()))
        self.asked = self.base.asked
        self.asked.clear()

    async def found(
        self, kind: str, count: int | None = None, *, awaited: bool, **options: Any
    ) -> list[str]:
        options["similarity_top_k"] = count
        made = getattr(llamaindex_oprag, kind)(self.base, **options)
        found = await made.aretrieve("?") if awaited else made.retrieve("?")
        assert self.base.similarity_top_k == 2  # its own is not written to
        return [each.text for each in found]


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
    made, kind = framework(book(40)), "OrderPreservingRetriever"

    found = [
        await made.found(kind, token_budget=8, awaited=each, **COUNTED, **options)
        for each in (False, True)
    ]

    assert made.asked == [asked] * 2
    assert found[0] == found[1]


@FRAMEWORKS
@pytest.mark.parametrize("awaited", [False, True])
async def test_until_a_budget_is_full(framework, awaited):
    """200 words hold 50 chunks of 4."""
    made, options = framework(book(300)), {"token_budget": 200, **COUNTED}

    found = await made.found("OrderPreservingRetriever", awaited=awaited, **options)

    assert made.asked == [16, 32, 64]
    assert len(found) == 50
    assert found == sorted(found)


@FRAMEWORKS
@pytest.mark.parametrize("awaited", [False, True])
async def test_until_there_are_enough_units(framework, awaited):
    """Eight for each unit and 16 at least; twice as many, until there are no more."""
    made = framework([chunk(n, "many" if n < 150 else "few") for n in range(151)])

    found = await made.found("LongUnitRetriever", 2, awaited=awaited, **OF_UNITS)

    assert sorted(found) == ["x", "y"]
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
