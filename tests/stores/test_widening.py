"""Neighbours of hits, out of every store: in two queries, and no one else's."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.schema import TextNode

import llamaindex_oprag
from oprag.documents import ChunkStore, StoredChunk
from tests.kit.frameworks import Held
from tests.kit.tenants import SIZE, Tenants
from tests.kit.words import words
from tests.stores.everywhere import everywhere, opened
from tests.stores.llamaindex_fakes import ChecksumEmbedding
from tests.stores.llamaindex_places import metadata_filters

TENANTS = Tenants("ababaabbaaabab", open=8)
"""A chunk of tenant b is beside nearly every one of tenant a."""
WIDENED: tuple[dict[str, Any], ...] = (
    {"widen": 1},
    {"widen": 2},
    {"widen": 2, "merge": True},
    {"widen": "fill", "token_budget": 16 * SIZE, "token_counter": words},
    {"widen": "fill", "token_budget": 9 * SIZE, "token_counter": words},
)
HITS = 3

pytestmark = pytest.mark.filterwarnings(
    "ignore::oprag.errors.UnfilledBudgetWarning"  # the documents are short
)


@pytest.fixture(scope="module", params=everywhere())
def held(request: pytest.FixtureRequest) -> Held:
    made = opened(request.param, request)
    made.add(TENANTS.stored())
    return made


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often chunks were asked for, by which method."""
    asked: Counter[str] = Counter()
    readers: list[type[ChunkStore]] = [ChunkStore]
    for reader in readers:
        readers += reader.__subclasses__()
        for way in ("fetch_chunks", "fetch_ids"):
            if way in vars(reader):
                _counted(monkeypatch, reader, way, asked)
    return asked


def _counted(
    monkeypatch: pytest.MonkeyPatch, reader: Any, way: str, asked: Counter[str]
) -> None:
    found = getattr(reader, way)

    def counting(self: Any, wanted: Any) -> Any:
        asked[way] += 1
        return found(self, wanted)

    monkeypatch.setattr(reader, way, counting)


def assert_widened(
    plain: list[StoredChunk],
    found: list[StoredChunk],
    given: dict[str, Any],
    tenants: str = "ab",
) -> None:
    texts = TENANTS.texts
    for text, metadata, _ in found:
        start, end = metadata["oprag_start"], metadata["oprag_end"]
        if metadata["oprag_exact"]:
            assert texts[metadata["doc_uri"]][start:end] == text
    everything = [word for text, *_ in found for word in text.split()]
    assert set(everything) <= TENANTS.words_of(tenants)
    assert len(everything) == len(set(everything)), "no text twice"
    for text, *_ in plain:
        assert set(text.split()) <= set(everything), "no hit is lost"
    if "merge" not in given:
        assert {each.metadata["oprag_rank"] for each in found} >= set(range(len(plain)))
    assert len(everything) > sum(len(text.split()) for text, *_ in plain)
    if "token_budget" in given:
        assert len(everything) <= given["token_budget"]


@pytest.mark.parametrize("given", WIDENED, ids=range(len(WIDENED)))
async def test_hits_bring_their_neighbours(held, queries, given):
    for where in (None, *held.filters):
        base = held.search(HITS, where)
        plain, retriever = held.find(base), held.ordered(base, **given)
        queries.clear()

        found = held.find(retriever)

        assert set(queries.values()) <= {1}
        assert where is None or "fetch_ids" not in queries
        assert_widened(plain, found, given, "ab" if where is None else "a")
        if held.awaits:
            awaited = await held.afind(retriever)
            assert [each[:2] for each in awaited] == [each[:2] for each in found]


async def test_links_lead_past_the_nodes_of_another_tenant():
    """Nodes without oprag's keys, as LlamaIndex's own parsers leave them."""
    nodes: list[Any] = []
    for node in TENANTS.nodes():
        kept = {
            "tenant": node.metadata["tenant"],
            "source": node.metadata.get("doc_uri"),
        }
        place = {"start_char_idx": node.metadata["char_start"]}
        place["end_char_idx"] = node.metadata["char_end"]
        nodes.append(
            TextNode(
                id_=node.node_id,
                text=node.text,
                metadata=kept,
                excluded_embed_metadata_keys=list(kept),
                relationships=node.relationships,
                **place,
            )
        )
    linked = VectorStoreIndex(nodes, embed_model=ChecksumEmbedding())
    for where in (None, *metadata_filters()):
        base = linked.as_retriever(similarity_top_k=2, filters=where)
        retriever = llamaindex_oprag.OrderPreservingRetriever(base, widen=2)

        found = retriever.retrieve("?")

        awaited = await retriever.aretrieve("?")
        assert [each.text for each in awaited] == [each.text for each in found]
        everything = {word for each in found for word in each.node.text.split()}
        assert everything <= TENANTS.words_of("ab" if where is None else "a")
        assert len(found) > len(base.retrieve("?"))
