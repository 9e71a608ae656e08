"""The documents that stores are tried with."""

from __future__ import annotations

from typing import NamedTuple

from oprag.metadata import (
    CHUNK_HASH,
    chunk_id,
    chunk_metadata,
    document_key,
    document_version,
    text_hash,
    text_stamp,
)
from oprag.stores import StoredChunk

TENANT = "tenant"
"""A key that oprag does not write. Filters of the store suite admit `OWN` there."""
OWN, OTHER = "a", "b"

_SIZE = 32
"""Characters of a chunk."""


class Sample(NamedTuple):
    """A document, and its chunks as a store is given them."""

    name: str
    parts: tuple[str, ...]
    chunks: list[StoredChunk]

    @property
    def key(self) -> str:
        """Its `doc_key`."""
        return document_key(self.name)


def sample(name: str, *parts: str, size: int = _SIZE) -> Sample:
    """Cut a document into chunks of a number of characters."""
    rows = [
        [
            (start, min(start + size, len(text)), 0)
            for start in range(0, len(text), size)
        ]
        for text in parts
    ]
    version = document_version(f"oprag.testing {size}", parts)
    written = chunk_metadata(name, rows, version=version)
    chunks = []
    for number, (text, row, entries) in enumerate(
        zip(parts, rows, written, strict=True)
    ):
        entries[0].update(text_stamp(text))
        part = number if len(parts) > 1 else None
        for index, (cut, metadata) in enumerate(zip(row, entries, strict=True)):
            metadata[TENANT] = OTHER if metadata["chunk_index"] % 3 == 1 else OWN
            piece = text[slice(*cut[:2])]
            metadata[CHUNK_HASH] = text_hash(piece)
            found = chunk_id(name, index, version=version, part=part)
            chunks.append(StoredChunk(piece, metadata, found))
    return Sample(name, parts, chunks)


AWKWARD = (
    "\ufeff  Käse, caf\u00e9 and cafe\u0301: the ﬁrst two are not spelt alike.\r\n"
    "\tTabs,\u00a0hard spaces,  two blanks; 日本語の文。これは二番目です。\r\n\r\n"
    "A family 👨‍👩‍👧‍👦, a flag 🇩🇪, a thumb 👍🏽, and \u00c5, \u212b, ½, Ⅳ.\n"
    'He said: "it\'s C:\\new\\table", then {"$ne": 1}, %s, :name, ${x}, &amp;. \n'
)
"""A text that breaks easily: by stripping, by Unicode's normal forms, by quoting, by
line ends."""

SAMPLES = (
    sample("Käse 日本 \"quoted\" o'brien's.txt", AWKWARD),
    sample("nope' OR 'x'='x", AWKWARD[::-1]),
    sample(
        "C:\\new\\report.pdf",
        "The first page says what was found in the north, and when. ",
        " The second one says who had been there before, and why.\n",
        "The third has the figures: 1,200 in May; 1,350 in June.",
    ),
    sample("'; DROP TABLE chunks; --", "Of the rest there is little to say. " * 3),
)
"""Documents with names that break out of a quotation if they are put into one."""

CHUNKS = [chunk for each in SAMPLES for chunk in each.chunks]
"""The chunks of all samples; no two have the same text."""
