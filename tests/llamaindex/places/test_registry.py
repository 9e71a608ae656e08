"""The list of places is whole, and the page shows it as it is."""

import re
from pathlib import Path

from tests.llamaindex.places.registry import PLACES, table

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs" / "places.md"


def test_ids_name_one_place_each():
    ids = [place.id for place in PLACES]

    assert len(set(ids)) == len(ids)


def test_every_kind_of_place_is_run_by_a_test():
    sources = [path.read_text("utf-8") for path in HERE.glob("test_*.py")]
    run = {kind for s in sources for kind in re.findall(r'places_of\("(\w+)"\)', s)}

    assert run == {place.kind for place in PLACES}


def test_where_order_is_lost_another_place_keeps_it():
    by_id = {place.id: place for place in PLACES}

    lost = [place for place in PLACES if place.instead]

    assert {place.kind for place in lost} == {"order_breakers", "refused"}
    assert all(by_id[place.instead].verdict == "yes" for place in lost)


def test_the_page_lists_these_places_with_these_verdicts():
    """If it differs, put the output of `table()` into the page."""
    page = PAGE.read_text("utf-8")
    section = page.split("\n## LlamaIndex\n")[1].split("\n## ")[0]

    tables = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)

    assert [found.strip() for found in tables] == [table()]
