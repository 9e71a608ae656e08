"""E-books (EPUB), chapter by chapter, and notebooks of Jupyter, cell by cell."""

from __future__ import annotations

import io
import json
import posixpath
import re
import zipfile
import zlib
from typing import Any
from urllib.parse import unquote

from oprag.files.bodies import Body, Landmark, damaged, join_pieces, with_headings
from oprag.files.html import decode_page, shown_text
from oprag.files.packed_xml import parse_xml
from oprag.files.text import NoTextError, decode
from oprag.files.word_parts import check_unpacked
from oprag.optional import require
from oprag.splitting import find_sections
from oprag.tokens import encodable

_CONTAINER = "META-INF/container.xml"
_ANY = "{*}"
_DATA = re.compile(r"data:[\w/+.-]+;base64,[A-Za-z\d+/=]+")
"""A picture, written into a text."""
_COMPLAINTS = (
    *(zipfile.BadZipFile, zlib.error, LookupError, OSError, EOFError, ValueError),
    *(RuntimeError, AttributeError, TypeError),
)
"""Errors of the standard library for damaged e-books."""
_NOTES = ("markdown", "heading")
"""Kinds of cells whose text is Markdown."""
_TICKS = re.compile("`{3,}")
_COLOUR = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
_OVERWRITTEN = re.compile(r"[^\n]*\r(?=[^\r\n])")
_STANDS_IN = re.compile(r"(?:<[\w.]+(?: object)?(?: at 0x\w+)?>)?")
"""No text, or only the name of what was shown: `<IPython.core.display.HTML object>`."""


def read_epub(data: bytes) -> list[Body]:
    """Read an e-book, its chapters in the order in which they are read.

    Those beside this order, such as answers to questions, come last.

    Raises:
        MissingDependencyError: lxml is not installed.
        NoTextError: It is damaged or locked.
    """
    etree = require("lxml.etree", extra="cli", purpose="Reading e-books")
    try:
        check_unpacked(data)
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            return _chapters(packed)
    except NoTextError:
        raise
    except (*_COMPLAINTS, etree.LxmlError) as error:
        raise damaged("an e-book") from error


def _chapters(packed: zipfile.ZipFile) -> list[Body]:
    if "META-INF/rights.xml" in packed.namelist():
        raise NoTextError("is an e-book that is locked to its reader")
    path = _parse(packed, _CONTAINER).find(f".//{_ANY}rootfile").get("full-path")
    package = _parse(packed, path)
    files = {
        item.get("id"): unquote(item.get("href") or "")
        for item in package.iter(f"{_ANY}item")
    }
    bodies: list[Body] = []
    refused = 0
    chapters = package.iter(f"{_ANY}itemref")
    for item in sorted(chapters, key=lambda each: each.get("linear") == "no"):
        file = posixpath.normpath(
            posixpath.join(posixpath.dirname(path), files.get(item.get("idref"), ""))
        )
        try:
            shown = shown_text(decode_page(packed.read(file)), document=True)
        except (NoTextError, KeyError):  # KeyError: there is no such file
            refused += 1
            continue
        if shown.body:
            name = f"chapter {len(bodies) + 1}"
            bodies.append(with_headings(shown.body, shown.headings, name=name))
    if refused and bodies:
        are = "is" if refused == 1 else "are"
        count = f"{refused} of {len(bodies) + refused} chapters"
        notice = f"{count} {are} damaged or missing"
        bodies[0] = bodies[0]._replace(notice=notice)
    return bodies


def _parse(packed: zipfile.ZipFile, name: str) -> Any:
    return parse_xml(packed.read(name), purpose="Reading e-books")


def read_notebook(data: bytes) -> list[Body]:
    """Read a notebook: its texts, its code, and the code's output as text.

    Raises:
        NoTextError: It is damaged.
    """
    try:
        read = json.loads(decode(data))
        sheets = read.get("worksheets") or [read]  # before the fourth format
        cells = [cell for sheet in sheets for cell in sheet["cells"]]
        texts = [encodable(_cell_text(cell)) for cell in cells]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, NoTextError):
            raise
        raise NoTextError("is a notebook that is damaged; save it anew") from error
    pieces = [
        (text, Landmark(0, unit=("cell", number)))
        for number, text in enumerate(texts, 1)
    ]
    body = join_pieces(pieces, "\n\n")
    # Code and its output are no Markdown: blanks stand for them.
    notes = [
        text if cell.get("cell_type") in _NOTES else " " * len(text)
        for cell, text in zip(cells, texts, strict=True)
    ]
    sections = find_sections("\n\n".join(filter(None, notes)))
    headings = [Landmark(at, heading=path) for at, path in sections]
    both = sorted([*headings, *body.landmarks], key=lambda each: each.start)
    return [body._replace(landmarks=tuple(both))]


def _cell_text(cell: Any) -> str:
    source = cell["input"] if "input" in cell else cell["source"]
    text = _DATA.sub("", _source(source)).strip()
    if cell.get("cell_type") == "heading":
        return f"{'#' * int(cell.get('level', 1))} {text}"
    if cell.get("cell_type") != "code" or not text:
        return text
    written = [_output(each).strip() for each in cell.get("outputs") or ()]
    longest = max(map(len, _TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return "\n".join([f"{fence}\n{text}\n{fence}", *filter(None, written)])


def _output(output: Any) -> str:
    """Return the text of an output; of a progress bar, its last state."""
    if "ename" in output:
        return f"{output['ename']}: {output.get('evalue', '')}"
    data = output.get("data") or {}
    plain = _source(output["text"] if "text" in output else data.get("text/plain", ""))
    text = plain
    if _STANDS_IN.fullmatch(plain.strip()):
        text = _source(data.get("text/markdown") or data.get("text/latex", ""))
    page = _source(data.get("text/html", ""))
    if page and _STANDS_IN.fullmatch(text.strip()):
        text = shown_text(encodable(page), document=True).body
    text = _COLOUR.sub("", text if text.strip() else plain)
    return _OVERWRITTEN.sub("", text).replace("\r", "")


def _source(source: Any) -> str:
    return source if isinstance(source, str) else "".join(source)
