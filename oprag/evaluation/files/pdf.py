"""The text of a PDF, page by page."""

from __future__ import annotations

import io
import logging
import zlib
from typing import NamedTuple

from oprag.evaluation.files.text import NotADocumentError, NoTextError
from oprag.optional import require
from oprag.tokens import encodable

_DAMAGE = (
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
"""What the library raises for damaged files, beside its own errors."""


class PdfPage(NamedTuple):
    """A page that holds text."""

    text: str
    number: int
    """Counted from 0, pages without text included."""
    label: str
    """As it is printed: `iv`, `12`."""


def pdf_pages(data: bytes) -> list[PdfPage]:
    """Read the pages that hold text, in their order.

    Raises:
        MissingDependencyError: pypdf is not installed.
        NoTextError: It is damaged or locked, or none of its pages holds text.
    """
    pypdf = require("pypdf", extra="cli", purpose="Reading PDF files")
    errors = require("pypdf.errors", extra="cli", purpose="Reading PDF files")
    # What it logs about the inside of a file helps nobody who asks for its text.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        labels = reader.page_labels
        # What no index can store: damaged fonts yield NUL and half characters.
        found = (encodable(page.extract_text()) for page in reader.pages)
        texts = [text.replace("\0", "\ufffd") for text in found]
    except errors.FileNotDecryptedError as error:
        raise NoTextError("is locked by a password; save it without one") from error
    except errors.DependencyError as error:
        message = f"is encrypted and cannot be opened here ({error})"
        raise NoTextError(message) from error
    except (errors.PyPdfError, *_DAMAGE) as error:
        raise NoTextError(f"is a damaged PDF ({error})") from error
    pages = [
        PdfPage(text, number, labels[number])
        for number, text in enumerate(texts)
        if text.strip()
    ]
    if not pages:
        raise NotADocumentError(
            "is a PDF without text; scanned pages need text recognition"
        )
    return pages
