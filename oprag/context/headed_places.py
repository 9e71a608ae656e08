"""Places of repeated texts by the headings that are over them."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Sequence

from oprag.chunk import Chunk, Span
from oprag.landmarks import BETWEEN, name_heading, read_landmarks
from oprag.locating import Location, squeeze, starts_of
from oprag.splitting import find_sections

_HTML_HEADING = re.compile(
    r"<h([1-6])\b[^>]*>(.*?)</h\1\s*>", re.IGNORECASE | re.DOTALL
)
_TAG = re.compile(r"<[^>]*>")


def find_under_headings(
    source: str, chunks: Sequence[Chunk], locations: list[Location]
) -> None:
    """Place chunks that the text has several times, and under their headings once.

    A chunk that is its last heading itself may stand in the text below it, too: its
    place is the one that lies in no other chunk.

    Args:
        source: The full text, in HTML or Markdown.
        chunks: The chunks; each may record the path of headings over it.
        locations: The places that are known, one per chunk; brought up to date.
    """
    headings = {
        i: read_landmarks(chunks[i].metadata, chunks[i].text).heading
        for i, location in enumerate(locations)
        if location.status == "ambiguous"
    }
    sections = _find_headings(source) if any(headings.values()) else []
    if not sections:
        return
    begins = [start for start, _ in sections]
    paths = ["", *(path for _, path in sections)]
    proved = [location.span for location in locations if location.span]
    # No chunk of a page's text stands in a tag; a chunk of its code has tags itself.
    seen = _TAG.sub(lambda tag: "\0" * len(tag[0]), source)
    flat = squeeze(seen)
    for i, heading in headings.items():
        text = chunks[i].text
        starts = [*starts_of(text, seen)] if heading else []
        if len(starts) != len([*starts_of(squeeze(text), flat)]):
            continue  # somewhere its white space is another
        spans = [
            Span(at, at + len(text))
            for at in starts
            if _is_under(heading, paths[bisect_right(begins, at)])
        ]
        if text == name_heading(heading):
            spans = [span for span in spans if not _lies_in(span, proved)]
        if len(spans) == 1:
            locations[i] = Location(spans[0], "exact")


def _find_headings(source: str) -> list[tuple[int, str]]:
    """Return where the path of headings changes, in HTML or in Markdown."""
    titles: dict[int, str] = {}
    found = []
    for match in _HTML_HEADING.finditer(source):
        level = int(match[1])
        titles = {at: title for at, title in titles.items() if at < level}
        titles[level] = " ".join(html.unescape(_TAG.sub("", match[2])).split())
        found.append((match.start(), BETWEEN.join(titles[at] for at in sorted(titles))))
    return found or [(start, path) for start, path in find_sections(source)]


def _is_under(heading: str, path: str) -> bool:
    """Tell whether the headings of one path are all in another one, in their order.

    A splitter records those of the levels alone that it was told.
    """
    titles = iter(path.split(BETWEEN))
    return all(title in titles for title in heading.split(BETWEEN))


def _lies_in(span: Span, others: Sequence[Span]) -> bool:
    return any(each.start <= span.start and span.end <= each.end for each in others)
