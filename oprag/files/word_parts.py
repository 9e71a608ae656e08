"""What mammoth does not read of a Word file, as text that it reads.

Numbers of paragraphs, equations, and text that was moved; what is hidden goes.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

from oprag.files.text import NoTextError
from oprag.files.word_numbers import Numbering, W
from oprag.optional import require

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_NUMBERING = "word/numbering.xml"
_CHANGED = (
    *("word/document.xml", "word/footnotes.xml", "word/endnotes.xml", _NUMBERING),
)
_WRAPPERS = ("moveTo", "customXml", "fldSimple", "dir", "bdo", "ruby", "rubyBase")
"""Elements around text that mammoth passes over with the text."""
_GONE = ("moveFrom", "rt", "rubyPr", "customXmlPr")
_HIDING = ("vanish", "dstrike")
_LARGEST = 1 << 30
"""Bytes of a file when it is unpacked, at most."""


def check_unpacked(data: bytes) -> None:
    """Refuse a packed file that says that it is too large when it is unpacked."""
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        size = sum(entry.file_size for entry in packed.infolist())
    if size > _LARGEST:
        raise NoTextError(f"has {size / 1e9:.0f} GB when it is unpacked; divide it")


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
        hidden = _hidden_styles(styles)
        for entry in old.infolist():
            root = _parse(old, entry.filename) if entry.filename in _CHANGED else None
            if root is None:
                new.writestr(entry, old.read(entry))
                continue
            if entry.filename == _NUMBERING:
                _keep_bullets(root)
            else:
                _complete(root, numbering, hidden)
            etree = require("lxml.etree", extra="cli", purpose="Reading Word files")
            new.writestr(entry.filename, etree.tostring(root, encoding="utf-8"))
    return made.getvalue()


def _parse(packed: zipfile.ZipFile, name: str) -> Any:
    if name not in packed.namelist():
        return None
    etree = require("lxml.etree", extra="cli", purpose="Reading Word files")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    return etree.fromstring(packed.read(name), parser)


def _hidden_styles(styles: Any) -> set[str]:
    found = [] if styles is None else styles.iterchildren(f"{W}style")
    return {style.get(f"{W}styleId") for style in found if _hides(style)}


def _hides(element: Any) -> bool:
    """Tell whether properties of text hide it."""
    properties = element.find(f"{W}rPr")
    for name in _HIDING if properties is not None else ():
        found = properties.find(f"{W}{name}")
        if found is not None and found.get(f"{W}val") not in {"0", "false", "off"}:
            return True
    return False


def _keep_bullets(numbering: Any) -> None:
    """Remove the levels of lists whose numbers are text now."""
    for level in _all_of(numbering, ("lvl",)):
        kind = level.find(f"{W}numFmt")
        if kind is None or kind.get(f"{W}val") != "bullet":
            level.getparent().remove(level)


def _complete(root: Any, numbering: Numbering, hidden: set[str]) -> None:
    for element in _all_of(root, _GONE):
        element.getparent().remove(element)
    for element in _all_of(root, _WRAPPERS):
        _unwrap(element)
    _remove_hidden(root, hidden)
    for element in [*root.iter(f"{_M}oMathPara", f"{_M}oMath")]:
        if not _is_inside_math(element):
            _replace_math(element)
    for paragraph in root.iter(f"{W}p"):
        if number := numbering.take_number(paragraph):
            properties = paragraph.find(f"{W}pPr")
            paragraph.insert(paragraph.index(properties) + 1, _run(root, f"{number} "))


def _remove_hidden(root: Any, styles: set[str]) -> None:
    for run in _all_of(root, ("r",)):
        style = run.find(f"{W}rPr/{W}rStyle")
        if _hides(run) or (style is not None and style.get(f"{W}val") in styles):
            run.getparent().remove(run)


def _all_of(root: Any, names: Sequence[str]) -> list[Any]:
    return [*root.iter(*(f"{W}{name}" for name in names))]


def _unwrap(element: Any) -> None:
    parent = element.getparent()
    at = parent.index(element)
    parent[at : at + 1] = [*element]


def _is_inside_math(element: Any) -> bool:
    return any(each.tag == f"{_M}oMathPara" for each in element.iterancestors())


def _replace_math(element: Any) -> None:
    parent, run = element.getparent(), _run(element, _write_math(element))
    if parent.tag != f"{W}p":  # a run belongs into a paragraph
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


def _write_math(element: Any) -> str:
    """Write an equation in one line: `(a+b)/2`, `x^2`, `√(x)`."""
    kind = element.tag.removeprefix(_M) if isinstance(element.tag, str) else ""
    if kind == "t":
        return (element.text or "").replace("\u2061", " ")  # joins name and argument
    pieces = [(child.tag, _write_math(child)) for child in element]
    write = _WRITERS.get(kind)
    if write is None:
        return "".join(text for _, text in pieces)
    parts: dict[str, str] = {}
    for tag, text in pieces:
        name = str(tag).removeprefix(_M)
        parts[name] = f"{parts[name]}, {text}" if name in parts else text
    found = element.find(f"{_M}naryPr/{_M}chr")
    parts["sign"] = "∫" if found is None else found.get(f"{_M}val") or ""
    return write(lambda name: parts.get(name, ""))


def _write_fraction(part: Callable[[str], str]) -> str:
    return f"{_group(part('num'))}/{_group(part('den'))}"


def _write_script(part: Callable[[str], str]) -> str:
    return part("e") + _write_raised(part)


def _write_root(part: Callable[[str], str]) -> str:
    return f"{part('deg')}√({part('e')})"


def _write_sum(part: Callable[[str], str]) -> str:
    return f"{part('sign')}{_write_raised(part)} {part('e')}"


def _write_brackets(part: Callable[[str], str]) -> str:
    return f"({part('e')})"


_WRITERS = {
    "f": _write_fraction,
    "sSup": _write_script,
    "sSub": _write_script,
    "sSubSup": _write_script,
    "rad": _write_root,
    "nary": _write_sum,
    "d": _write_brackets,
}


def _write_raised(part: Callable[[str], str]) -> str:
    marks = (("_", part("sub")), ("^", part("sup")))
    return "".join(f"{mark}{_group(text)}" for mark, text in marks if text)


def _group(text: str) -> str:
    return text if len(text) == 1 or text.isalnum() else f"({text})"
