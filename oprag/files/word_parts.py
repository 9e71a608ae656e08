"""Parts of a Word file that mammoth does not read, rewritten as text that it reads.

These are numbers of paragraphs, equations, boxes, fields and moved text, and headings
and raised text by their styles. Hidden and struck text is left out.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from typing import Any

from oprag.files.equations import OFFICE as _M
from oprag.files.equations import write_office_math
from oprag.files.packed_xml import parse_xml
from oprag.files.text import NoTextError
from oprag.files.word_looks import Looks
from oprag.files.word_numbers import Numbering, W
from oprag.optional import require

_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_NUMBERING = "word/numbering.xml"
_MAIN = re.compile(r"word/document\d*\.xml")
_CHANGED = re.compile(r"word/(?:document|footnotes|endnotes|numbering)\d*\.xml")
_OTHER_FILE = re.compile(rb"<w:altChunk[\s/>]")
_WRAPPERS = ("moveTo", "customXml", "fldSimple", "dir", "bdo", "ruby", "rubyBase")
"""Elements around text that mammoth skips together with the text."""
_GONE = ("moveFrom", "rt", "rubyPr", "customXmlPr")
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_VML = "{urn:schemas-microsoft-com:vml}"
_HIDDEN_ROW = f"{W}trPr/{W}hidden"
_WIDEST = 63
"""Columns of a table, at most, as Word has it."""
_LARGEST = 1 << 30
"""Bytes of a file when it is unpacked, at most."""


def check_unpacked(data: bytes) -> None:
    """Refuse a packed file whose declared size when unpacked is too large."""
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        size = sum(entry.file_size for entry in packed.infolist())
    if size > _LARGEST:
        raise NoTextError(f"has {size / 1e9:.0f} GB when it is unpacked; divide it")


def name_unread_parts(data: bytes) -> str:
    """Say that a Word file shows parts that are other files; empty if it does not."""
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        names = filter(_MAIN.fullmatch, packed.namelist())
        count = sum(len(_OTHER_FILE.findall(packed.read(name))) for name in names)
    parts = "a part is" if count == 1 else f"{count} parts are"
    return f"{parts} not read; save it anew in Word" if count else ""


def complete_word(data: bytes) -> bytes:
    """Return a Word file in which everything is text that mammoth reads.

    Raises:
        MissingDependencyError: lxml is not installed.
        NoTextError: It is too large when it is unpacked.
    """
    check_unpacked(data)
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w") as new:
        styles = _parse(old, "word/styles.xml")
        numbering = Numbering(_parse(old, _NUMBERING), styles)
        looks = Looks(styles)
        for entry in old.infolist():
            is_changed = _CHANGED.fullmatch(entry.filename)
            root = _parse(old, entry.filename) if is_changed else None
            if root is None:
                new.writestr(entry, old.read(entry))
                continue
            if entry.filename == _NUMBERING:
                _keep_bullets(root)
            else:
                _complete(root, numbering, looks)
            etree = require("lxml.etree", extra="cli", purpose="Reading Word files")
            new.writestr(entry.filename, etree.tostring(root, encoding="utf-8"))
    return made.getvalue()


def _parse(packed: zipfile.ZipFile, name: str) -> Any:
    if name not in packed.namelist():
        return None
    return parse_xml(packed.read(name), purpose="Reading Word files")


def _keep_bullets(numbering: Any) -> None:
    """Remove the levels of lists whose numbers are text now."""
    for level in _all_of(numbering, ("lvl",)):
        kind = level.find(f"{W}numFmt")
        if kind is None or kind.get(f"{W}val") != "bullet":
            level.getparent().remove(level)


def _complete(root: Any, numbering: Numbering, looks: Looks) -> None:
    for element in _all_of(root, _GONE):
        element.getparent().remove(element)
    _complete_rows(root)
    for element in [*root.iter(f"{_MC}AlternateContent", f"{W}drawing")]:
        _replace_drawing(element)
    for element in _all_of(root, _WRAPPERS):
        _unwrap(element)
    for run in _all_of(root, ("r",)):
        _complete_run(run, looks)
    for element in [*root.iter(f"{_M}oMathPara", f"{_M}oMath")]:
        _replace_math(element)
    for paragraph in _all_of(root, ("p",)):
        if looks.hides_mark(paragraph) and not _holds_text(paragraph):
            paragraph.getparent().remove(paragraph)
        else:
            _complete_paragraph(paragraph, numbering, looks)


def _complete_rows(root: Any) -> None:
    for row in _all_of(root, ("tr",)):
        if row.find(_HIDDEN_ROW) is not None:
            row.getparent().remove(row)
        else:
            _fill_before(row)


def _fill_before(row: Any) -> None:
    """Add the cells that a row leaves out before its first one."""
    left_out = row.find(f"{W}trPr/{W}gridBefore")
    count = "0" if left_out is None else left_out.get(f"{W}val") or "0"
    first = next(row.iterchildren(f"{W}tc"), None)
    if first is None or not count.isdecimal():
        return
    for _ in range(min(int(count), _WIDEST)):
        cell = row.makeelement(f"{W}tc")
        cell.append(row.makeelement(f"{W}p"))
        first.addprevious(cell)


def _holds_text(paragraph: Any) -> bool:
    return next(paragraph.iter(f"{W}t", f"{W}drawing", f"{W}pict"), None) is not None


def _complete_run(run: Any, looks: Looks) -> None:
    if looks.hides(run):
        run.getparent().remove(run)
        return
    raised = looks.raises(run)
    properties = run.find(f"{W}rPr")
    if raised and (properties is None or properties.find(f"{W}vertAlign") is None):
        if properties is None:
            properties = run.makeelement(f"{W}rPr")
            run.insert(0, properties)
        properties.append(run.makeelement(f"{W}vertAlign", {f"{W}val": raised}))
    for element in [*run.iterchildren(f"{W}cr", f"{W}br", f"{W}ptab")]:
        name = "tab" if element.tag == f"{W}ptab" else "br"
        run.replace(element, run.makeelement(f"{W}{name}"))
    for choices in [*run.iter(f"{W}ddList")]:
        _write_choice(run, choices)


def _write_choice(run: Any, choices: Any) -> None:
    """Write the chosen entry of a field before it."""
    entries = [each.get(f"{W}val") or "" for each in choices.iter(f"{W}listEntry")]
    result = choices.find(f"{W}result")
    number = "0" if result is None else result.get(f"{W}val") or "0"
    if number.isdecimal() and int(number) < len(entries):
        run.addprevious(_run(run, entries[int(number)]))


def _complete_paragraph(paragraph: Any, numbering: Numbering, looks: Looks) -> None:
    number = numbering.take_number(paragraph)
    level = looks.heading_of(paragraph)
    properties = paragraph.find(f"{W}pPr")
    if number:
        paragraph.insert(paragraph.index(properties) + 1, _run(paragraph, f"{number} "))
    if level is None:
        return
    style = properties.find(f"{W}pStyle")
    if style is None:
        style = properties.makeelement(f"{W}pStyle")
        properties.insert(0, style)
    style.set(f"{W}val", f"Heading{level}")


def _replace_drawing(element: Any) -> None:
    """Put the boxes of text in a drawing into one that mammoth reads."""
    if next(element.iterancestors(f"{_MC}AlternateContent"), None) is not None:
        return
    chosen = element.find(f"{_MC}Choice")
    boxes = [*(element if chosen is None else chosen).iter(f"{W}txbxContent")]
    outer = [box for box in boxes if not _is_in(box, boxes)]
    if not outer:
        return
    picture = element.makeelement(f"{W}pict")
    for box in outer:
        inner = picture.makeelement(f"{_VML}textbox")
        inner.append(box)
        picture.append(inner)
    element.getparent().replace(element, picture)


def _is_in(element: Any, others: Sequence[Any]) -> bool:
    return any(outer in others for outer in element.iterancestors())


def _all_of(root: Any, names: Sequence[str]) -> list[Any]:
    return [*root.iter(*(f"{W}{name}" for name in names))]


def _unwrap(element: Any) -> None:
    parent = element.getparent()
    at = parent.index(element)
    parent[at : at + 1] = [*element]


def _replace_math(element: Any) -> None:
    if any(each.tag == f"{_M}oMathPara" for each in element.iterancestors()):
        return
    parent, run = element.getparent(), _run(element, write_office_math(element))
    if parent.tag != f"{W}p":  # a run belongs in a paragraph
        paragraph = element.makeelement(f"{W}p")
        paragraph.append(run)
        run = paragraph
    parent.replace(element, run)


def _run(near: Any, text: str) -> Any:
    run = near.makeelement(f"{W}r")
    inner = near.makeelement(f"{W}t", {_SPACE: "preserve"})
    inner.text = text
    run.append(inner)
    return run
