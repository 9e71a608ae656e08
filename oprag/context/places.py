"""Where a result stands, in its metadata: written, known again, taken off."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any

from oprag.chunk import Span, named_characters, named_part
from oprag.errors import MissingDocumentError, OpragError, PositionError, kind_of
from oprag.metadata import (
    CHAR_END,
    CHAR_SPANS,
    CHAR_START,
    CITATION,
    COMMON_KEYS,
    DOC_KEY,
    EXACT,
    ORIGINAL,
    PART_INDEX,
    PROBLEM,
    RANK,
    RESULT_KEYS,
)
from oprag.positions import as_number, document_name


def place_metadata(
    rank: int,
    citation: str,
    spans: Sequence[tuple[int, int]],
    *,
    part: int | None = None,
    exact: bool = True,
    problem: str | None = None,
) -> dict[str, Any]:
    """Return what every result says of where it stands.

    Args:
        rank: As `Passage.rank`.
        citation: As `Passage.citation`.
        spans: As `Passage.spans`. Empty: the characters are not known.
        part: The part that they are relative to, or None.
        exact: Whether the text is the slice that they span.
        problem: Why it stands where it was retrieved; None for no problem.

    Returns:
        Keys in the order of `RESULT_KEYS`; what is not known is left out.
    """
    place: dict[str, Any] = {RANK: rank, CITATION: citation}
    if problem is not None:
        place[PROBLEM] = problem
    if not spans:
        return place
    if part is not None:
        place[PART_INDEX] = part
    place[CHAR_START], place[CHAR_END] = spans[0][0], spans[-1][1]
    if not exact:
        place[EXACT] = False
    if len(spans) > 1:
        place[CHAR_SPANS] = [[start, end] for start, end in spans]
    return place


_NAMED_PLACE = re.compile(
    r"(?:, )?((?:page|row|record|part) .+?)?(?:(?:, )?chunk [\d.e+-]+)?"
)
"""What `Passage.citation` writes behind a name, where no characters are known."""


def is_placed(metadata: Mapping[str, Any], name: str | None = None) -> bool:
    """Whether metadata are those of a result: the one test of it.

    An application may keep a `rank` and a `citation` of its own. They are ours where
    `rank` is a whole number and `citation` is what oprag writes of this text:

    - beside `char_start`, it ends in these characters;
    - without, it is the name of the document, with the page or chunk behind it if any,
      and follows `rank` directly, as `place_metadata` writes them. (A long unit of
      several documents names each, with its characters.)

    Args:
        metadata: Of anything that was retrieved.
        name: The document's name as it was read; None for what the metadata say.
    """
    rank, citation = metadata.get(RANK), metadata.get(CITATION)
    if type(rank) is not int or rank < 0 or not isinstance(citation, str):
        return False
    if CHAR_START in metadata or CHAR_END in metadata:
        start, end = map(as_number, (metadata.get(CHAR_START), metadata.get(CHAR_END)))
        if start is None or end is None:
            return False
        spans = spans_of(Span(start, end), metadata)
        return citation.endswith(named_characters(spans))
    keys = list(metadata)
    follows = keys.index(CITATION) == keys.index(RANK) + 1
    return follows and _names_document(citation, name, metadata)


def _names_document(
    citation: str, name: str | None, metadata: Mapping[str, Any]
) -> bool:
    """Whether a citation without known characters is one of a document."""
    name = (document_name(metadata) or "") if name is None else name
    first, *others = citation.split(", characters ")
    if others:
        return name.startswith(json.dumps([first], ensure_ascii=False)[:-1] + ", ")
    place = _NAMED_PLACE.fullmatch(citation.removeprefix(name))
    if place is None or not citation.startswith(name):
        return False
    part = place[1] or ""
    number = part.removeprefix("part ")
    return part in ("", named_part(metadata, int(number) if number.isdecimal() else 0))


def written_problem(metadata: Mapping[str, Any], name: str | None = None) -> str | None:
    """Return the `problem` that oprag wrote; None for none, or one of the user's.

    Ours is the kind of an error that `on_problem="warn"` keeps back. In a result it
    stands behind the citation, where one of the user's stands before.

    Args:
        metadata: Of a result, or of a chunk of `order_context`.
        name: See `is_placed`.
    """
    problem = metadata.get(PROBLEM)
    if not isinstance(problem, str) or problem not in _kinds():
        return None
    keys = list(metadata)
    if is_placed(metadata, name) and keys.index(PROBLEM) < keys.index(CITATION):
        return None
    return problem


def _kinds() -> set[str]:
    kept_back: list[type[OpragError]] = [MissingDocumentError, PositionError]
    for kind in kept_back:
        kept_back.extend(kind.__subclasses__())
    return {kind_of(kind) for kind in kept_back}


def with_problem(
    metadata: Mapping[str, Any], problem: str, name: str | None = None
) -> dict[str, Any]:
    """Return a copy with a problem at its end; one of the user's is kept aside."""
    written = dict(metadata)
    if PROBLEM in written:
        ours = is_placed(written, name) and written_problem(written, name)
        before = written.pop(PROBLEM)
        if not ours:
            _keep(written, PROBLEM, before)
    written[PROBLEM] = problem
    return written


def put_place(
    metadata: dict[str, Any], place: Mapping[str, Any], name: str | None = None
) -> None:
    """Write where a result stands, behind everything else.

    A place that stood there is replaced. What an application kept under `rank`,
    `citation` or `exact` is kept under `original_<key>`; so are a `problem` where one
    is written, and characters that are not known to be those of the result.

    Args:
        metadata: It is written to.
        place: As `place_metadata` returns it.
        name: See `is_placed`.
    """
    again = RANK in metadata and is_placed(metadata, name)
    told = again and written_problem(metadata, name) is not None
    for key in (DOC_KEY, *RESULT_KEYS):
        ours = told if key == PROBLEM else again
        stays = key in (DOC_KEY, PART_INDEX) or (key == PROBLEM and not ours)
        if key not in metadata or (stays and key not in place):
            continue
        before = metadata.pop(key)
        if ours or key == CHAR_SPANS or (key == PROBLEM and before == place[key]):
            continue
        if key in COMMON_KEYS or key not in place:
            _keep(metadata, key, before)
    metadata.update(place)


def without_place(
    metadata: Mapping[str, Any], name: str | None = None
) -> dict[str, Any]:
    """Return a copy without what oprag wrote of where a result stands.

    Args:
        metadata: Of a result, or of any chunk.
        name: See `is_placed`.
    """
    own = {*RESULT_KEYS} if RANK in metadata and is_placed(metadata, name) else set()
    own.discard(PROBLEM)
    if PROBLEM in metadata and written_problem(metadata, name) is not None:
        own.add(PROBLEM)
    return {key: value for key, value in metadata.items() if key not in own}


def _keep(metadata: dict[str, Any], key: str, value: Any) -> None:
    """Keep a user's value under a name that is free."""
    while (key := ORIGINAL + key) in metadata:
        pass
    metadata[key] = value


def written_citation(
    metadata: Mapping[str, Any], span: tuple[int, int] | None, name: str | None = None
) -> str | None:
    """Return the citation of a result that stands where it stood; else None."""
    if CITATION not in metadata or not is_placed(metadata, name):
        return None
    stood = metadata.get(CHAR_START), metadata.get(CHAR_END)
    citation: str = metadata[CITATION]
    return citation if stood == (span or (None, None)) else None


def spans_of(whole: Span, metadata: Mapping[str, Any]) -> tuple[Span, ...]:
    """Return the spans of a text with gaps, as its metadata have them.

    Args:
        whole: From the first character to the last.
        metadata: Those of a result, or any.

    Returns:
        The whole where there are no others, or none that can be those of this text.
    """
    written = metadata.get(CHAR_SPANS)
    try:
        spans = tuple([Span(*map(operator.index, pair)) for pair in written or ()])
    except TypeError:
        return (whole,)
    places = [place for span in spans for place in span]
    fits = spans and (places[0], places[-1]) == whole and places == sorted(places)
    return spans if fits else (whole,)
