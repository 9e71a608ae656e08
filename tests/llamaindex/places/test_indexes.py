"""Over indexes that a pipeline built, and over those that come back from a disk."""

import pytest
from llama_index.core import StorageContext, VectorStoreIndex

from tests.llamaindex.corpus import clause_parser, document, index
from tests.llamaindex.places.registry import places_of
from tests.llamaindex.places.running import each_mode, each_place, with_and_without
from tests.llamaindex.recording import WordEmbedding


@each_mode
@each_place(places_of("indexes"))
async def test_the_model_reads_what_was_retrieved_in_order(place, mode, tmp_path):
    index().storage_context.persist(persist_dir=str(tmp_path))

    ordered, plain = await with_and_without(place, mode, folder=str(tmp_path))

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)


@each_mode
@each_place(places_of("chroma"))
async def test_so_does_it_over_a_collection_on_disk(place, mode, tmp_path):
    chromadb = pytest.importorskip("chromadb")
    chroma = pytest.importorskip("llama_index.vector_stores.chroma")
    written = chromadb.PersistentClient(str(tmp_path)).create_collection("lease")
    storage = StorageContext.from_defaults(
        vector_store=chroma.ChromaVectorStore(chroma_collection=written)
    )
    VectorStoreIndex(
        clause_parser().get_nodes_from_documents([document()]),
        storage_context=storage,
        embed_model=WordEmbedding(),
    )

    ordered, plain = await with_and_without(
        place,
        mode,
        ChromaVectorStore=chroma.ChromaVectorStore,
        collection=chromadb.PersistentClient(str(tmp_path)).get_collection("lease"),
    )

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)
