"""A passage in its source: the text around it, and the image of its PDF page."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from oprag.chunk import Span
from oprag.cli.play.session import Desk, Step
from oprag.errors import OpragError
from oprag.files import FileText, pdf_page_image

_AROUND = 1_500
"""Characters that are shown before and after a passage."""


def source_view(step: Step, number: int, page: int | None = None) -> dict[str, Any]:
    """Show the place of a passage, or another page of its document.

    Args:
        step: What is read.
        number: Of the passage, from 1.
        page: Counted from 0; None for the passage's own.
    """
    passage, desk = step.retrieved.passages[number - 1], step.desk
    page = passage.part if page is None else page
    spans = passage.spans if page == passage.part else ()
    given = desk.text_of(passage.text_id, page)
    text = passage.text if given is None else given.text
    return {
        "number": number,
        "title": passage.citation,
        "parts": _marked(text, spans, whole=page is not None),
        "image": _image(desk, passage.text_id, page, spans),
        "shown": f"The page with passage {number} marked" if spans else "A page",
        "turns": _turns(desk.shelf.read.by_file.get(passage.text_id, []), page),
    }


def _turns(pages: Sequence[FileText], page: int | None) -> list[tuple[int, str]]:
    """The pages before and after one, each with what its button says."""
    numbers = [each.page for each in pages]
    if page not in numbers:
        return []
    at = numbers.index(page)
    return [
        (number, f"Page {pages[to].page_label}")
        for to in (at - 1, at + 1)
        if 0 <= to < len(pages) and (number := numbers[to]) is not None
    ]


def _marked(text: str, spans: Sequence[Span], *, whole: bool) -> list[list[Any]]:
    """Text and whether it is of the passage, by turns."""
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


def _image(desk: Desk, name: str, page: int | None, spans: Sequence[Span]) -> str:
    """The page of a PDF as the address of a picture; empty for other files."""
    if page is None or desk.text_of(name, page) is None:
        return ""
    try:
        image = pdf_page_image(desk.shelf.paths[name].read_bytes(), page, spans)
    except (OpragError, OSError, ValueError, LookupError):
        return ""  # the text is shown, as it was read
    return f"data:image/png;base64,{base64.b64encode(image).decode('ascii')}"
