"""Chunks of a book, and how BM25 and an embedding model rank them for each question.

Vectors are kept on disk under a name made of the texts, so that a second run embeds
nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import bm25s  # type: ignore[import-untyped]  # has no types
import numpy as np
from bm25s.stopwords import STOPWORDS_EN  # type: ignore[import-untyped]  # as above
from langchain_text_splitters import RecursiveCharacterTextSplitter
from llama_index.core import Document as LlamaDocument
from llama_index.core.node_parser import SentenceSplitter
from numpy.typing import NDArray

from benchmarks.recall.books import Book
from oprag.splitting import TextChunk, split_sentences
from oprag.stores.bm25_tokenizer import words_of
from oprag.tokens import NamedTokenCounter
from oprag_cli.embedding_models import find_packaged_weights, load_embedding_model

_RRF = 61
"""Added to a rank from 0: reciprocal-rank fusion as both frameworks do it."""

Scores = NDArray[np.float32]
Places = NDArray[np.intp]


@dataclass(frozen=True)
class Ranked:
    """The chunks of a book under one splitting, and their scores."""

    chunks: tuple[TextChunk, ...]
    dense: Scores
    """Cosine, questions by chunks."""
    sparse: Scores
    """BM25, questions by chunks."""

    @cached_property
    def first(self) -> Places:
        """For each chunk the number of the first at its place."""
        first: dict[tuple[int, int], int] = {}
        return np.array(
            [
                first.setdefault((chunk.start, chunk.end), number)
                for number, chunk in enumerate(self.chunks)
            ]
        )


def rank_chunks(
    book: Book, splitting: Sequence[str], counter: NamedTokenCounter, cache: Path
) -> Ranked:
    """Split a book and rank its chunks.

    Args:
        book: The book.
        splitting: Such as `["sentences-64", "sentences-128"]`: chunks of all of
            these in one index. `"recursive-1000"` are LangChain's, of characters,
            `"llama_index-1024"` those of LlamaIndex.
        counter: Counts the chunks.
        cache: Folder for the vectors.
    """
    chunks: list[TextChunk] = []
    vectors = []
    for each in splitting:
        found = _split(book.text, each, counter)
        chunks += found
        texts = [book.text[chunk.start : chunk.end] for chunk in found]
        vectors.append(_embedded(texts, cache))
    questions = [question.text for question in book.questions]
    dense = _embedded(questions, cache) @ np.concatenate(vectors).T
    texts = [book.text[chunk.start : chunk.end] for chunk in chunks]
    return Ranked(tuple(chunks), dense, _bm25(texts, questions))


def _split(text: str, splitting: str, counter: NamedTokenCounter) -> list[TextChunk]:
    kind, _, number = splitting.rpartition("-")
    size = int(number)
    if kind == "sentences":
        return split_sentences(text, chunk_size=size, tokenizer=counter)
    places: list[tuple[int | None, str]]
    if kind == "recursive":
        splitter = RecursiveCharacterTextSplitter(
            chunk_size=size, chunk_overlap=200, add_start_index=True
        )
        found = splitter.create_documents([text])
        places = [(d.metadata["start_index"], d.page_content) for d in found]
    else:
        parser = SentenceSplitter(chunk_size=size)
        nodes = parser.get_nodes_from_documents([LlamaDocument(text=text)])
        places = [(n.start_char_idx, n.text) for n in nodes]
    return [
        TextChunk(start, start + len(chunk), counter(chunk))
        for start, chunk in places
        if start is not None and text.startswith(chunk, start)
    ]


def fused(ranked: Ranked, question: int, retrievers: str, depth: int | None) -> Places:
    """What is found for a question, as `bm25=True` fuses it.

    Args:
        ranked: Chunks of the same place are one, with the ranks of all.
        question: Its number.
        retrievers: `"hybrid"`, or `"dense"` or `"bm25"` alone.
        depth: How many chunks each retriever gives; None for all.

    Returns:
        Numbers of chunks, best first; ties by rank of the first retriever.
    """
    dense, sparse = ranked.dense[question], ranked.sparse[question]
    if retrievers != "hybrid":
        scores = {"dense": dense, "bm25": sparse}[retrievers]
        order = ranked.first[np.argsort(-scores, kind="stable")[:depth]]
        return order[np.sort(np.unique(order, return_index=True)[1])]
    sums = np.zeros(len(dense))
    place = np.full(len(dense), np.inf)
    order = np.argsort(-dense, kind="stable")[:depth]
    np.add.at(sums, ranked.first[order], 1 / (_RRF + np.arange(len(order))))
    np.minimum.at(place, ranked.first[order], np.arange(len(order)))
    order = np.argsort(-sparse, kind="stable")[: np.count_nonzero(sparse > 0)][:depth]
    # Those that the words make equal share the last of their ranks.
    last = np.searchsorted(-sparse[order], -sparse[order], side="right") - 1
    np.add.at(sums, ranked.first[order], 1 / (_RRF + last))
    best = np.lexsort((place, -sums))
    return best[: np.count_nonzero(sums)]


def _bm25(texts: Sequence[str], questions: Sequence[str]) -> Scores:
    index = bm25s.BM25()
    index.index([words_of(text, STOPWORDS_EN) for text in texts], show_progress=False)
    asked = [
        [word for word in words_of(question, STOPWORDS_EN) if word in index.vocab_dict]
        for question in questions
    ]
    nothing = np.zeros(len(texts), np.float32)
    return np.array([index.get_scores(q) if q else nothing for q in asked], np.float32)


def _embedded(texts: Sequence[str], cache: Path) -> Scores:
    name = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:32]
    path = cache / f"{name}.npy"
    if not path.exists():
        vectors = _model().encode(
            list(texts),
            batch_size=64,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        cache.mkdir(parents=True, exist_ok=True)
        np.save(path, vectors.astype(np.float32))
    loaded: Scores = np.load(path)
    return loaded


@lru_cache(1)
def _model() -> Any:
    return load_embedding_model(packaged=find_packaged_weights()).model
