"""Three real documents through every LlamaIndex store: in order, and whole."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.schema import NodeWithScore
from llama_index.core.vector_stores.types import BasePydanticVectorStore

from llamaindex_oprag import (
    OffsetTokenNodeParser,
    OrderPreservingRetriever,
    document_source,
)
from llamaindex_oprag.stores import chunk_store
from oprag.errors import DocumentNotFoundError
from oprag.metadata import document_key
from tests.stores.llamaindex_fakes import ChecksumEmbedding
from tests.stores.llamaindex_places import LLAMAINDEX_STORES
from tests.stores.sources import HOSTILE, SourceDocument, three_documents

STORES = [pytest.param(place.make, id=place.id) for place in LLAMAINDEX_STORES]
QUICK = [
    pytest.param(place.make, id=place.id)
    for place in LLAMAINDEX_STORES
    if not place.slow
]
PARSER = OffsetTokenNodeParser(chunk_size=24)
QUESTION = "How does a class define what its instances do?"


class Filled(NamedTuple):
    """An index over the three documents."""

    index: VectorStoreIndex
    documents: tuple[SourceDocument, ...]

    @property
    def source(self):
        return document_source(self.index)

    def retrieve(self, k: int, **options) -> list[NodeWithScore]:
        retriever = self.index.as_retriever(similarity_top_k=k)
        return OrderPreservingRetriever(
            base_retriever=retriever, similarity_top_k=k, **options
        ).retrieve(QUESTION)


def as_read(documents: Iterable[SourceDocument]) -> list[Document]:
    """Documents as LlamaIndex's readers give them: a PDF's pages one by one."""
    read = []
    for name, pages in documents:
        if len(pages) == 1:
            read.append(Document(text=pages[0], id_=name))
            continue
        for number, page in enumerate(pages, 1):
            metadata = {"file_path": name, "page_label": str(number)}
            read.append(Document(text=page, metadata=metadata))
    return read


def fill(
    store: BasePydanticVectorStore, documents: Sequence[Document], parser=PARSER
) -> VectorStoreIndex:
    return VectorStoreIndex.from_documents(
        list(documents),
        storage_context=StorageContext.from_defaults(vector_store=store),
        transformations=[parser],
        embed_model=ChecksumEmbedding(),
    )


@pytest.fixture(scope="module", params=STORES)
def filled(request, tmp_path_factory) -> Filled:
    documents = three_documents(tmp_path_factory.mktemp("documents"))
    return Filled(fill(request.param(request), as_read(documents)), documents)


@pytest.fixture(params=STORES)
def store(request) -> BasePydanticVectorStore:
    return request.param(request)


@pytest.mark.parametrize("k", [10, 400, 2_000])
def test_what_is_retrieved_comes_in_document_order(filled, k):
    nodes = filled.retrieve(k)

    assert len({node.node_id for node in nodes}) == len(nodes)
    # PostgreSQL may plan to do without the index, which then limits nothing.
    assert len(nodes) in {k, min(k, limit(filled))}
    by_document: dict[str, list[int]] = {}
    runs: list[str] = []
    for node in nodes:
        metadata = node.node.metadata
        by_document.setdefault(metadata["doc_uri"], []).append(metadata["chunk_index"])
        if runs[-1:] != [metadata["doc_uri"]]:
            runs.append(metadata["doc_uri"])
    assert len(runs) == len(by_document)  # one document after the other
    assert all(found == sorted(found) for found in by_document.values())


def limit(filled: Filled) -> int:
    """HNSW gives no more than its ef_search, exact or not."""
    hnsw = getattr(filled.index.vector_store, "hnsw_kwargs", None)
    return hnsw["hnsw_ef_search"] if hnsw else 2_000


def test_merged_passages_are_slices_of_their_documents(filled):
    texts = {document.name: document.pages for document in filled.documents}

    for passage in filled.retrieve(2_000, merge=True, max_gap=0):
        metadata = passage.node.metadata
        page = texts[metadata["doc_uri"]][metadata.get("part_index", 0)]
        start, end = metadata["char_start"], metadata["char_end"]
        assert passage.node.get_content() == page[start:end]


async def test_each_document_comes_back_whole(filled):
    for document in filled.documents:
        assert filled.source.get(document.name) == document.text
        assert await filled.source.aget(document.name) == document.text


def test_from_an_event_loop_of_its_own_each_time(filled):
    name, text = filled.documents[0].name, filled.documents[0].text

    for _ in range(2):
        assert asyncio.run(filled.source.aget(name)) == text


def test_sixteen_threads_at_once(filled):
    wanted = [filled.documents[i % 3] for i in range(16)]
    source = filled.source

    with ThreadPoolExecutor(16) as pool:
        texts = list(pool.map(source.get, [document.name for document in wanted]))

    assert texts == [document.text for document in wanted]


def test_all_chunks_of_the_store(filled):
    expected = PARSER.get_nodes_from_documents(as_read(filled.documents))

    found = list(chunk_store(filled.index).scan())

    assert sorted(
        (chunk.metadata["doc_key"], chunk.metadata["chunk_index"], chunk.text)
        for chunk in found
    ) == sorted(
        (node.metadata["doc_key"], node.metadata["chunk_index"], node.text)
        for node in expected
    )
    assert len({chunk.id for chunk in found}) == len(expected)


def test_a_name_that_is_not_there(filled):
    with pytest.raises(DocumentNotFoundError, match="no document 'other'"):
        filled.source.get("other")


@pytest.mark.parametrize("make", QUICK)
def test_a_document_of_20_000_chunks(make, request):
    store = make(request)
    text = "".join(f"Line {number:06}.\n" for number in range(20_000))
    parser = OffsetTokenNodeParser(chunk_size=13, tokenizer=len)

    nodes = parser.get_nodes_from_documents([Document(text=text, id_="long")])
    if not store.stores_text:
        # LlamaIndex's docstore copies the list of a source's nodes for each of them:
        # that takes minutes for so many.
        for node in nodes:
            node.relationships = {}

    index = VectorStoreIndex(
        nodes,
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=ChecksumEmbedding(),
    )

    assert len(chunk_store(index).fetch(document_key("long"))) == 20_000
    assert document_source(index).get("long") == text


def test_names_that_are_sql(store):
    texts = {name: f"Only of {name}. " * 20 for name in HOSTILE}
    index = fill(store, [Document(text=t, id_=n) for n, t in texts.items()])
    source = document_source(index)

    for name, text in texts.items():
        assert source.get(name) == text
        chunks = chunk_store(index).fetch(document_key(name))
        assert {chunk.metadata["doc_uri"] for chunk in chunks} == {name}
    with pytest.raises(DocumentNotFoundError):
        source.get("nope' OR 'a'='a")
    assert {name: source.get(name) for name in texts} == texts
