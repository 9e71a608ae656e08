"""The text of a Word file."""

from __future__ import annotations

import io
import re
import sys
import zlib
from xml.parsers.expat import ExpatError
from zipfile import BadZipFile

from oprag.files.bodies import Body, damaged, with_headings
from oprag.files.html import shown_text
from oprag.files.text import NoTextError
from oprag.files.word_parts import complete_word, name_unread_parts
from oprag.optional import require
from oprag.tokens import encodable

_STYLES = "p[style-name='Title'] => h1:fresh"
"""The one style that mammoth does not know; it knows the headings."""
_BACK = re.compile(r' ?<a href="#(?:foot|end)note-ref-\d+">↑</a>')
"""The link of a note back to the text."""
_COMPLAINTS = (
    *(BadZipFile, ExpatError, zlib.error, OSError, EOFError, ValueError, LookupError),
    *(RuntimeError, AttributeError, TypeError),
    getattr(sys.modules.get("lzma"), "LZMAError", OSError),  # some Pythons lack it
)
"""Errors of mammoth and the standard library for damaged and for locked files."""


def _complaints() -> tuple[type[BaseException], ...]:
    etree = require("lxml.etree", extra="cli", purpose="Reading Word files")
    return (*_COMPLAINTS, etree.LxmlError)


def read_word(data: bytes) -> Body:
    """Read the text of a Word file (.docx).

    Headings are as in Markdown, a table has a line for each row, paragraphs and
    clauses have their numbers, equations are in one line, notes follow the text.
    Deleted, struck and hidden text, comments, and text that is repeated on each page
    are left out.

    Raises:
        MissingDependencyError: mammoth or lxml is not installed.
        NoTextError: It is damaged, or locked, or none of its parts with text is read.
    """
    mammoth = require("mammoth", extra="cli", purpose="Reading Word files")
    # A picture would become characters, millions of them.
    no_picture = mammoth.images.img_element(lambda _: {"src": ""})
    try:
        page = mammoth.convert_to_html(
            io.BytesIO(complete_word(data)), style_map=_STYLES, convert_image=no_picture
        ).value
    except NoTextError:
        raise
    except _complaints() as error:
        raise damaged("a Word file") from error
    # A table in Word holds data; on a page this is not certain.
    page = page.replace("<table>", '<table role="table">')
    page = _BACK.sub("", page)
    shown = shown_text(encodable(page), document=True)
    notice = name_unread_parts(data)
    if notice and not shown.body:
        raise NoTextError(f"holds no text: {notice}")
    return with_headings(shown.body, shown.headings, notice=notice)
