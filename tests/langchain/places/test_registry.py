"""The page shows the list of places, and every place is run."""

import re
from pathlib import Path

from tests.langchain.places.registry import PLACES, table

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs" / "apps.md"


def test_every_kind_of_place_is_run_by_a_test():
    source = (HERE / "test_places.py").read_text("utf-8")

    assert set(re.findall(r'places_of\("(\w+)"\)', source)) == {
        place.kind for place in PLACES
    }


def test_where_order_is_lost_another_place_keeps_it():
    by_id = {place.id: place for place in PLACES}

    assert len(by_id) == len(PLACES)
    for place in PLACES:
        assert bool(place.instead) == (place.kind == "order_breakers")
        assert not place.instead or by_id[place.instead].instead is None


def test_the_page_lists_these_places_with_these_verdicts():
    """If it differs, put the output of `table()` into the page."""
    assert f"\n{table()}\n" in PAGE.read_text("utf-8")
