"""A passage in its source: the text around it, and the image of its PDF page."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from oprag.chunk import Passage, Span
from oprag.cli.play.session import Desk, Step
from oprag.errors import OpragError
from oprag.files import pdf_page_image

_AROUND = 1_500
"""Characters that are shown before and after a passage."""


def source_view(step: Step, number: int) -> dict[str, Any]:
    """Show the place of a passage.

    Args:
        step: What is read.
        number: Of the passage, from 1.
    """
    passage = step.retrieved.passages[number - 1]
    given = step.desk.text_of(passage.uri, passage.part)
    text = passage.text if given is None else given.text
    return {
        "number": number,
        "title": passage.citation,
        "parts": _marked(text, passage.spans, whole=passage.part is not None),
        "image": _image(step.desk, passage),
    }


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


def _image(desk: Desk, passage: Passage) -> str:
    """The page of a PDF as the address of a picture; empty for other files."""
    if passage.part is None or desk.text_of(passage.uri, passage.part) is None:
        return ""
    try:
        data = desk.shelf.paths[passage.uri].read_bytes()
        image = pdf_page_image(data, passage.part, passage.spans)
    except (OpragError, OSError, ValueError, LookupError):
        return ""  # the text is shown, as it was read
    return f"data:image/png;base64,{base64.b64encode(image).decode('ascii')}"
