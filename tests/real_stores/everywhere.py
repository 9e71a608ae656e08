"""Every store of both frameworks, as the tests use it."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.kit.frameworks import Held, InLangChain, InLlamaIndex
from tests.real_stores.langchain_places import PLACES, Place, filters_of
from tests.real_stores.llamaindex_places import LLAMAINDEX_STORES, metadata_filters


def everywhere(wanted: Callable[[Place], bool] = lambda _: True) -> list[Any]:
    """Parameters: each place that is wanted."""
    places = (*PLACES, *LLAMAINDEX_STORES)
    return [pytest.param(each, id=each.id) for each in places if wanted(each)]


def opened(place: Place, request: pytest.FixtureRequest) -> Held:
    """An empty store."""
    faiss = "faiss" in place.id
    if place in PLACES:
        held: Held = InLangChain(place.make(request))
        held.filters, held.replaces = filters_of(place.id), not faiss
        held.with_filter = {"fetch_k": 1_000} if faiss else {}
        return held
    held = InLlamaIndex(place.make(request))
    held.filters, held.deletes = () if faiss else metadata_filters(), not faiss
    held.replaces = bool(re.search("simple|qdrant", place.id))
    return held
