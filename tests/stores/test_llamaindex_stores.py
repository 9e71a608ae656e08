"""Three real documents through every LlamaIndex store, in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pytest
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.schema import NodeWithScore
from llama_index.core.vector_stores.types import BasePydanticVectorStore

from llamaindex_oprag import OffsetTokenNodeParser, OrderPreservingRetriever
from tests.stores.llamaindex_fakes import ChecksumEmbedding
from tests.stores.llamaindex_places import LLAMAINDEX_STORES
from tests.stores.sources import SourceDocument, three_documents

STORES = [pytest.param(place.make, id=place.id) for place in LLAMAINDEX_STORES]
PARSER = OffsetTokenNodeParser(chunk_size=24)
QUESTION = "How does a class define what its instances do?"


class Filled(NamedTuple):
    """An index over the three documents."""

    index: VectorStoreIndex
    documents: tuple[SourceDocument, ...]

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
        by_document.setdefault(metadata.get("doc_uri"), []).append(
            metadata["chunk_index"]
        )
        if runs[-1:] != [metadata.get("doc_uri")]:
            runs.append(metadata.get("doc_uri"))
    assert len(runs) == len(by_document)  # one document after the other
    assert all(found == sorted(found) for found in by_document.values())


def limit(filled: Filled) -> int:
    """HNSW gives no more than its ef_search, exact or not."""
    hnsw = getattr(filled.index.vector_store, "hnsw_kwargs", None)
    return hnsw["hnsw_ef_search"] if hnsw else 2_000


def test_merged_passages_are_slices_of_their_documents(filled):
    texts = {document.name: document.pages for document in filled.documents}

    for passage in filled.retrieve(2_000, merge=True):
        metadata = passage.node.metadata
        page = texts[metadata.get("doc_uri")][metadata.get("part_index", 0)]
        start, end = metadata["oprag_start"], metadata["oprag_end"]
        assert passage.node.get_content() == page[start:end]
