"""Chunks as a Chroma collection gives them back, in either framework's classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["N_STORED", "K", "Retrieved", "less", "pieces", "place", "renamed"]

N_STORED = 2_000
K = 400


class Retrieved(NamedTuple):
    """What a framework fetched, and what is done with it."""

    objects: list[Any]
    """Chunks of a few documents, in document order."""
    query: Callable[[], object]
    """The query that fetches 400 chunks."""
    component: Callable[..., Callable[[list[Any]], object]]
    """Makes oprag's component out of options, as a function of the objects."""
    made_anew: Callable[[Any], Any]
    """The object once more, by the framework's own means and nothing else."""
    without: Callable[..., Any]
    """A copy of an object without some of its metadata."""
    renamed: Callable[[Any, int], Any]
    """A copy of an object that belongs to another document, by a number."""
    shown: Callable[[Any], Any]
    """A copy of an object with a path in its metadata, which LlamaIndex sends."""


def pieces(text: str) -> dict[str, str]:
    """Make a few documents of a text, by name."""
    size = len(text) // 5
    return {f"{number}.txt": text[number * size :][:size] for number in range(5)}


def place(metadata: dict[str, Any]) -> tuple[str, int]:
    """Where a chunk stands."""
    return metadata["doc_uri"], metadata["chunk_index"]


def less(metadata: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """Metadata without some of its keys."""
    return {key: value for key, value in metadata.items() if key not in keys}


def renamed(metadata: dict[str, Any], number: int) -> dict[str, Any]:
    """Metadata of the same chunk of another document, by a number."""
    return {**metadata, "doc_key": f"{metadata['doc_key']}-{number}"}
