"""The tables of places on the page of applications show places that are tested."""

import re
from pathlib import Path

import pytest

from tests.kit.app_places import LANGCHAIN, LLAMAINDEX, Place

PAGE = Path(__file__).parents[2] / "docs" / "apps.md"
ROW = re.compile(r"^\| [^|`]+ \| `([^`]+)` \|$", re.MULTILINE)


def shown(framework: str) -> list[str]:
    section = PAGE.read_text("utf-8").partition(f"\n### {framework}\n")[2]
    return ROW.findall(re.split(r"\n##", section)[0])


@pytest.mark.parametrize(
    ("framework", "places"), [("LangChain", LANGCHAIN), ("LlamaIndex", LLAMAINDEX)]
)
def test_every_line_to_write_keeps_the_order_in_a_test(framework, places):
    lines = shown(framework)

    assert len(lines) >= 10
    assert set(lines) <= {place.how for place in places if place.verdict == "yes"}


@pytest.mark.parametrize("places", [LANGCHAIN, LLAMAINDEX])
def test_a_place_that_loses_the_order_names_one_that_keeps_it(places: list[Place]):
    kept = {place.id for place in places if place.verdict == "yes"}

    assert len({place.id for place in places}) == len(places)
    for place in places:
        assert place.instead in ({""} if place.verdict == "yes" else kept)
