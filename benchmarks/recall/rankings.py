"""Chunks of a book, and how BM25 and an embedding model rank them for each question.

Vectors are kept on disk under a name made of the texts, so that a second run embeds
nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
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
from oprag.cli.embedding_models import load_embedding_model, packaged_weights
from oprag.documents.words import words_of
from oprag.splitting import TextChunk, split_sentences, split_tokens
from oprag.tokens import NamedTokenCounter

_RRF = 61
"""Added to a rank from 0: reciprocal-rank fusion as both frameworks do it."""

Scores = NDArray[np.float32]


@dataclass(frozen=True)
class Ranked:
    """The chunks of a book under one splitting, and their scores."""

    chunks: tuple[TextChunk, ...]
    dense: Scores
    """Cosine, questions by chunks."""
    sparse: Scores
    """BM25, questions by chunks."""


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
    if kind == "uniform":
        return split_tokens(text, chunk_size=size, tokenizer=counter)
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


def fused(scores: Sequence[Scores], ranked: Ranked, depth: int | None) -> list[int]:
    """Fuse rankings by reciprocal rank, as `EnsembleRetriever` does.

    Args:
        scores: Of all chunks, one array per retriever.
        ranked: Chunks of the same place are one, as for a retriever that compares
            texts.
        depth: How many chunks each retriever gives; None for all.

    Returns:
        Numbers of chunks, best first; ties by position.
    """
    sums: dict[tuple[int, int], float] = {}
    first: dict[tuple[int, int], int] = {}
    for column in scores:
        for rank, number in enumerate(np.argsort(-column, kind="stable")[:depth]):
            chunk = ranked.chunks[number]
            place = (chunk.start, chunk.end)
            first.setdefault(place, int(number))
            sums[place] = sums.get(place, 0.0) + 1 / (_RRF + rank)
    return [first[place] for place in sorted(sums, key=lambda p: (-sums[p], first[p]))]


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
    return load_embedding_model(packaged=packaged_weights())._model  # noqa: SLF001 -- batches of its own size
