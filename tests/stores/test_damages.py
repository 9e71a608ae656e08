"""Chunks damaged in every store: the document comes back as it was, or not at all."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from langchain_core.documents import Document
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.schema import TextNode

import langchain_oprag
import llamaindex_oprag
from oprag.documents import DocumentSource
from tests.documents.damages import Damaged, damaged
from tests.stores import langchain_places, llamaindex_places
from tests.stores.langchain_places import PLACES
from tests.stores.llamaindex_fakes import ChecksumEmbedding
from tests.stores.llamaindex_places import LLAMAINDEX_STORES

pytestmark = [
    pytest.mark.filterwarnings("ignore::oprag.errors.PositionWarning"),
    pytest.mark.filterwarnings(
        "ignore:Payload indexes have no effect in the local Qdrant"
    ),
]

MANY = int(os.environ.get("OPRAG_DAMAGES", "0")) or 40
"""Damaged documents per store."""


def cases(place: langchain_places.Place | llamaindex_places.Place) -> list[Damaged]:
    """Documents of our splitters and of others, each damaged once to three times."""
    rng = random.Random(place.id)  # noqa: S311 -- any will do
    return [
        damaged(f"o'brien {number}.txt", rng, foreign=number % 3 == 2)
        for number in range(MANY // 4 if place.slow else MANY)
    ]


def assert_whole_or_refused(
    damages: Sequence[Damaged], source: Callable[[bool], DocumentSource]
) -> None:
    outcomes: Counter[str] = Counter()
    for exact in (True, False):
        read = source(exact).read
        outcomes.update(case.check(read) for case in damages)
    expected = {"whole", "IncompleteDocumentError"}
    assert expected <= set(outcomes) or len(damages) < MANY


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.id)
def test_no_damage_in_a_langchain_store_gives_a_wrong_text(place, request, tmp_path):
    damages = cases(place)
    chunks = [
        Document(chunk.text, id=chunk.id, metadata=dict(chunk.metadata))
        for case in damages
        for chunk in case.chunks
    ]
    with place.make(tmp_path, request.getfixturevalue) as store:
        langchain_places.add(store, chunks)

        assert_whole_or_refused(
            damages, lambda exact: langchain_oprag.document_source(store, exact=exact)
        )


@pytest.mark.parametrize("place", LLAMAINDEX_STORES, ids=lambda place: place.id)
def test_no_damage_in_a_llamaindex_store_gives_a_wrong_text(place, request):
    damages = cases(place)
    storage = StorageContext.from_defaults(vector_store=place.make(request))
    index = VectorStoreIndex(
        [], storage_context=storage, embed_model=ChecksumEmbedding()
    )
    index.insert_nodes(
        [
            TextNode(text=chunk.text, id_=chunk.id, metadata=dict(chunk.metadata))
            for case in damages
            for chunk in case.chunks
        ]
    )

    assert_whole_or_refused(
        damages, lambda exact: llamaindex_oprag.document_source(index, exact=exact)
    )
