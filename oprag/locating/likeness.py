"""Chunks that are the same but for white space, so that this alone tells them apart."""

from __future__ import annotations

from collections.abc import Sequence

from oprag.locating.chunks_in_order import Location
from oprag.locating.squeezed_text import squeeze


def exchangeable(
    source: str, texts: Sequence[str], found: Sequence[Location]
) -> list[int]:
    """Return the numbers of the chunks that may be where another one was found.

    Places are found without regard to white space. So chunks that differ in nothing
    else are in doubt, unless each of them has the very text of its place. White space
    around a chunk does not count, nor do chunks whose texts are equal: it makes no
    difference which is which.
    """
    alike: dict[str, list[int]] = {}
    for i, text in enumerate(texts):
        alike.setdefault(squeeze(text), []).append(i)
    doubtful: list[int] = []
    for numbers in alike.values():
        bodies = {texts[i].strip() for i in numbers}
        places = [source[slice(*(found[i].span or (0, 0)))].strip() for i in numbers]
        if len(bodies) > 1 and places != [texts[i].strip() for i in numbers]:
            doubtful += numbers
    return sorted(doubtful)
