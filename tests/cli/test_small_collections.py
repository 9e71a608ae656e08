"""Additions to a small collection after a search are found."""

import numpy as np
import pytest

from oprag_cli.index import open_chroma

FEW, MORE = 26, 4
TRIALS = 25
"""With Chroma's own settings each loses a chunk with a chance of 1 to 4 in 100."""


class Numbered:
    """Embeds a number as its row of some vectors."""

    def __init__(self, vectors: np.ndarray) -> None:
        self.vectors = vectors.tolist()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.vectors[int(text)]


def vectors(random: np.random.Generator) -> np.ndarray:
    """Of a few subjects, as those of a small folder are."""
    subjects = random.normal(size=(5, 384))
    of = random.integers(0, len(subjects), FEW + MORE)
    return subjects[of] + 0.7 * random.normal(size=(FEW + MORE, 384))


@pytest.mark.slow
def test_what_is_added_to_a_few_chunks_after_a_search_is_found(tmp_path):
    random = np.random.default_rng(7)
    texts = [str(number) for number in range(FEW + MORE)]

    for trial in range(TRIALS):
        store = open_chroma(tmp_path, Numbered(vectors(random)), f"trial-{trial}")
        store.add_texts(texts[:FEW], ids=texts[:FEW])
        store.similarity_search("0", k=1)
        store.add_texts(texts[FEW:], ids=texts[FEW:])

        found = store.similarity_search("0", k=2 * len(texts))
        store.delete_collection()

        assert {document.page_content for document in found} == {*texts}
