"""Names of documents as readers know them, and the one document that a name means."""

from __future__ import annotations

import re
from collections.abc import Mapping

from oprag.citations import as_line, disambiguate_names
from oprag.errors import DocumentNotFoundError, did_you_mean

_BETWEEN = re.compile(r"[/\\]+")
_COMPARED = 1_000
"""Names that are compared with a wrong one."""
_LISTED = 5


def name_for_readers(called: Mapping[str, str], folder: str = "") -> dict[str, str]:
    """Return the names of documents for readers, by the documents' own names.

    A name for readers is the path relative to the folder, or else the one in citations.
    """
    inside = re.compile(rf"\A{re.escape(folder)}[/\\]+" if folder else r"(?!)")
    paths = {name: inside.sub("", each, count=1) for name, each in called.items()}
    shown = disambiguate_names(paths.items())
    return {name: shown[name, path] for name, path in paths.items()}


def find_meant(name: str, shown: Mapping[str, str]) -> str:
    """Return the document that a reader means, by its own name.

    Raises:
        DocumentNotFoundError: There is none, or several may be meant.
    """
    parts = _BETWEEN.split(name)
    paths = {own: _BETWEEN.split(each) for own, each in shown.items()}
    found = [own for own, each in shown.items() if each == name]
    found = found or [
        own for own, path in paths.items() if path[-len(parts) :] == parts
    ]
    if len(found) == 1 and name:
        return found[0]
    name = as_line(name)
    if found and name:
        several = ", ".join(shown[own] for own in found[:_LISTED])
        known = f"Several end so: {several}. "
    else:
        ends = [path[-1] for path in paths.values()]
        near = [*shown.values()][:_COMPARED] + ends[:_COMPARED]
        known = did_you_mean(name, near)
    message = (
        f"There is no document {name!r}. {known}The tool `documents` lists their names."
    )
    raise DocumentNotFoundError(message, document=name)
