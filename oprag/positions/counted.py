"""Numbers of chunks: by their links, or as an application counted them.

An application that counts chunks may give each a separate id. A `doc_id` that differs
on each chunk is no document's. It does not say in which text a number counts. That can
be seen only if all chunks of the document are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from oprag.chunk import Hit
from oprag.positions.identity import FRAMEWORK_IDS
from oprag.positions.linked import number_by_links
from oprag.positions.schemes import SCHEMES, read_starts

_SHOWN = 3
"""The fewest chunks that show that each has another id."""


class PageNumbers:
    """Numbers the chunks of a document page by page, if their metadata allow it.

    Args:
        document: All its chunks.
    """

    def __init__(self, document: Sequence[Hit]) -> None:
        self._document = document

    @cached_property
    def _are_counted(self) -> bool:
        return _have_ids_of_their_own(self._document)

    def find(self, page: Sequence[Hit]) -> list[int | None]:
        """Return the number of each chunk of a page, from 0; None if unknown."""
        numbers = number_by_links(page)
        if numbers.count(None) == len(page) and self._are_counted:
            return _number_by_count(page)
        return numbers


def _number_by_count(hits: Sequence[Hit]) -> list[int | None]:
    """Return the numbers that the chunks of one page have, from 0.

    Args:
        hits: All chunks of the page, of a document whose chunks have separate ids.

    Returns:
        None for all unless the numbers under one key follow one another, each on one
        text.
    """
    for scheme in SCHEMES:
        numbers = read_starts(hits, scheme)
        known = [number for number in numbers if number is not None]
        if scheme.characters or scheme.is_of_seconds or len(known) < len(hits):
            continue
        texts = {(at, hit.text) for at, hit in zip(known, hits, strict=True)}
        first = min(known)
        if len({*known}) == len(texts) == max(known) - first + 1:
            return [int(number - first) for number in known]
    return [None] * len(hits)


def _have_ids_of_their_own(hits: Sequence[Hit]) -> bool:
    """Return whether a document key has another value on each chunk of a document.

    Args:
        hits: All its chunks.
    """
    texts = {hit.text for hit in hits}
    for key in FRAMEWORK_IDS:
        pairs = {(str(hit.metadata.get(key)), hit.text) for hit in hits}
        ids = {each for each, _ in pairs}
        if len(pairs) == len(ids) >= len(texts) >= _SHOWN:
            return True
    return False
