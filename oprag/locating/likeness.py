"""Chunks that are the same but for white space, so that this alone tells them apart."""

from __future__ import annotations

from collections.abc import Sequence

from oprag.locating.chunks_in_order import Location
from oprag.locating.squeezing import squeeze


def exchangeable(texts: Sequence[str], found: Sequence[Location]) -> list[int]:
    """Return the numbers of the chunks that may stand where another one was found.

    Places are found without regard to white space. So of chunks that differ in nothing
    else only those are sure whose place has their own white space. White space around
    a chunk does not count, nor do chunks whose texts are equal: it makes no difference
    which is which.
    """
    alike: dict[str, set[str]] = {}
    for text in texts:
        alike.setdefault(squeeze(text), set()).add(text.strip())
    return [
        number
        for number, text in enumerate(texts)
        if found[number].status != "exact" and len(alike[squeeze(text)]) > 1
    ]
