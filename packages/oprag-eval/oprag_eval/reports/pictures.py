"""Pages of one's own PDFs as pictures, with the passages on them that were read."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from oprag.chunk import Span
from oprag.errors import MissingDependencyError
from oprag.files import PagePlace, pdf_page_image
from oprag_eval.data import Dataset, Document

MOST_PICTURES = 12
"""Pictures that a page holds at most: some 150 kB each."""
_WIDTH = 480
_PAGED = 4
_MOST_PAGES = 2
"""Pages of a passage at most; of a whole document no pictures are made."""


def pictures_of(
    questions: Sequence[Mapping[str, Any]],
    described: Sequence[Sequence[Any]],
    dataset: Dataset,
    most: int = MOST_PICTURES,
) -> list[list[Any]]:
    """Draw the pages that the passages of the first answers are on.

    Args:
        questions: As the page shows them, in that order.
        described: Its documents: the id first, and pages only where there are four.
        dataset: Has the documents.
        most: How many pictures.

    Returns:
        `[question, answer, document, label, address]` each, the first three by their
        places. Nothing of a passage that is on many pages, as a whole document is, or
        of a file that cannot be read any more.
    """
    pictures: list[list[Any]] = []
    for place, question in enumerate(questions):
        for which, answer in enumerate(question["answers"]):
            paged = [p for p in answer[6] if len(described[p[0]]) == _PAGED]
            for (number, page), spans in _read(paged, described, dataset).items():
                if len(pictures) == most:
                    return pictures
                if address := _drawn(page, spans):
                    pictures.append([place, which, number, page.label, address])
    return pictures


def _read(
    pieces: Iterable[Sequence[int]],
    described: Sequence[Sequence[Any]],
    dataset: Dataset,
) -> dict[tuple[int, PagePlace], list[Span]]:
    """What pieces hold of each page, by the place of its document and the page."""
    spans: dict[tuple[int, PagePlace], list[Span]] = {}
    for place, start, end in pieces:
        found = list(_pages(dataset.document(described[place][0]), start, end))
        for page, span in found if len(found) <= _MOST_PAGES else ():
            spans.setdefault((place, page), []).append(span)
    return spans


def _pages(
    document: Document, start: int, end: int
) -> Iterator[tuple[PagePlace, Span]]:
    """The pages that characters of a document are on, and which of theirs they are."""
    ends = [page.start for page in document.pages[1:]] + [len(document.text)]
    for page, last in zip(document.pages, ends, strict=True):
        if start < last and page.start < end:
            yield page, Span(max(start, page.start) - page.start, end - page.start)


def _drawn(page: PagePlace, spans: Sequence[Span]) -> str:
    try:
        data = Path(page.file).read_bytes()
        png = pdf_page_image(data, page.number, spans, width=_WIDTH)
    except (OSError, ValueError, IndexError, MissingDependencyError):
        return ""
    return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"
