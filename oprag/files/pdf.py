"""The text of a PDF, page by page, and the place of each character on its page."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from oprag.files.pdf_text import flatten_values, read_page_text
from oprag.files.pdfium import import_pdfium
from oprag.files.text import NoTextError

ALONE = threading.Lock()
"""Held during every call of PDFium: it can do one thing at a time, whatever documents
the threads read."""


_NAMED_PAGES = 20
"""Pages of one fault that are named, at most."""
_NO_LETTER = re.compile("[\0-\b\x0e-\x1f\x7f-\x9f\ufffd\ue000-\uf8ff]")
_MAX_UNKNOWN_SHARE = 0.2
"""Of 1,050 public PDFs, pages above it were read as noise, but for one of formulas."""


class PdfPage(NamedTuple):
    """A page that holds text."""

    text: str
    number: int
    """Counted from 0, pages without text included."""
    label: str
    """As it is printed: `iv`, `12`."""
    of: int = 1
    """Pages of its document, those without text included."""


class OpenPage(NamedTuple):
    """A page while its document is open."""

    page: Any
    """PDFium's page."""
    characters: Any
    """PDFium's characters of it."""
    text: str
    indices: Sequence[int]
    """For each character of the text, its number among those of the page."""


def pdf_pages(data: bytes) -> list[PdfPage]:
    """Read the pages that hold text, in their order.

    See `read_page_text` for the changes to the text that PDFium gives.

    Raises:
        MissingDependencyError: pypdfium2 is not installed.
        NoTextError: It is damaged or locked, or none of its pages holds text.
    """
    pages = []
    with open_pdf(data) as document:
        with ALONE:
            count = len(document)
        for number in range(count):
            with open_page(document, number) as opened:
                label = document.get_page_label(number) or str(number + 1)
                if opened.text.strip():
                    pages.append(PdfPage(opened.text, number, label, count))
    if not pages:
        message = "is a PDF without text; scanned pages need text recognition"
        raise NoTextError(message, "binary")
    return pages


def name_unread_pages(pages: Sequence[PdfPage]) -> str:
    """Say which pages hold no text, or text of unknown letters; empty if none does.

    Args:
        pages: Those of a document that hold text.
    """
    count = pages[0].of
    blank = sorted({*range(count)} - {page.number for page in pages})
    unknown = [page.number for page in pages if _has_unknown_letters(page.text)]
    faults = ((blank, "no text"), (unknown, "letters that their fonts do not name"))
    sentences = []
    of_pages = "of 1 page" if count == 1 else f"of {count} pages"
    for numbers, fault in faults:
        if numbers:
            holds = "holds" if len(numbers) == 1 else "hold"
            shown = ", ".join(str(number + 1) for number in numbers[:_NAMED_PAGES])
            more = ", …" if len(numbers) > _NAMED_PAGES else ""
            sentences.append(
                f"{len(numbers)} {of_pages} {holds} {fault} ({shown}{more})"
            )
    if not sentences:
        return ""
    remedy = "scanned pages need text recognition"
    return "; ".join(
        [*sentences, "text recognition can read them" if unknown else remedy]
    )


def _has_unknown_letters(text: str) -> bool:
    """Return whether a page reads as noise, since its font gives codes for letters."""
    return len(_NO_LETTER.findall(text)) > _MAX_UNKNOWN_SHARE * len(
        "".join(text.split())
    )


@contextmanager
def open_pdf(data: bytes) -> Iterator[Any]:
    """Open a PDF, and close it at the end.

    Raises:
        MissingDependencyError: pypdfium2 is not installed.
        NoTextError: It is damaged or locked, even if this is seen only later.
    """
    library = import_pdfium()
    try:
        with ALONE:
            document = library.PdfDocument(data)
            document.init_forms()  # else filled-in values are not shown
        try:
            yield document
        finally:
            with ALONE:
                document.close()
    except library.PdfiumError as error:
        if error.err_code == library.raw.FPDF_ERR_PASSWORD:
            message = "is locked by a password; save it without one"
        elif error.err_code == library.raw.FPDF_ERR_SECURITY:
            message = "is encrypted and cannot be opened here"
        else:
            message = f"is a damaged PDF ({error})"
        raise NoTextError(message) from error


@contextmanager
def open_page(document: Any, number: int) -> Iterator[OpenPage]:
    """Open a page with its text, and close it at the end.

    Until then other threads wait with their PDFs.

    Raises:
        IndexError: There is no such page.
    """
    with ALONE:
        if not 0 <= number < len(document):
            message = f"There is no page {number}: the PDF has {len(document)}."
            raise IndexError(message)
        page = document[number]
        try:
            filled = flatten_values(page)
            if filled.before is not None:  # PDFium shows them when it is opened anew
                page.close()
                page = document[number]
            characters = page.get_textpage()
            yield OpenPage(page, characters, *read_page_text(page, characters, filled))
        finally:
            page.close()
