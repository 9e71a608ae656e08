"""The site: every public name and page is there, nothing is broken or fetched."""

import json
import re
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

import pytest

from oprag import errors
from tests.test_public_api import PROMISED

pytestmark = pytest.mark.slow  # the site is built, which takes some ten seconds

LEASE = Path(__file__).parents[3] / "docs" / "site" / "lease.txt"
ERRORS = {
    name
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, Exception)
}
DOORS = {**PROMISED, "oprag.errors": ERRORS}


@pytest.mark.parametrize("door", sorted(DOORS))
def test_the_reference_has_exactly_the_public_names(pages, door):
    own = f"{re.escape(door)}\\.(\\w+)"
    ids = pages[f"reference/{door}.html"].ids

    assert {match[1] for each in ids if (match := re.fullmatch(own, each))} == DOORS[
        door
    ]
    # Others are members of these: an attribute of `oprag.Chunk`, never a private name.
    assert [each for each in ids if re.search(r"\._(?!_init__)", each)] == []


def test_the_reference_shows_what_help_shows(pages):
    """Options with types and defaults; `docs/selection.md` explains them."""
    text = re.sub(r"<[^>]+>", "", pages["reference/langchain_oprag.html"].text)

    assert "token_budget: int | None = None" in text
    assert "vectorstore: VectorStore | None = None" in text
    assert "WrappingRetriever" not in text  # a base that is not public
    signature = text.split("OrderPreservingRetriever(", 1)[1].split("\n)", 1)[0]
    assert "citations: bool = False" in signature
    assert "**options" not in signature


def test_every_link_leads_to_a_page_and_a_place_in_it(pages, site):
    broken = []
    for address, page in pages.items():
        for link in page.links + page.loaded:
            path, place = urldefrag(urljoin(f"/{address}", link))
            if re.match(r"https?:", link):
                continue
            target = unquote(path).lstrip("/") or "index.html"
            known = (site / target).is_file()
            if not known or (place and unquote(place) not in pages[target].ids):
                broken.append((address, link))

    assert broken == []


def test_a_file_that_is_no_page_is_named_instead_of_linked(pages):
    front = pages["index.html"].text

    assert "how to cite (<code>CITATION.cff</code>)" in front
    assert "CITATION.cff" not in " ".join(pages["index.html"].links)


def test_nothing_is_fetched_from_elsewhere(pages, site):
    fetched = [link for page in pages.values() for link in page.loaded]
    styles = [path.read_text("utf-8") for path in site.rglob("*.css")]

    assert [link for link in fetched if re.match(r"(?:\w+:)?//", link)] == []
    assert [
        style for style in styles if re.search(r"url\(.?(?:https?:)?//", style)
    ] == []
    assert list(site.rglob("*.py")) == []


def test_headings_go_down_one_by_one_and_pictures_have_texts(pages):
    for address, page in pages.items():
        levels = [1, *page.headings]
        steps = [b - a for a, b in pairwise(levels)]
        assert page.headings.count(1) == 1, address
        assert max(steps) <= 1, address
        assert page.images_without_text == [], address


def test_llms_txt_lists_every_page_with_a_line_about_it(pages, site):
    text = (site / "llms.txt").read_text("utf-8")
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    entries = [re.fullmatch(r"- \[(.+)\]\((.+)\): (.+)", line) for line in lines]

    assert text.startswith("# oprag\n\n> Retrieved passages, put back in the order")
    assert [entry[2] for entry in entries] == list(dict.fromkeys(e[2] for e in entries))
    assert {entry[2] for entry in entries} == set(pages) - {"404.html"}
    assert all(len(entry[3]) > 20 for entry in entries)
    assert "Never a silent disorder" in (site / "llms-full.txt").read_text("utf-8")


def test_the_slider_shows_the_best_passages_in_both_orders(pages):
    lease = LEASE.read_text("utf-8")
    steps = json.loads(pages["index.html"].steps)

    assert [step["budget"] for step in steps] == list(range(50, 501, 50))
    for step in steps:
        ranks = [rank for rank, _ in step["rank"]]
        places = [lease.index(text) for _, text in step["document"]]
        assert ranks == list(range(1, len(ranks) + 1))
        assert sorted(step["rank"]) == sorted(step["document"])
        assert places == sorted(places)
        assert step["tokens"] <= step["budget"]
    counts = [len(step["rank"]) for step in steps]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]
