"""A corpus on disk: the same chunks are found as in memory, which does not grow."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from langchain_core.embeddings import Embeddings

from oprag_eval.corpus import ChunkPlace, Corpus
from oprag_eval.vectors import Vectors


class Drawn(Embeddings):
    """Vectors of a few whole numbers, so that many chunks are equally near."""

    def embed_documents(self, texts):
        return np.array([[len(t) % 3, len(t) % 2, 1.0] for t in texts])

    def embed_query(self, text):
        return [1.0, -0.5, 0.25]


def chunks(count: int):
    for n in range(count):
        yield ChunkPlace(n // 7, n % 2, n % 7), f"{n} " + "x" * (n % 11)


@pytest.mark.parametrize("k", [1, 5, 299, 300, 400])
def test_the_nearest_come_first_and_equals_as_they_stand(tmp_path, k):
    vectors = Vectors(Drawn(), name="drawn", folder=tmp_path)
    query = vectors.of_query("")
    rows = vectors.of_texts([text for _, text in chunks(300)])
    scores = np.round(rows @ query, 5)
    order = sorted(range(300), key=lambda n: (-scores[n], n))[:k]
    places = [place for place, _ in chunks(300)]

    found = Corpus(chunks(300), vectors).best(query, k)

    assert [place for place, _ in found] == [places[n] for n in order]
    assert [score for _, score in found] == pytest.approx(scores[order], abs=1e-4)


def test_of_nothing_nothing_is_found(tmp_path):
    vectors = Vectors(Drawn(), name="drawn", folder=tmp_path)

    assert Corpus([], vectors).best(vectors.of_query(""), 5) == []


def test_ten_times_the_chunks_take_no_more_memory_but_for_their_places(tmp_path):
    class Wide(Drawn):
        def embed_documents(self, texts):
            return np.ones((len(texts), 256), np.float32)

        def embed_query(self, text):
            return [1.0] * 256

    def peak(count: int) -> int:
        vectors = Vectors(Wide(), name="wide", folder=tmp_path / str(count))
        texts = ((ChunkPlace(n, 0, 0), f"{n} " + "x" * 2000) for n in range(count))
        tracemalloc.start()
        Corpus(texts, vectors).best(vectors.of_query(""), 5)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    few, many = peak(1_500), peak(15_000)

    # Texts are 2,000 bytes and vectors 1,024, a block of these 4 MB; places and scores
    # are 16 bytes, and twice as many while an array grows.
    assert many - few < 13_500 * 40 + 4_096 * 1_024
