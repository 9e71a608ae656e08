"""Chunks as a Chroma collection gives them back, in either framework's classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

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
    metadata: Callable[[Any], dict[str, Any]]
    """The metadata of an object."""
    copied: Callable[[Any, dict[str, Any]], Any]
    """The object once more with other metadata, by the framework's own means."""


def pieces(text: str) -> dict[str, str]:
    """Make a few documents of a text, by name."""
    size = len(text) // 5
    return {f"{number}.txt": text[number * size :][:size] for number in range(5)}


def place(metadata: dict[str, Any]) -> tuple[str, int]:
    """Where a chunk stands."""
    return metadata["doc_key"], metadata["chunk_index"]
