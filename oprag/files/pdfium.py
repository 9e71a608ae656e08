"""PDFium, the library that reads and draws PDFs."""

from __future__ import annotations

from functools import lru_cache
from types import ModuleType
from typing import Any

from oprag.optional import require


def import_pdfium() -> ModuleType:
    """Import the library.

    Raises:
        MissingDependencyError: It is not installed.
    """
    return require("pypdfium2", extra="cli", purpose="Reading PDF files")


@lru_cache(maxsize=1)
def import_raw_pdfium() -> Any:
    """Import its C functions, without types.

    Raises:
        MissingDependencyError: It is not installed.
    """
    return import_pdfium().raw
