"""The pictures that pages show: there, small, described, and complete in themselves."""

import re

import pytest

from tests.docs.recordings import IMAGES, PICTURES
from tests.docs.test_docs import PAGES

MARKDOWN = re.compile(r"!\[(?P<text>[^\]]*)\]\((?P<target>[^)]+)\)")
HTML = re.compile(
    r'<picture>.*?srcset="(?P<narrow>[^"]+)".*?src="(?P<target>[^"]+)"'
    r'.*?alt="(?P<text>[^"]+)".*?</picture>',
    re.DOTALL,
)


def pictures_of(page):
    """The pictures of a page, with their descriptions."""
    text = page.read_text("utf-8")
    for found in MARKDOWN.finditer(text):
        yield page, found["text"], found["target"]
    for found in HTML.finditer(text):
        yield page, found["text"], found["target"]
        yield page, found["text"], found["narrow"]


SHOWN = [shown for page in PAGES for shown in pictures_of(page)]
LARGEST = {".svg": 100_000, ".png": 150_000}


@pytest.mark.parametrize(("page", "text", "target"), SHOWN, ids=str)
def test_a_picture_that_a_page_shows_is_there_small_and_described(page, text, target):
    picture = page.parent / target

    assert picture.stat().st_size < LARGEST[picture.suffix]
    assert len(text.split()) >= 8, "what somebody reads who does not see it"


def test_every_recording_is_shown_and_nothing_else_is_kept():
    shown = {(page.parent / target).resolve() for page, _, target in SHOWN}

    assert shown == set(IMAGES.iterdir())
    assert {picture.stem.removesuffix("_narrow") for picture in shown} == set(PICTURES)


@pytest.mark.parametrize("picture", sorted(IMAGES.glob("*.svg")), ids=lambda p: p.name)
def test_a_drawing_loads_nothing_from_elsewhere(picture):
    drawing = picture.read_text("utf-8")

    assert not re.search(r"@font-face|@import|url\((?!#)|href=|<script", drawing)
