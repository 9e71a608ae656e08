"""The list of places: what the tests of this folder run and `docs/places.md` shows.

The third column of the page, `how`, is the very code that is run.
"""

from __future__ import annotations

from tests.llamaindex.places.applications import APPLICATIONS
from tests.llamaindex.places.losing import LOSING
from tests.llamaindex.places.place import Place
from tests.llamaindex.places.retrieval import INDEXES, RETRIEVAL

__all__ = ["PLACES", "places_of", "table"]

PLACES: tuple[Place, ...] = (*RETRIEVAL, *APPLICATIONS, *INDEXES, *LOSING)
"""In the order of the page. Ids are unique."""


def places_of(kind: str) -> list[Place]:
    """The places of one kind, in order."""
    return [place for place in PLACES if place.kind == kind]


def table(places: tuple[Place, ...] = PLACES) -> str:
    """The places as a Markdown table, as `docs/places.md` shows them."""
    lines = ["| id | place | how | in order |", "|---|---|---|---|"]
    lines += [f"| `{p.id}` | {p.where} | `{p.how}` | {p.verdict} |" for p in places]
    return "\n".join(lines)
