"""A passage in its source: the text around it, and the image of its PDF page."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from oprag.chunk import Span
from oprag.errors import OpragError
from oprag.files import HTML_ENDINGS, FileText, pdf_page_image
from oprag_cli.play.desk import Desk, Opened
from oprag_cli.play.views import place_within, short_names

_AROUND = 1_500
"""Characters that are shown before and after a passage."""
_WIDTH = 1_400
"""Pixels of a page's image: sharp when it is shown larger than its column."""
_PROSE = {".md", ".markdown", ".docx", ".pdf", *HTML_ENDINGS}
"""Endings of files whose lines end where their paragraphs do."""


def source_view(opened: Opened) -> dict[str, Any]:
    """Show the place of a passage, or another page of its document."""
    step, number, page = opened
    passages, desk = step.retrieved.passages, step.desk
    passage = passages[number - 1]
    page = passage.part if page is None else page
    spans = passage.spans if page == passage.part else ()
    name = passage.text_id
    given = desk.text_of(name, page)
    text = passage.text if given is None else given.text
    image, mark = _image(desk, name, page, spans)
    short = short_names(desk.shelf.paths).get(name, name)
    return {
        "number": number,
        "last": len(passages),
        "title": ", ".join(filter(None, [short, place_within(passage)])),
        "parts": _mark(text, spans, whole=page is not None),
        "image": image,
        "mark": mark,
        "shown": f"The page with passage {number} marked" if spans else "A page",
        "turns": _turns(desk.shelf.read.by_file.get(name, []), page),
        "plain": desk.shelf.paths[name].suffix.lower() not in _PROSE,
    }


def _turns(pages: Sequence[FileText], page: int | None) -> list[tuple[int, str]]:
    """Return the pages before and after one, each with the text of its button."""
    numbers = [each.page for each in pages]
    if page not in numbers:
        return []
    at = numbers.index(page)
    return [
        (number, f"Page {pages[to].page_label}")
        for to in (at - 1, at + 1)
        if 0 <= to < len(pages) and (number := numbers[to]) is not None
    ]


def _mark(text: str, spans: Sequence[Span], *, whole: bool) -> list[list[Any]]:
    """Return text in pieces, each with whether it is of the passage."""
    first = min((span.start for span in spans), default=0)
    last = max((span.end for span in spans), default=0)
    begin = 0 if whole else max(0, first - _AROUND)
    end = len(text) if whole else min(len(text), last + _AROUND)
    parts: list[list[Any]] = []
    at = begin
    for span in spans:
        parts += [[text[at : span.start], False], [text[span.start : span.end], True]]
        at = span.end
    parts.append([text[at:end], False])
    if begin:
        parts.insert(0, ["… ", False])
    if end < len(text):
        parts.append([" …", False])
    return [part for part in parts if part[0]]


def _image(
    desk: Desk, name: str, page: int | None, spans: Sequence[Span]
) -> tuple[str, float]:
    """Return a PDF page as the address of a picture, and the start of its mark.

    Empty for other files. The start is a share of the page's height.
    """
    if page is None or desk.text_of(name, page) is None:
        return "", 0.0
    path = desk.shelf.paths[name]
    try:
        changed = path.stat().st_mtime_ns
        image, mark = _draw(path, changed, page, tuple(spans))
    except (OpragError, OSError, ValueError, LookupError):
        return "", 0.0  # the text is shown, as it was read
    return f"data:image/png;base64,{base64.b64encode(image).decode('ascii')}", mark


@lru_cache(32)
def _draw(
    path: Path, changed: int, page: int, spans: tuple[Span, ...]
) -> tuple[bytes, float]:
    """Draw a page, and find its mark by comparing it with the page without the mark."""
    from PIL import Image, ImageChops

    del changed  # drawn anew when the file is another
    data = path.read_bytes()
    image = pdf_page_image(data, page, spans, width=_WIDTH)
    if not spans:
        return image, 0.0
    with (
        Image.open(io.BytesIO(image)) as marked,
        Image.open(io.BytesIO(pdf_page_image(data, page, width=_WIDTH))) as bare,
    ):
        both = marked.convert("RGB"), bare.convert("RGB")
        box = ImageChops.difference(*both).getbbox()
        return image, box[1] / marked.height if box else 0.0
