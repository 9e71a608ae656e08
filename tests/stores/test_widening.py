"""Neighbours of hits, out of every store: in two queries, and no one else's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.schema import TextNode

import langchain_oprag
import llamaindex_oprag
from oprag.documents import ChunkStore
from tests.kit.tenants import SIZE, Tenants
from tests.kit.words import words
from tests.stores.langchain_places import PLACES, add, filters_of
from tests.stores.llamaindex_fakes import ChecksumEmbedding
from tests.stores.llamaindex_places import LLAMAINDEX_STORES, metadata_filters

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
AWAITED = ("SimpleVectorStore", "FaissVectorStore", "ChromaVectorStore")

pytestmark = pytest.mark.filterwarnings(
    "ignore::oprag.errors.UnfilledBudgetWarning"  # the documents are short
)


@pytest.fixture(scope="module", params=PLACES, ids=lambda place: place.id)
def langchain_place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """A store of LangChain and its filters."""
    folder: Path = tmp_path_factory.mktemp("store")
    with request.param.make(folder, request.getfixturevalue) as store:
        add(store, TENANTS.documents())
        yield store, filters_of(request.param.id)


@pytest.fixture(scope="module", params=LLAMAINDEX_STORES, ids=lambda place: place.id)
def llamaindex_place(request: pytest.FixtureRequest) -> tuple[Any, tuple[Any, ...]]:
    """An index of LlamaIndex and the filters that its store has."""
    index = VectorStoreIndex(
        TENANTS.nodes(),
        storage_context=StorageContext.from_defaults(
            vector_store=request.param.make(request)
        ),
        embed_model=ChecksumEmbedding(),
    )
    return index, () if "faiss" in request.param.id else metadata_filters()


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
    plain: list[tuple[str, dict[str, Any]]],
    found: list[tuple[str, dict[str, Any]]],
    given: dict[str, Any],
    tenants: str = "ab",
) -> None:
    texts = TENANTS.texts
    for text, metadata in found:
        start, end = metadata["oprag_start"], metadata["oprag_end"]
        if metadata["oprag_exact"]:
            assert texts[metadata["doc_uri"]][start:end] == text
    everything = [word for text, _ in found for word in text.split()]
    assert set(everything) <= TENANTS.words_of(tenants)
    assert len(everything) == len(set(everything)), "no text twice"
    for text, _ in plain:
        assert set(text.split()) <= set(everything), "no hit is lost"
    if "merge" not in given:
        assert {metadata["oprag_rank"] for _, metadata in found} >= set(
            range(len(plain))
        )
    assert len(everything) > sum(len(text.split()) for text, _ in plain)
    if "token_budget" in given:
        assert len(everything) <= given["token_budget"]


def of_documents(found: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(each.page_content, each.metadata) for each in found]


def of_nodes(found: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(each.node.text, each.node.metadata) for each in found]


@pytest.mark.parametrize("given", WIDENED, ids=range(len(WIDENED)))
async def test_langchain_hits_bring_their_neighbours(langchain_place, queries, given):
    store, filters = langchain_place
    for where in (None, *filters):
        search = {"k": HITS} if where is None else {"k": HITS, "filter": where}
        plain = store.as_retriever(search_kwargs=search).invoke("?")
        retriever = langchain_oprag.OrderPreservingRetriever(
            base_retriever=store.as_retriever(search_kwargs=search), **given
        )
        queries.clear()

        found = retriever.invoke("?")

        assert set(queries.values()) <= {1}
        assert where is None or "fetch_ids" not in queries
        tenants = "ab" if where is None else "a"
        assert_widened(of_documents(plain), of_documents(found), given, tenants)
        assert await retriever.ainvoke("?") == found


@pytest.mark.parametrize("given", WIDENED, ids=range(len(WIDENED)))
async def test_llamaindex_hits_bring_their_neighbours(llamaindex_place, queries, given):
    index, filters = llamaindex_place
    for where in (None, *filters):
        base = index.as_retriever(similarity_top_k=HITS, filters=where)
        plain = base.retrieve("?")
        retriever = llamaindex_oprag.OrderPreservingRetriever(base, **given)
        queries.clear()

        found = retriever.retrieve("?")

        assert set(queries.values()) <= {1}
        assert where is None or "fetch_ids" not in queries
        tenants = "ab" if where is None else "a"
        assert_widened(of_nodes(plain), of_nodes(found), given, tenants)
        # The others search by async clients, each in one event loop alone.
        if type(index.vector_store).__name__ in AWAITED:
            assert of_nodes(await retriever.aretrieve("?")) == of_nodes(found)


async def test_links_lead_past_the_nodes_of_another_tenant(llamaindex_place):
    """Nodes without oprag's keys, as LlamaIndex's own parsers leave them."""
    _, filters = llamaindex_place
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
    for where in (None, *(filters and metadata_filters())):
        base = linked.as_retriever(similarity_top_k=2, filters=where)
        retriever = llamaindex_oprag.OrderPreservingRetriever(base, widen=2)

        found = retriever.retrieve("?")

        assert of_nodes(await retriever.aretrieve("?")) == of_nodes(found)
        everything = {word for each in found for word in each.node.text.split()}
        assert everything <= TENANTS.words_of("ab" if where is None else "a")
        assert len(found) > len(base.retrieve("?"))
