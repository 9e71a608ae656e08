"""What a framework makes its own objects of: one result for every passage."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from oprag.chunk import Chunk, Passage, Span, named_characters
from oprag.context.citing import is_kept_back, names_document
from oprag.metadata import (
    CHAR_END,
    CHAR_SPANS,
    CHAR_START,
    CITATION,
    COMMON_KEYS,
    DOC_KEY,
    EXACT,
    OF_ONE_TEXT,
    ORIGINAL,
    PART_INDEX,
    PROBLEM,
    RANK,
    RESULT_KEYS,
    joined_id,
)
from oprag.positions import as_number


@dataclass(slots=True)
class Result:
    """What a framework's object is made of: one for every passage.

    Hundreds may be made for a query: a named tuple takes three times as long.
    """

    objects: Sequence[Any]
    """What was retrieved of it (`Hit.source`), in reading order."""
    best: Any
    """That with the best rank."""
    text: str
    """Its text: of one object that is in it as a whole, that object's."""
    first: Mapping[str, Any]
    """The metadata of the first object."""
    place: Mapping[str, Any]
    """What is written of where it stands; see `place_metadata`."""
    score: float | None = None
    """What it is rescored to; None for no score."""
    slices: Sequence[tuple[int, int]] = ()
    """The spans, where not all of each object is in it."""
    name: str | None = None
    """The document's name, where the metadata alone may not tell."""

    @classmethod
    def of_passage(
        cls,
        passage: Passage,
        *,
        score: float | None = None,
        whole: bool = True,
        named: bool = False,
        problem: str | None = None,
    ) -> Result:
        """Return the result for a passage.

        Args:
            passage: The passage.
            score: See `score`.
            whole: Whether all of each chunk's object is in it.
            named: Whether to write which document it is of: where the metadata alone
                do not tell.
            problem: Why it stands where it was retrieved; None for no problem.
        """
        chunks = passage.chunks
        place = place_metadata(
            passage.rank,
            passage.citation,
            passage.spans,
            part=passage.part,
            exact=passage.exact,
            problem=problem,
        )
        if named:
            place = {DOC_KEY: passage.document, **place}
        return cls(
            [chunk.source for chunk in chunks],
            min(chunks, key=lambda chunk: chunk.rank).source,
            passage.text,
            chunks[0].metadata,
            place,
            score,
            () if whole else passage.spans,
            passage.name,
        )

    @property
    def is_whole(self) -> bool:
        """Whether it is one object, all of it."""
        return len(self.objects) == 1 and not self.slices

    def metadata(
        self, rescore: str | None = None, score: float | None = None
    ) -> dict[str, Any]:
        """Return the metadata of the first object, with the place of the passage.

        Args:
            rescore: Key to write the score to; see `write_score`. None for none.
            score: The score that it takes the place of, if not what stands there.
        """
        metadata = dict(self.first)
        if not self.is_whole:
            # They said something about the text that is replaced.
            for key in OF_ONE_TEXT:
                metadata.pop(key, None)
        if rescore is not None:
            write_score(metadata, rescore, self.score, score)
        put_place(metadata, self.place, self.name)
        return metadata

    def new_id(self, id_of: Callable[[Any], str | None]) -> str | None:
        """Return the id for it, made of those of its objects; None without these.

        A single object that is in it as a whole keeps its id.

        Args:
            id_of: From an object to its id, or None.
        """
        if self.is_whole:
            return id_of(self.objects[0])
        ids: list[Any] = list(map(id_of, self.objects))
        return None if None in ids else joined_id(ids, self.slices)


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
    return follows and names_document(citation, name, metadata)


def written_ranks(
    metadatas: Sequence[Mapping[str, Any]], names: Sequence[str | None] = ()
) -> list[int] | None:
    """Return the rank that each result has in its metadata; None where one has none.

    Args:
        metadatas: Of what was retrieved.
        names: The document's name of each, see `is_placed`; empty for what the metadata
            say.
    """
    # Mostly the first tells.
    if not metadatas or RANK not in metadatas[0]:
        return None
    if not all(map(is_placed, metadatas, names or repeat(None))):
        return None
    return [metadata[RANK] for metadata in metadatas]


def written_problem(metadata: Mapping[str, Any], name: str | None = None) -> str | None:
    """Return the `problem` that oprag wrote; None for none, or one of the user's.

    Ours is the kind of an error that `on_problem="warn"` keeps back. In a result it
    stands behind the citation, where one of the user's stands before.

    Args:
        metadata: Of a result, or of a chunk of `order_context`.
        name: See `is_placed`.
    """
    problem = metadata.get(PROBLEM)
    if not isinstance(problem, str) or not is_kept_back(problem):
        return None
    keys = list(metadata)
    if is_placed(metadata, name) and keys.index(PROBLEM) < keys.index(CITATION):
        return None
    return problem


def put_place(
    metadata: dict[str, Any], place: Mapping[str, Any], name: str | None = None
) -> None:
    """Write where a result stands, behind everything else.

    A place that stood there is replaced. What an application kept under `rank`,
    `citation` or `exact` is kept under `original_<key>`; so are a `problem` where one
    is written, and characters that are not known to be those of the result, or are no
    numbers.

    Args:
        metadata: It is written to.
        place: As `place_metadata` returns it.
        name: See `is_placed`.
    """
    again = RANK in metadata and is_placed(metadata, name)
    told = again and written_problem(metadata, name) is not None
    own = () if again else keys_of_users(metadata)
    for key in (DOC_KEY, *RESULT_KEYS):
        if key not in metadata:  # most are not: asked first, it takes half the time
            continue
        ours = told if key == PROBLEM else again
        stays = key in (DOC_KEY, PART_INDEX) or (key == PROBLEM and not ours)
        if stays and key not in place:
            continue
        before = metadata.pop(key)
        if ours or key == CHAR_SPANS or (key == PROBLEM and before == place[key]):
            continue
        if key in own or key not in place:
            keep_aside(metadata, key, before)
    metadata.update(place)


def keys_of_users(metadata: Mapping[str, Any]) -> Sequence[str]:
    """Return the keys of a place under which an application has its own values.

    Args:
        metadata: Of no result; see `is_placed`.
    """
    keys = [*COMMON_KEYS]
    if DOC_KEY in metadata:  # then a place is oprag's, if a damaged one
        return keys
    start, end = as_number(metadata.get(CHAR_START)), metadata.get(CHAR_END, 0)
    if start is None or as_number(end) is None:
        keys += CHAR_START, CHAR_END
    if as_number(metadata.get(PART_INDEX)) is None:
        keys.append(PART_INDEX)
    return keys


def keep_aside(metadata: dict[str, Any], key: str, value: Any) -> None:
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


def single_passage(chunk: Chunk) -> Passage:
    """A passage of one chunk, as it is."""
    spans = () if chunk.span is None else spans_of(chunk.span, chunk.metadata)
    cited = written_citation(chunk.metadata, chunk.span, chunk.name)
    return Passage(chunk.text, chunk.document, (chunk,), spans, chunk.exact, cited)


def scores_of(count: int, rescored: bool) -> Sequence[float | None]:  # noqa: FBT001 -- as it is named
    """Return scores from 1 downwards, see `Arranged.results`; or None for each."""
    if not rescored:
        return [None] * count
    return [(count - index) / count for index in range(count)]


def write_score(
    metadata: dict[str, Any], key: str, score: float | None, before: Any = None
) -> None:
    """Write a score; what stood there first is kept under `original_<key>`.

    Args:
        metadata: It is written to.
        key: Where to write.
        score: What to write.
        before: The score that it takes the place of, if not what stands there.
    """
    if before is None:
        before = metadata.get(key)
    if before is not None and before != score:
        metadata.setdefault(ORIGINAL + key, before)
    metadata[key] = score
