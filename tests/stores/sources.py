"""Vectors, and metadata as Pinecone keeps them."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

UNICODE = 'Verträge/Käse 日本 "neu" – d\'été 🧀.txt'


def vector(text: str) -> list[float]:
    """Eight numbers by the text's checksum: cheap, and the same on every run."""
    digits = zlib.crc32(text.encode())
    return [1.0 + (digits >> (4 * i) & 15) for i in range(8)]


def pinecone_metadata(metadata: Mapping[str, object]) -> dict[str, object]:
    """Metadata as Pinecone keeps it.

    Numbers become floats, None is dropped, lists may hold strings only, and
    anything else, or more than 40 KB, is refused.
    """
    kept: dict[str, object] = {}
    for key, value in metadata.items():
        if isinstance(value, (bool, str)):
            kept[key] = value
        elif isinstance(value, (int, float)):
            kept[key] = float(value)
        elif isinstance(value, list) and all(isinstance(v, str) for v in value):
            kept[key] = list(value)
        elif value is not None:
            raise ValueError(f"Metadata value of {key!r} must be flat: {value!r}")
    size = sum(len(f"{key}{value}".encode()) for key, value in kept.items())
    if size > 40_960:
        raise ValueError(f"Metadata size is {size} bytes, limit 40960")
    return kept
