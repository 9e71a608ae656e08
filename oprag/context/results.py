"""What a framework makes its own objects of: one result for every passage."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from oprag.chunk import Chunk, Passage, Span
from oprag.metadata import (
    CITATION,
    DOCUMENT,
    END,
    EXACT,
    HASH,
    IDS,
    KEY,
    OF_ONE_CHUNK,
    PART,
    PROBLEM,
    RANK,
    SPANS,
    START,
    joined_id,
    result_hash,
    without_reserved_keys,
)
from oprag.positions import is_unchanged, read_spans


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
    metadatas: Sequence[Mapping[str, Any]]
    """The metadata of each object."""
    place: dict[str, Any]
    """Its place; see `place_metadata`."""
    slices: Sequence[tuple[int, int]] = ()
    """The spans, where not all of each object is in it."""

    @classmethod
    def of_passage(
        cls, passage: Passage, *, whole: bool = True, problem: str | None = None
    ) -> Result:
        """Return the result for a passage.

        Args:
            passage: The passage.
            whole: Whether all of each chunk's object is in it.
            problem: Why it stands where it was retrieved; None for no problem.
        """
        chunks = passage.chunks
        best = chunks[0] if len(chunks) == 1 else min(chunks, key=attrgetter("rank"))
        return cls(
            [chunk.source for chunk in chunks],
            best.source,
            passage.text,
            [chunk.metadata for chunk in chunks],
            place_metadata(
                passage.text,
                rank=best.rank,
                citation=passage.citation,
                document=passage.name,
                key=passage.document,
                part=passage.part,
                spans=passage.spans,
                exact=passage.exact,
                problem=problem,
            ),
            () if whole else passage.spans,
        )

    @property
    def is_whole(self) -> bool:
        """Whether it is one object, all of it."""
        return len(self.objects) == 1 and not self.slices

    def metadata(self, id_of: Callable[[Any], str | None]) -> dict[str, Any]:
        """Return the metadata of the first object, with the place of the passage.

        Of another text than that of one whole object, they lack what described that
        object alone.

        Args:
            id_of: From an object to its id, or None.
        """
        first = self.metadatas[0]
        metadata = without_reserved_keys(first) if HASH in first else dict(first)
        if not self.is_whole:
            for key in OF_ONE_CHUNK.intersection(metadata):
                del metadata[key]
        metadata.update(self.place)
        if ids := self._ids(id_of):
            metadata[IDS] = ids
        return metadata

    def _ids(self, id_of: Callable[[Any], str | None]) -> str:
        """The ids of the chunks in it, each once."""
        if len(self.objects) == 1 and HASH not in self.metadatas[0]:
            return id_of(self.objects[0]) or ""
        ids = [
            metadata.get(IDS) if HASH in metadata else id_of(each)
            for metadata, each in zip(self.metadatas, self.objects, strict=True)
        ]
        listed = "\n".join([each for each in ids if each]).split("\n")
        return "\n".join(dict.fromkeys(listed))

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
    text: str,
    *,
    rank: int,
    citation: str,
    document: str,
    key: str,
    part: int | None = None,
    spans: Sequence[tuple[int, int]] = (),
    exact: bool = True,
    problem: str | None = None,
) -> dict[str, Any]:
    """Return the reserved keys of a result, but for its ids.

    Args:
        text: The text of the result.
        rank: As `Passage.rank`.
        citation: As `Passage.citation`.
        document: The document's name.
        key: Its key.
        part: The part that the characters are relative to, or None.
        spans: As `Passage.spans`. Empty: the characters are not known.
        exact: Whether the text is the slice that they span.
        problem: Why it stands where it was retrieved; None for no problem.

    Returns:
        Strings, integers and booleans; what is not known is left out.
    """
    place: dict[str, Any] = {
        RANK: rank,
        CITATION: citation,
        DOCUMENT: document,
        KEY: key,
    }
    if part is not None:
        place[PART] = part
    if spans:
        place[START], end = spans[0][0], spans[-1][1]
        if end > place[START]:
            place[END] = end
    if len(spans) > 1:
        place[SPANS] = ",".join([f"{start}-{end}" for start, end in spans])
    place[EXACT] = exact
    if problem is not None:
        place[PROBLEM] = problem
    place[HASH] = result_hash(text)
    return place


def single_passage(chunk: Chunk) -> Passage:
    """A passage of one chunk, as it is."""
    span, metadata = chunk.span, chunk.metadata
    spans: tuple[Span, ...] = () if span is None else (span,)
    if span is not None and SPANS in metadata:
        spans = read_spans(span, metadata)
    cited = None
    if HASH in metadata and is_unchanged(metadata, chunk.text):
        start, end = metadata.get(START), metadata.get(END, metadata.get(START))
        cited = (
            metadata.get(CITATION) if (start, end) == (span or (None, None)) else None
        )
    return Passage(chunk.text, chunk.document, (chunk,), spans, chunk.exact, cited)
