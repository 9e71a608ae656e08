"""Files of users as texts, with the landmarks that name their places.

Also our own files, written so that a kill leaves them whole. The libraries that a
format needs are imported only when a file of this format is read.
"""

from oprag.files.bodies import Landmark, landmarks_of
from oprag.files.html import Shown, shown_text
from oprag.files.pdf_places import pdf_page_image
from oprag.files.reader import (
    HTML_ENDINGS,
    READ_BY_FORMAT,
    FilesRead,
    FileText,
    files_in,
    joined,
    one_line,
    read_file,
    read_files,
    unreadable,
)
from oprag.files.safe_files import write_whole

__all__ = [
    "HTML_ENDINGS",
    "READ_BY_FORMAT",
    "FileText",
    "FilesRead",
    "Landmark",
    "Shown",
    "files_in",
    "joined",
    "landmarks_of",
    "one_line",
    "pdf_page_image",
    "read_file",
    "read_files",
    "shown_text",
    "unreadable",
    "write_whole",
]
