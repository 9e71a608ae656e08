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

from llamaindex_oprag import OffsetTokenNodeParser, document_source
from llamaindex_oprag._chunk_stores.nodes import chunk_of_node
from oprag.documents import ChunkStore
from oprag.errors import InvalidOptionError
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
