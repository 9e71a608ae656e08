"""Vectors made ahead are given to a store; the model is made for others only."""

from __future__ import annotations

from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore

from langchain_oprag import index_documents
from langchain_oprag.vectors_ahead import VectorsAhead, texts_to_embed, vectors_of
from oprag.indexing import WantedChunk
from tests.kit.word_vectors import word_vector


def test_a_store_gets_the_vectors_that_are_there_and_no_model_is_made(tmp_path):
    (tmp_path / "a.txt").write_text("So it is.")
    ahead = VectorsAhead(lambda: 1 / 0)
    ahead.vectors["So it is."] = word_vector("so")
    store = InMemoryVectorStore(ahead)

    index_documents(tmp_path, store, show_progress=False)

    (row,) = store.store.values()
    assert row["vector"] == word_vector("so")


def test_other_texts_and_queries_are_embedded_by_the_model_that_is_made_once():
    made = []

    def make():
        made.append(DeterministicFakeEmbedding(size=4))
        return made[-1]

    ahead = VectorsAhead(make)
    ahead.vectors["a"] = [1.0, 2.0]

    vectors = ahead.embed_documents(["b", "a", "b"])

    model = DeterministicFakeEmbedding(size=4)
    assert vectors == [*vectors_of(model, ["b"]), [1.0, 2.0], *vectors_of(model, ["b"])]
    assert ahead.embed_query("c") == model.embed_query("c")
    assert len(made) == 1


def test_what_is_embedded_of_a_chunk_is_its_text():
    assert texts_to_embed([WantedChunk("id", "a text", {"key": "value"})]) == ["a text"]
