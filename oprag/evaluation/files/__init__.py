"""The reader of a user's files: text in its encoding, HTML as it is shown, PDF pages.

The command line reads with it as well. Nothing is imported that a format needs until
a file of this format is read.
"""

from oprag.evaluation.files.html import Shown, shown_text
from oprag.evaluation.files.pdf_places import (
    PdfRectangle,
    highlight_pdf,
    pdf_page_image,
    pdf_places,
)
from oprag.evaluation.files.reading import (
    HTML_ENDINGS,
    FilesRead,
    FileText,
    PagePlace,
    files_in,
    joined,
    page_places,
    read_file,
    read_files,
    unreadable,
)

__all__ = [
    "HTML_ENDINGS",
    "FileText",
    "FilesRead",
    "PagePlace",
    "PdfRectangle",
    "Shown",
    "files_in",
    "highlight_pdf",
    "joined",
    "page_places",
    "pdf_page_image",
    "pdf_places",
    "read_file",
    "read_files",
    "shown_text",
    "unreadable",
]
