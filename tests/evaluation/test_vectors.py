"""Vectors with which questions are searched for."""

from __future__ import annotations

from langchain_core.embeddings import Embeddings

from oprag_eval.vectors import Vectors


class Told(Embeddings):
    """Keeps what it is told to embed."""

    def __init__(self) -> None:
        self.queries: list[str] = []
        self.texts: list[str] = []

    def embed_query(self, text: str) -> list[float]:
        self.queries.append(text)
        return [1.0, float(len(text))]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.texts += texts
        return [[1.0, 0.0] for _ in texts]


def test_a_prefix_stands_before_questions_alone_and_has_vectors_of_its_own(tmp_path):
    told = Told()
    for prefix in ("", "Find: ", "Find: "):
        vectors = Vectors(told, name="told", folder=tmp_path, query_prefix=prefix)
        vectors.of_query("Who?")
        vectors.of_texts(["She."])
        vectors.close()

    assert told.queries == ["Who?", "Find: Who?"]
    assert told.texts == ["She."]
