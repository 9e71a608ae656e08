"""Where any splitter's chunks stand in their source: proved, or said to be unknown."""

from oprag.locating.annotating import (
    POSITION_KEYS,
    SourcePart,
    annotate_chunks,
    replaced,
)
from oprag.locating.chunks_in_any_order import Order, Placement, cover_by_place, place
from oprag.locating.chunks_in_order import Location, locate
from oprag.locating.seeding import held
from oprag.locating.squeezing import squeeze
from oprag.locating.text_index import place_some

__all__ = [
    "POSITION_KEYS",
    "Location",
    "Order",
    "Placement",
    "SourcePart",
    "annotate_chunks",
    "cover_by_place",
    "held",
    "locate",
    "place",
    "place_some",
    "replaced",
    "squeeze",
]
