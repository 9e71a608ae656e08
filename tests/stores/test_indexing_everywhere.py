"""Indexing into every store of both frameworks: again, changed, removed, repaired."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from langchain_core.documents import Document as LangChainDocument
from llama_index.core import Document as LlamaIndexDocument
from llama_index.core import StorageContext, VectorStoreIndex

import langchain_oprag
import llamaindex_oprag
from langchain_oprag.stores import chunk_store as langchain_chunks
from llamaindex_oprag.stores import chunk_store as llamaindex_chunks
from oprag.documents import ChunkStore, rebuild
from oprag.indexing import IndexingReport
from oprag.metadata import document_key
from tests.kit.interrupted import content
from tests.kit.killed_indexing import KINDS, killed_runs
from tests.stores.langchain_places import AWKWARD_NAMES, PLACES
from tests.stores.llamaindex_fakes import ChecksumEmbedding
from tests.stores.llamaindex_places import LLAMAINDEX_STORES

pytestmark = pytest.mark.filterwarnings(
    "ignore:Payload indexes have no effect in the local Qdrant"
)

BEFORE = {
    name: f"What {name} says, in many words. Line by line. 🙂 Ünï.\r\n" * 60
    for name in AWKWARD_NAMES
}
CHANGED, GONE, *KEPT = AWKWARD_NAMES
AFTER = {
    CHANGED: BEFORE[CHANGED][:900] + "An insertion. " + BEFORE[CHANGED][900:],
    "new ' name": "A new text. " * 40,
} | {name: BEFORE[name] for name in KEPT}


class Indexed(NamedTuple):
    """A store that documents are indexed into."""

    index: Callable[..., IndexingReport]
    """Given texts by name and options."""
    chunks: ChunkStore
    delete: Callable[[list[str]], Any]


def of_langchain(store: Any) -> Indexed:
    def index(texts, *, awaited=False, **options):
        documents = [
            LangChainDocument(text, metadata={"source": name, "size": len(text)})
            for name, text in texts.items()
        ]
        if awaited:
            indexing = langchain_oprag.aindex_documents(documents, store, **options)
            return asyncio.run(indexing)
        return langchain_oprag.index_documents(documents, store, **options)

    return Indexed(index, langchain_chunks(store), store.delete)


def of_llamaindex(vector_store: Any) -> Indexed:
    storage = StorageContext.from_defaults(vector_store=vector_store)
    over = VectorStoreIndex(
        [], storage_context=storage, embed_model=ChecksumEmbedding()
    )

    def index(texts, *, awaited=False, **options):
        documents = [
            LlamaIndexDocument(text=text, id_=name, metadata={"size": len(text)})
            for name, text in texts.items()
        ]
        if awaited:
            indexing = llamaindex_oprag.aindex_documents(documents, over, **options)
            return asyncio.run(indexing)
        return llamaindex_oprag.index_documents(documents, over, **options)

    def delete(ids: list[str]) -> None:
        over.delete_nodes(ids, delete_from_docstore=True)

    return Indexed(index, llamaindex_chunks(over), delete)


@pytest.fixture(params=PLACES, ids=lambda place: place.name)
def langchain_store(request, tmp_path) -> Iterator[Indexed]:
    with request.param.make(tmp_path, request.getfixturevalue) as store:
        yield of_langchain(store)


(FAISS,) = [place for place in LLAMAINDEX_STORES if place.id == "llamaindex-faiss"]
"""It cannot replace anything."""


@pytest.fixture(
    params=[place for place in LLAMAINDEX_STORES if place is not FAISS],
    ids=lambda place: place.id,
)
def llamaindex_store(request) -> Indexed:
    return of_llamaindex(request.param.make(request))


def assert_holds(stored: Indexed, texts: dict[str, str]) -> None:
    """Each document comes back as it is, and no other chunk is there."""
    chunks = list(stored.chunks.read())
    for name, text in texts.items():
        own = list(stored.chunks.read({document_key(name): None}))
        assert rebuild(name, own).text == text
        assert {chunk.metadata["size"] for chunk in own} == {len(text)}
        assert len(own) == own[0].metadata["n_chunks"]
    assert {chunk.metadata.get("doc_uri") for chunk in chunks} == set(texts)
    assert len({chunk.id for chunk in chunks}) == len(chunks)


def follows_its_documents(stored: Indexed, *, awaited: bool) -> None:
    first = stored.index(BEFORE, batch_size=16, awaited=awaited)
    assert first.added == tuple(BEFORE)
    assert_holds(stored, BEFORE)
    before = content(stored.chunks)

    again = stored.index(BEFORE, remove_missing=not awaited, awaited=awaited)
    assert again.unchanged == tuple(BEFORE)
    assert content(stored.chunks) == before

    halves = [chunk.id for chunk in stored.chunks.read({document_key(CHANGED): None})][
        ::3
    ]
    stored.delete(halves)
    repaired = stored.index(BEFORE, awaited=awaited)
    assert repaired.updated == (CHANGED,)
    assert repaired.chunks_added == len(halves)
    assert content(stored.chunks) == before

    changed = stored.index(AFTER, remove_missing=True, batch_size=7)
    assert changed.updated == (CHANGED,)
    assert changed.added == ("new ' name",)
    assert changed.removed == (GONE,)
    assert set(changed.unchanged) == set(KEPT)
    assert_holds(stored, AFTER)


def test_a_langchain_store_follows_its_documents(langchain_store):
    follows_its_documents(langchain_store, awaited=False)


def test_a_langchain_store_follows_its_documents_awaited(langchain_store):
    follows_its_documents(langchain_store, awaited=True)


def test_a_llamaindex_store_follows_its_documents(llamaindex_store):
    follows_its_documents(llamaindex_store, awaited=False)


def test_a_llamaindex_store_follows_its_documents_awaited(llamaindex_store):
    follows_its_documents(llamaindex_store, awaited=True)


KILLS = int(os.environ.get("OPRAG_KILLS", "3"))
"""Runs that are killed, of each framework into each store."""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
@pytest.mark.parametrize("framework", ["langchain", "llamaindex"])
@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_any_moment_every_document_is_old_or_new(
    request, framework, kind, tmp_path
):
    places = str(tmp_path / "store"), str(tmp_path / "clean")
    if kind == "postgres":
        make = request.getfixturevalue("new_database")
        places = make(), make()

    assert killed_runs(framework, kind, places, tmp_path / "texts", KILLS) >= 1
