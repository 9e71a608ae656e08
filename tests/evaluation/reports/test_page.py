"""The page in one file: nothing from elsewhere, and text stays text."""

from __future__ import annotations

import base64
import hashlib
import json
from html.parser import HTMLParser

import pytest

from tests.evaluation.reports.runs import HOSTILE

pytestmark = pytest.mark.slow


class Page(HTMLParser):
    """The elements of a page with their attributes, and the text of some."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "input"):
            self._open.append(tag)

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        if self._open:
            self.texts.setdefault(self._open[-1], []).append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]


@pytest.fixture(scope="module")
def page(reported) -> Page:
    return Page((reported[0] / "report.html").read_text("utf-8"))


def test_nothing_is_fetched(page):
    assert {tag for tag, _ in page.elements} & {"link", "iframe", "object"} == set()
    assert all("src" not in attrs for attrs in page.all("script"))
    images = page.all("img")
    assert len(images) == 4
    assert all(img["src"].startswith("data:image/svg+xml;base64,") for img in images)
    assert all(attrs["href"].startswith("#") for attrs in page.all("a"))


def test_plots_are_told_in_words_to_those_who_do_not_see_them(page, reported):
    spot = reported[1].sweet_spots[-1].chosen

    assert [image["alt"] for image in page.all("img")] == [
        f"F1 against tokens, 45 questions; rings: sweet spots; the wide one: {spot}",
        "Evidence recall against tokens, 45 questions",
        f"F1 against cost, 45 questions; rings: sweet spots; the wide one: {spot}",
        "Questions answered from the chunks, and tokens used, 45 questions",
    ]


def test_the_policy_allows_the_one_script_and_style_by_their_hashes(page):
    (policy,) = [
        attrs["content"] for attrs in page.all("meta") if "http-equiv" in attrs
    ]
    rules = dict(rule.split(maxsplit=1) for rule in policy.split("; "))
    data, script = page.texts["script"]
    (style,) = page.texts["style"]

    assert rules["default-src"] == "'none'"
    for kind, text in (("script-src", script), ("style-src", style)):
        digest = hashlib.sha256(text.encode()).digest()
        assert rules[kind] == f"'sha256-{base64.b64encode(digest).decode()}'"
    assert json.loads(data)["total"] == 45
    assert not any(
        name == "style" or name.startswith("on")
        for _, attrs in page.elements
        for name in attrs
    )


def test_text_of_the_run_stays_text(page, reported):
    raw = (reported[0] / "report.html").read_text("utf-8")
    data = json.loads(page.texts["script"][0])

    assert len(page.all("script")) == 2
    assert page.all("b") == []
    assert HOSTILE not in raw
    assert data["questions"][0]["question"].endswith(HOSTILE)
    assert any(HOSTILE in text for text in page.texts["td"]) or any(
        "document.title" in text for text in page.texts["td"]
    )  # the setting `note`, as text


def test_every_table_and_setting_is_there(page, reported):
    _, summary = reported
    titles = [text for text in page.texts["h2"] if text.strip()]

    assert titles == [
        "Notes",
        "Results",
        "Tokens and cost",
        "Sweet spots",
        "Comparisons",
        "Self-Route",
        "Questions",
        "Settings",
    ]
    cells = set(page.texts["td"])
    assert {arm.system for arm in summary.arms} <= cells
    assert set(summary.settings) <= set(page.texts["th"])
    assert summary.sweet_spots[-1].chosen in page.texts["strong"]
