"""Sentences of texts with their vectors, split and embedded once."""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import NamedTuple

import numpy as np

from oprag.evaluation.vectors import Matrix, Vectors
from oprag.splitting import punkt_sentence_spans

_BLANK_LINE = re.compile(r"\n\s*\n")
_WORD = re.compile(r"\w")
_KEPT = 8192
"""Paragraphs that are kept in memory; about 50 MB."""


class Sentences(NamedTuple):
    """The sentences of a text, in reading order."""

    texts: tuple[str, ...]
    """Each on one line; those without a letter or digit are left out."""
    matrix: Matrix
    """One row per sentence, of length 1."""


class SentenceVectors:
    """Splits and embeds texts, paragraph by paragraph.

    Contexts of one document are made of the same paragraphs again and again; each is
    kept in memory, and the vectors of each sentence where `vectors` keeps them.

    Args:
        vectors: Of the embedding model.
    """

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._kept: OrderedDict[str, Sentences] = OrderedDict()

    def of(self, text: str) -> Sentences:
        """Return the sentences of a text; a blank line ends one."""
        paragraphs = _BLANK_LINE.split(text)
        self._learn(paragraphs)
        found = [self._kept[paragraph] for paragraph in paragraphs]
        texts = tuple(sentence for each in found for sentence in each.texts)
        rows = [each.matrix for each in found if each.texts]
        matrix = np.concatenate(rows) if rows else np.zeros((0, 0), dtype=np.float32)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return Sentences(texts, matrix)

    def _learn(self, paragraphs: list[str]) -> None:
        """Have all sentences that are new embedded together: that is quicker."""
        new: dict[str, tuple[str, ...]] = {}
        for paragraph in paragraphs:
            if paragraph in self._kept:
                self._kept.move_to_end(paragraph)
            elif paragraph not in new:
                new[paragraph] = _split(paragraph)
        sentences = [sentence for split in new.values() for sentence in split]
        rows = self._vectors.of_texts(sentences)
        begin = 0
        for paragraph, split in new.items():
            end = begin + len(split)
            self._kept[paragraph] = Sentences(split, rows[begin:end])
            begin = end


def _split(paragraph: str) -> tuple[str, ...]:
    spans = punkt_sentence_spans(paragraph)
    lines = (" ".join(paragraph[start:end].split()) for start, end in spans)
    return tuple(line for line in lines if _WORD.search(line))
