"""Chunks without positions, in order by what each real store holds of their page."""

import random
import re
import uuid

import pytest
from langchain_text_splitters import RecursiveCharacterTextSplitter

from oprag import place_of
from oprag.effects import arun_effects, run_effects
from oprag.stores import SearchedChunks, StoredChunk
from tests.kit.frameworks import Held
from tests.kit.pages import page_text
from tests.real_stores.everywhere import everywhere, opened

PAGES = {number: page_text(number) for number in range(5)}
HIDDEN = page_text(50)


def cut(page: int, text: str, tenant: str) -> list[StoredChunk]:
    splitter = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200)
    metadata = {"source": "a/report.pdf", "page": page, "tenant": tenant}
    return [
        StoredChunk(each, metadata, str(uuid.uuid5(uuid.NAMESPACE_OID, each)))
        for each in splitter.split_text(text)
    ]


def is_changed(place) -> bool:
    """Whether chunks can be taken out, and a retriever finds those that follow."""
    return not place.slow and not re.search("faiss|llamaindex-simple", place.id)


@pytest.mark.parametrize("place", everywhere(is_changed))
def test_a_page_that_another_writes_anew_is_read_anew(place, request):
    held = opened(place, request)
    first, second = cut(0, PAGES[0], "a"), cut(1, PAGES[1], "a")
    held.add(first[::-1] + second[::-1])
    retriever = held.ordered(held.search(100))
    assert len(held.find(retriever)) == len(first) + len(second)

    new = page_text(70)[: len(PAGES[1])]
    written = cut(1, new, "a")
    assert len(written) == len(second)  # the store has as many chunks as before
    held.delete([each.id for each in second])
    held.add(written[::-1])
    assert [each.text for each in held.find(retriever)] == [
        each.text for each in first + written
    ]


@pytest.fixture(scope="module", params=everywhere(lambda each: not each.slow))
def held(request: pytest.FixtureRequest) -> Held:
    made = opened(request.param, request)
    chunks = [each for n, text in PAGES.items() for each in cut(n, text, "a")]
    chunks += cut(5, HIDDEN, "b")
    random.Random(7).shuffle(chunks)  # noqa: S311 -- an order, no secret
    made.add(chunks)
    return made


def found_at(found: list[StoredChunk]) -> list[tuple[int, int]]:
    pages = [int(each.metadata["page"]) for each in found]
    texts = {**PAGES, 5: HIDDEN}
    return [
        (n, texts[n].index(each.text)) for n, each in zip(pages, found, strict=True)
    ]


def test_they_are_in_order(held):
    found = held.find(held.ordered(held.search(15)))
    assert len(found) == 15
    assert found_at(found) == sorted(found_at(found))
    proofs = [
        place_of({"metadata": each.metadata, "text": each.text}) for each in found
    ]
    assert {each.proof for each in proofs} == {"chained"}


async def test_awaited_they_are_in_order(held, request):
    if re.search("llamaindex-qdrant|postgres-collection", request.node.name):
        pytest.skip("it is made for sync calls alone")
    found = await held.afind(held.ordered(held.search(12)))
    assert found_at(found) == sorted(found_at(found))
    if "llamaindex-postgres" in request.node.name:
        await held.store.close()  # in the event loop of its connections


def test_nothing_is_shown_that_a_filter_hides(held):
    for where in held.filters:
        found = held.find(held.ordered(held.search(30, where), on_problem="warn"))
        assert {each.metadata["tenant"] for each in found} == {"a"}
        assert found_at(found) == sorted(found_at(found))


def test_a_store_that_selects_gives_what_is_asked_for(held):
    chunks = SearchedChunks(held.chunks)
    found = run_effects(
        chunks.select({"source": ["a/report.pdf"], "page": [1, 3]}, 100)
    )
    assert (found is not None) == held.chunks.is_queried
    if found is not None:
        own = [*cut(1, PAGES[1], "a"), *cut(3, PAGES[3], "a")]
        assert sorted(each.text for each in found) == sorted(each.text for each in own)
        few = run_effects(chunks.select({"source": ["a/report.pdf"]}, 4))
        assert len(few or ()) == 4
    assert len(run_effects(chunks.first(6))) == 6


async def test_awaited_it_gives_the_same(held):
    chunks = SearchedChunks(held.chunks)
    found = await arun_effects(chunks.select({"source": ["a/report.pdf"]}, 100))
    assert (found is not None) == held.chunks.is_queried
    assert len(await arun_effects(chunks.first(6))) == 6
