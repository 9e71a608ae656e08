"""The text of a PDF, page by page."""

from __future__ import annotations

import io
import logging
import zlib
from typing import NamedTuple

from pypdf import PdfReader
from pypdf.errors import DependencyError, FileNotDecryptedError, PyPdfError

from oprag.cli.text_files import NoTextError
from oprag.tokens import encodable

_DAMAGE = (
    PyPdfError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
    zlib.error,
)
"""What the library raises for damaged files: its own errors, and Python's."""


class PdfPage(NamedTuple):
    """A page that holds text."""

    text: str
    number: int
    """Counted from 0, pages without text included."""
    label: str
    """As it is printed: `iv`, `12`."""


def pdf_pages(data: bytes) -> list[PdfPage]:
    """Read the pages that hold text, in their order.

    Args:
        data: The file.

    Raises:
        NoTextError: It is damaged or locked, or none of its pages holds text.
    """
    # What it logs about the inside of a file helps nobody who asks for its text.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(io.BytesIO(data))
        labels = reader.page_labels
        texts = [_clean(page.extract_text()) for page in reader.pages]
    except FileNotDecryptedError as error:
        raise NoTextError("is locked by a password; save it without one") from error
    except DependencyError as error:
        raise NoTextError(
            f"is encrypted and cannot be opened here ({error})"
        ) from error
    except _DAMAGE as error:
        raise NoTextError(f"is a damaged PDF ({error})") from error
    pages = [
        PdfPage(text, number, labels[number])
        for number, text in enumerate(texts)
        if text.strip()
    ]
    if not pages:
        raise NoTextError("is a PDF without text; scanned pages need text recognition")
    return pages


def _clean(text: str) -> str:
    """Without what no index can store: damaged fonts yield NUL and half characters."""
    return encodable(text).replace("\0", "\ufffd")
