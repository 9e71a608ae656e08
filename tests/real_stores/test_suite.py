"""Every store of both frameworks runs the suite that authors of stores are given."""

from typing import Any

import pytest

from oprag.testing import StoreSuite, StoreUnderTest
from tests.real_stores.everywhere import everywhere, opened

pytestmark = pytest.mark.filterwarnings(
    "ignore:Payload indexes have no effect in the local Qdrant"
)

MANY, LESS, LEAST = 20_000, 1_200, 300
"""Chunks of a long document: usually, in a second kind of the same store, and where
adding is slow."""


def many(place: Any) -> int:
    if place.slow:
        return LEAST
    return LESS if place.id.endswith(("-server", "-columns", "-hnsw")) else MANY


class TestEveryStore(StoreSuite):
    @pytest.fixture(autouse=True, params=everywhere())
    def held(self, request):
        held = opened(request.param, request)

        def search(query, k, where):
            return held.find(held.search(k, where), query)

        self.store = StoreUnderTest(
            chunks=held.chunks,
            add=held.add,
            search=search,
            delete=held.delete if held.deletes else None,
            replace=held.add if held.replaces else None,
            filters=held.filters,
            many=many(request.param),
        )

    def new_store(self):
        return self.store
