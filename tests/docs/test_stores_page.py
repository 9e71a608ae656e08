"""The page of stores shows those that the tests run, as their lists have them."""

import re
from pathlib import Path

from tests.real_stores.langchain_places import PLACES
from tests.real_stores.llamaindex_places import LLAMAINDEX_STORES

PAGE = Path(__file__).parents[2] / "docs" / "stores.md"

LISTS = (("LangChain", PLACES), ("LlamaIndex", LLAMAINDEX_STORES))


def table() -> str:
    """Return the table: a line for each class, with the ways in which it was run."""
    lines: list[list[str]] = []
    for framework, places in LISTS:
        for place in places:
            if place.watch_for == "As above.":
                name = place.store.split("`")[1]
                lines[-1][1] += ";" + place.store.removeprefix(f"`{name}`").strip(",")
            else:
                lines.append([framework, place.store, place.watch_for])
    rows = ["| framework | store | watch for |", "|---|---|---|"]
    rows += [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join(rows)


def test_ids_name_one_store_each():
    ids = [place.id for _, places in LISTS for place in places]

    assert len(set(ids)) == len(ids)


def test_the_page_lists_the_stores_that_are_tested():
    """If it differs, put the output of `table()` into the page."""
    section = PAGE.read_text("utf-8").split("\n## What works\n")[1].split("\n## ")[0]

    tables = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)

    assert [found.strip() for found in tables] == [table()]
