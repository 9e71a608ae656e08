"""The text of a PDF, page by page, and where each character of it is on its page."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any, NamedTuple

from oprag.files.text import NoTextError
from oprag.optional import require
from oprag.tokens import encodable

ALONE = threading.Lock()
"""Held during every call of PDFium: it can do one thing at a time, whatever documents
the threads read."""

_HYPHEN = 0x02
"""PDFium's code for a hyphen at the end of a line, whose line break it leaves
out."""
_CARRIAGE_RETURN = 0x0D
_HIGH, _LOW = 0xD800, 0xDC00
"""The first codes of the two halves of a surrogate pair."""


class PdfPage(NamedTuple):
    """A page that holds text."""

    text: str
    number: int
    """Counted from 0, pages without text included."""
    label: str
    """As it is printed: `iv`, `12`."""


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

    Lines end with a line break, those that a hyphen ends too. What PDFium knows of a
    page decides the rest: the order of columns and notes, blanks, ligatures as letters.

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
                    pages.append(PdfPage(opened.text, number, label))
    if not pages:
        message = "is a PDF without text; scanned pages need text recognition"
        raise NoTextError(message, "binary")
    return pages


def pdfium() -> ModuleType:
    """Import the library that reads PDFs.

    Raises:
        MissingDependencyError: It is not installed.
    """
    return require("pypdfium2", extra="cli", purpose="Reading PDF files")


@contextmanager
def open_pdf(data: bytes) -> Iterator[Any]:
    """Open a PDF, and close it at the end.

    Raises:
        MissingDependencyError: pypdfium2 is not installed.
        NoTextError: It is damaged or locked; also where this is seen only later.
    """
    library = pdfium()
    try:
        with ALONE:
            document = library.PdfDocument(data)
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
            characters = page.get_textpage()
            yield OpenPage(page, characters, *_text(characters))
        finally:
            page.close()


def _text(characters: Any) -> tuple[str, list[int]]:
    """The text of a page, and for each character its number on the page."""
    raw = pdfium().raw
    codes: list[int] = []
    indices: list[int] = []
    for index in range(characters.count_chars()):
        code = raw.FPDFText_GetUnicode(characters, index)
        if code == _CARRIAGE_RETURN:
            continue
        if _LOW <= code < _LOW + 0x400 and codes and _HIGH <= codes[-1] < _LOW:
            codes[-1] = 0x10000 + ((codes[-1] - _HIGH) << 10) + code - _LOW
            continue
        found = (ord("-"), ord("\n")) if code == _HYPHEN else (code or 0xFFFD,)
        codes += found
        indices += [index] * len(found)
    # What no index can store: damaged fonts yield NUL and half characters.
    return encodable("".join(map(chr, codes))), indices
