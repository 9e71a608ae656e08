"""Vectors made ahead are given to an index; the model is made for others only."""

from __future__ import annotations

import asyncio

from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.schema import TextNode

from llamaindex_oprag import index_documents
from llamaindex_oprag.vectors_ahead import VectorsAhead, texts_to_embed, vectors_of
from oprag.indexing import WantedChunk
from tests.kit.word_vectors import word_vector


def test_an_index_gets_the_vectors_that_are_there_and_no_model_is_made(tmp_path):
    (tmp_path / "a.txt").write_text("So it is.")
    embedded: list[str] = []

    class Listening(VectorsAhead):
        def _get_text_embeddings(self, texts):
            embedded.extend(texts)
            self.vectors.update(dict.fromkeys(texts, word_vector("so")))
            return super()._get_text_embeddings(texts)

    index = VectorStoreIndex([], embed_model=Listening(lambda: 1 / 0))

    index_documents(tmp_path, index, show_progress=False)

    assert len(embedded) == 1
    assert embedded[0].endswith("So it is.")
    assert [*index.vector_store.data.embedding_dict.values()] == [word_vector("so")]


def test_other_texts_and_queries_are_embedded_by_the_model_that_is_made_once():
    made = []

    def make():
        made.append(MockEmbedding(embed_dim=3))
        return made[-1]

    ahead = VectorsAhead(make)
    ahead.vectors["a"] = [1.0, 2.0]

    vectors = ahead.get_text_embedding_batch(["b", "a"])

    model = MockEmbedding(embed_dim=3)
    assert vectors == [*vectors_of(model, ["b"]), [1.0, 2.0]]
    assert ahead.get_text_embedding("a") == [1.0, 2.0]
    assert ahead.get_query_embedding("c") == model.get_query_embedding("c")
    assert asyncio.run(ahead.aget_query_embedding("c")) == vectors[0]
    assert len(made) == 1


def test_what_is_embedded_of_a_node_is_what_its_model_is_to_see():
    node = TextNode(
        text="a text",
        metadata={"title": "T", "doc_key": "k"},
        excluded_embed_metadata_keys=["doc_key"],
    )
    chunk = WantedChunk("id", "a text", node.metadata, node)

    assert texts_to_embed([chunk]) == ["title: T\n\na text"]
