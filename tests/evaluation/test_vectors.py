"""Vectors with which questions are searched for."""

from langchain_core.embeddings import Embeddings

from oprag_eval.artifacts import Vectors


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


def test_questions_and_texts_are_embedded_once_each(tmp_path):
    embedding = Told()
    for _ in range(2):
        vectors = Vectors(embedding, name="told", folder=tmp_path)
        vectors.of_query("She.")
        vectors.of_texts(["She."])
        vectors.close()

    assert (embedding.queries, embedding.texts) == (["She."], ["She."])
