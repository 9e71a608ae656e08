"""Three real documents: two of the language reference, and the pages of a PDF."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path
from pydoc_data.topics import topics
from typing import NamedTuple

from oprag.files.pdf import pdf_pages
from tests.files.mixed_files import pdf

UNICODE = 'Verträge/Käse 日本 "neu" – d\'été 🧀.txt'
URL = "https://example.org/a%20b/§?q='x'&n=1#part-2"


class SourceDocument(NamedTuple):
    """A document as its reader gives it."""

    name: str
    """Its own name."""
    pages: tuple[str, ...]
    """Its texts; more than one for a PDF."""

    @property
    def text(self) -> str:
        return "\n\n".join(self.pages)


def three_documents(folder: Path) -> tuple[SourceDocument, ...]:
    """Two long texts and a PDF that is written into the folder."""
    path = folder / "Bericht Nr. 1 (l'été).pdf"
    # The PDF's font knows Latin letters only.
    pages = [topics[name][:2_000] for name in ("if", "while", "for")]
    pdf(path, tuple(page.encode("latin-1", "replace").decode() for page in pages))
    read = tuple(page.text for page in pdf_pages(path.read_bytes()))
    classes = "\r\n".join(topics[name] for name in ("specialnames", "compound"))
    strings = ("types", "formatstrings", "string-methods", "typesseq")
    return (
        SourceDocument(UNICODE, (f"\ufeff{classes}\n\u0301 é 日本 🧀\r\n\t",)),
        SourceDocument(URL, ("\n".join(topics[name] for name in strings),)),
        SourceDocument(str(path), read),
    )


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
