"""Sentences that are retrieved alone and sent with their neighbours."""

import pytest
from llama_index.core.node_parser import SentenceWindowNodeParser

from tests.llamaindex.corpus import TEXT, document, index, numbers
from tests.llamaindex.places.registry import places_of
from tests.llamaindex.places.running import (
    answering,
    each_mode,
    each_place,
    with_and_without,
)


@pytest.fixture
def sentences():
    """Finds sentences; each knows the one before it and the one behind."""
    parser = SentenceWindowNodeParser.from_defaults(window_size=1)
    lease = index(document(text=TEXT.replace("\n\n", " ")), parser=parser)
    return lease.as_retriever(similarity_top_k=10)


async def first_of_each_window(built, names, mode):
    """Windows overlap, so what tells their order is where each begins."""
    text = await answering(built, names, mode)
    windows = [numbers(block) for block in text.split("\n\n")]
    assert sum(len(window) == 3 for window in windows) == 10
    return "".join(f"§{window[0]}§" for window in windows if window)


@each_mode
@each_place(places_of("windows"))
async def test_the_windows_are_sent_in_order(place, mode, sentences):
    ordered, plain = await with_and_without(
        place, mode, first_of_each_window, retriever=sentences
    )

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)
