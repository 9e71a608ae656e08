"""Places of any splitter's chunks in their source: proved, or reported as unknown."""

from oprag.locating.chunks_in_any_order import (
    Order,
    Placement,
    cover_by_place,
    exchangeable,
    place,
)
from oprag.locating.chunks_in_order import Location, locate
from oprag.locating.contiguity import merge_ranges
from oprag.locating.overlaps import Chain, chain_pages
from oprag.locating.pieces import pieces_of
from oprag.locating.proved_order import given_order
from oprag.locating.seeds import held, starts_of
from oprag.locating.squeezed_text import squeeze
from oprag.locating.text_index import place_some

__all__ = [
    "Chain",
    "Location",
    "Order",
    "Placement",
    "chain_pages",
    "cover_by_place",
    "exchangeable",
    "given_order",
    "held",
    "locate",
    "merge_ranges",
    "pieces_of",
    "place",
    "place_some",
    "squeeze",
    "starts_of",
]
