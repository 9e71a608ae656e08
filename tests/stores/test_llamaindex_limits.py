"""What LlamaIndex's stores leave out or cannot give is noticed, never passed on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.schema import BaseNode
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    MetadataFilter,
    MetadataFilters,
)
from llama_index.core.vector_stores.utils import metadata_dict_to_node

from llamaindex_oprag import OffsetTokenNodeParser, document_source
from llamaindex_oprag._chunk_stores.nodes import chunk_of_node
from oprag.documents import ChunkStore, StoredChunk
from oprag.errors import IncompleteDocumentError, InvalidOptionError
from oprag.metadata import DOC_KEY
from tests.stores import llamaindex_places as places
from tests.stores.llamaindex_fakes import ChecksumEmbedding, PineconeRulesStore

PARSER = OffsetTokenNodeParser(chunk_size=13, tokenizer=len)


def text_of(chunks: int) -> str:
    return "".join(f"Line {number:06}.\n" for number in range(chunks))


def fill(
    store: BasePydanticVectorStore, *, override: bool = False, **texts: str
) -> VectorStoreIndex:
    return VectorStoreIndex.from_documents(
        [Document(text=text, id_=name) for name, text in texts.items()],
        storage_context=StorageContext.from_defaults(vector_store=store),
        transformations=[PARSER],
        embed_model=ChecksumEmbedding(),
        store_nodes_override=override,
    )


class Asked(ChunkStore):
    """Chunks as an application would ask for them."""

    name = "the application's store"

    def __init__(self, ask: Callable[[MetadataFilters], list[BaseNode]]) -> None:
        self._ask = ask

    def read(self, wanted=None, ids=None):
        (key,) = wanted
        asked = MetadataFilters(filters=[MetadataFilter(key=DOC_KEY, value=key)])
        return [chunk_of_node(node) for node in self._ask(asked)]


@pytest.mark.parametrize("make", [places.simple, places.faiss])
def test_a_store_of_vectors_alone_is_refused(make, request):
    with pytest.raises(InvalidOptionError, match=r"no texts.*Give the index"):
        document_source(make(request))


def test_a_store_that_is_not_known_is_refused_at_once():
    index = fill(PineconeRulesStore(), a=text_of(9))

    for unknown in (index, index.vector_store):
        with pytest.raises(InvalidOptionError, match=r"PineconeRulesStore.*not known"):
            document_source(unknown)


def test_a_store_that_is_not_known_with_the_nodes_in_the_docstore():
    index = fill(PineconeRulesStore(), override=True, a=text_of(9))

    assert document_source(index).get("a") == text_of(9)


def test_by_the_rules_of_pinecone_through_a_chunk_store_of_ones_own():
    """Beside the node, which LlamaIndex keeps as JSON, all integers are floats."""
    store = PineconeRulesStore()
    fill(store, a=text_of(30), b=text_of(3))
    rows = [metadata for _, metadata in store.client.values()]
    assert {type(row["chunk_index"]) for row in rows} == {float}

    nodes = Asked(lambda _: [metadata_dict_to_node(row) for row in rows])
    flat = [{k: v for k, v in row.items() if k != "_node_content"} for row in rows]

    class Flat(Asked):
        def read(self, wanted=None, ids=None):
            texts = [metadata_dict_to_node(row).get_content() for row in rows]
            return [
                StoredChunk(text, row) for text, row in zip(texts, flat, strict=True)
            ]

    assert document_source(nodes).get("a") == text_of(30)
    assert document_source(Flat(lambda _: [])).get("b") == text_of(3)


def test_what_qdrant_holds_back_is_missed(request):
    store = places.qdrant(request)
    fill(store, long=text_of(10_100))

    capped = Asked(lambda wanted: store.get_nodes(filters=wanted))

    with pytest.raises(IncompleteDocumentError) as error:
        document_source(capped).get("long")
    assert (error.value.found, error.value.expected) == (9_999, 10_100)
    assert document_source(store).get("long") == text_of(10_100)


def test_what_an_approximate_search_leaves_out_is_missed(request):
    index = fill(places.postgres_hnsw(request), long=text_of(900))

    def search(_: MetadataFilters) -> list[BaseNode]:
        found = index.as_retriever(similarity_top_k=900).retrieve("?")
        return [scored.node for scored in found]

    with pytest.raises(IncompleteDocumentError) as error:
        document_source(Asked(search)).get("long")
    assert error.value.found == 400
    assert document_source(index).get("long") == text_of(900)


@pytest.mark.parametrize("make", [places.chroma, places.postgres])
def test_ignored_doc_ids_bring_no_foreign_chunk_into_a_document(make, request):
    index = fill(make(request), a=text_of(20), b=text_of(30))

    def search(_: MetadataFilters) -> list[BaseNode]:
        retriever = index.as_retriever(similarity_top_k=99, doc_ids=["a"])
        return [scored.node for scored in retriever.retrieve("?")]

    assert len(search(MetadataFilters(filters=[]))) == 50
    assert document_source(Asked(search)).get("a") == text_of(20)


def test_nodes_that_postgres_doubles_count_once(request):
    store = places.postgres(request)
    for _ in range(2):
        fill(store, a=text_of(20))

    assert len(store.get_nodes([])) == 40
    assert document_source(store).get("a") == text_of(20)
