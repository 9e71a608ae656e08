"""Place chunks at the beginnings of their pages, rows or records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from oprag.chunk import Hit
from oprag.positions.keys import PART_KEYS
from oprag.positions.position import NO_PLACE, Position, place_at_page
from oprag.positions.schemes import read_parts


def read_pages(hits: Sequence[Hit]) -> list[Position]:
    """Return the page of each hit; no place for all unless one key gives all pages."""
    parts = read_parts(hits, PART_KEYS) or [None] * len(hits)
    return [place_at_page(part) for part in parts]


def add_pages(
    hits: Sequence[Hit], placed: Mapping[int, Position], part_keys: Sequence[str]
) -> list[Position]:
    """Return the position of each hit: the known one, or the beginning of its page.

    A hit without a known position, such as a table, is put at the beginning of its
    page. It must be the only such text there, and no hit with a position may be of the
    same framework document. All others have no place.

    Args:
        hits: Chunks of one document.
        placed: The known positions, by the index of the hit.
        part_keys: The keys of the pages that the known positions count in.
    """
    parts = read_parts(hits, part_keys) or [None] * len(hits)
    if {parts[i] for i in placed} != {each.part for each in placed.values()}:
        # These pages are of another key than those of the known positions.
        parts = [None] * len(hits)
    cut_up = {(parts[i], hits[i].document) for i in placed}
    others = {(parts[i], hit.text) for i, hit in enumerate(hits) if i not in placed}
    texts_of_page = Counter(part for part, _ in others)
    positions = []
    for i, hit in enumerate(hits):
        part = parts[i]
        if i in placed:
            positions.append(placed[i])
        elif texts_of_page[part] == 1 and (part, hit.document) not in cut_up:
            positions.append(place_at_page(part))
        else:
            positions.append(NO_PLACE)
    return positions
