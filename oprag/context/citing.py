"""What tells a citation and a problem that oprag wrote from an application's own."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from oprag.chunk import UNKNOWN_DOCUMENT, named_part
from oprag.errors import MissingDocumentError, OpragError, PositionError, kind_of
from oprag.positions import document_name

_NAMED_PLACE = re.compile(
    r"(?:, )?((?:page|row|record|part) .+?)?(?:(?:, )?chunk [\d.e+-]+)?"
)
"""What `Passage.citation` writes behind a name, where no characters are known."""


def names_document(
    citation: str, name: str | None, metadata: Mapping[str, Any]
) -> bool:
    """Whether a citation without known characters is one of a document."""
    name = (document_name(metadata) or "") if name is None else name
    if citation == UNKNOWN_DOCUMENT:
        return not name
    first, *others = citation.split(", characters ")
    if others:
        return name.startswith(json.dumps([first], ensure_ascii=False)[:-1] + ", ")
    place = _NAMED_PLACE.fullmatch(citation.removeprefix(name))
    if place is None or not citation.startswith(name):
        return False
    part = place[1] or ""
    number = part.removeprefix("part ")
    return part in ("", named_part(metadata, int(number) if number.isdecimal() else 0))


def is_kept_back(kind: str) -> bool:
    """Whether it names a kind of error that `on_problem="warn"` does not raise."""
    kept_back: list[type[OpragError]] = [MissingDocumentError, PositionError]
    for each in kept_back:
        kept_back.extend(each.__subclasses__())
    return kind in map(kind_of, kept_back)
