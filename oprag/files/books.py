"""E-books (EPUB), chapter by chapter, and notebooks of Jupyter, cell by cell."""

from __future__ import annotations

import io
import json
import posixpath
import zipfile
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from oprag.files.bodies import Body, Landmark, damaged, join_pieces, with_headings
from oprag.files.html import shown_text
from oprag.files.text import NoTextError, decode
from oprag.files.word_parts import check_unpacked
from oprag.optional import require
from oprag.splitting import find_sections
from oprag.tokens import encodable

_CONTAINER = "META-INF/container.xml"
_ANY = "{*}"


def read_epub(data: bytes) -> list[Body]:
    """Read an e-book, its chapters in the order in which they are read.

    Raises:
        MissingDependencyError: lxml is not installed.
        NoTextError: It is damaged or locked.
    """
    etree = require("lxml.etree", extra="cli", purpose="Reading e-books")
    try:
        check_unpacked(data)
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            if "META-INF/rights.xml" in packed.namelist():
                raise NoTextError("is an e-book that is locked to its reader")
            return [*_chapters(packed)]
    except (zipfile.BadZipFile, etree.LxmlError, KeyError, OSError) as error:
        raise damaged("an e-book", error) from error


def _chapters(packed: zipfile.ZipFile) -> Iterator[Body]:
    path = _parse(packed, _CONTAINER).find(f".//{_ANY}rootfile").get("full-path")
    package = _parse(packed, path)
    files = {
        item.get("id"): unquote(item.get("href") or "")
        for item in package.iter(f"{_ANY}item")
    }
    number = 0
    for item in package.iter(f"{_ANY}itemref"):
        file = posixpath.normpath(
            posixpath.join(posixpath.dirname(path), files.get(item.get("idref"), ""))
        )
        if item.get("linear") == "no" or file not in packed.namelist():
            continue
        page = encodable(decode(packed.read(file), "utf-8"))
        text = shown_text(page, document=True).body
        if text.strip():
            number += 1
            yield with_headings(text, f"chapter {number}")


def _parse(packed: zipfile.ZipFile, name: str) -> Any:
    etree = require("lxml.etree", extra="cli", purpose="Reading e-books")
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    return etree.fromstring(packed.read(name), parser)


def read_notebook(data: bytes) -> list[Body]:
    """Read a notebook: its texts, its code, and what the code wrote as text.

    Raises:
        NoTextError: It is damaged.
    """
    try:
        cells = json.loads(decode(data))["cells"]
        texts = [_cell_text(cell) for cell in cells]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, NoTextError):
            raise
        raise damaged("a notebook", error) from error
    pieces = [
        (encodable(text), Landmark(0, unit=("cell", number)))
        for number, text in enumerate(texts, 1)
    ]
    body = join_pieces(pieces, "\n\n")
    headings = [Landmark(at, heading=path) for at, path in find_sections(body.text)]
    both = sorted([*headings, *body.landmarks], key=lambda each: each.start)
    return [body._replace(landmarks=tuple(both))]


def _cell_text(cell: Any) -> str:
    text = _source(cell["source"]).strip()
    if cell.get("cell_type") != "code" or not text:
        return text
    written = [_output(each).strip() for each in cell.get("outputs") or ()]
    return "\n".join([f"```\n{text}\n```", *filter(None, written)])


def _output(output: Any) -> str:
    if "text" in output:
        return _source(output["text"])
    if "ename" in output:
        return f"{output['ename']}: {output.get('evalue', '')}"
    return _source((output.get("data") or {}).get("text/plain", ""))


def _source(source: Any) -> str:
    return source if isinstance(source, str) else "".join(source)
