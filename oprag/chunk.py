"""The data types: a `Chunk` is retrieved, a `Passage` or a `FullText` is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from oprag.citations import (
    LONGEST_CITATION,
    as_line,
    derive_citation,
    name_on_pages,
    name_part,
    name_position,
)
from oprag.landmarks import Landmarks, join_landmarks
from oprag.metadata import PART_INDEX, uri_of

_NO_METADATA: Mapping[str, Any] = {}

Proof: TypeAlias = Literal["stamped", "compared", "chained", "recorded", "none"]
"""The proof of a text's place in its document, the strongest first.

`"stamped"`: oprag cut the text, and its hash says that it is unchanged. `"compared"`:
the full text of the document has it there. `"chained"`: other chunks of the document
prove it, by the text they share with it or by links. Links give it a number, and no
characters. `"recorded"`: the metadata say so, and nobody compared. `"none"`: its
characters are not known.
"""
PROOFS: tuple[Proof, ...] = get_args(Proof)
PROVED: tuple[Proof, ...] = ("stamped", "compared")
"""With these a text that has the length of its span is the slice itself."""


class Span(NamedTuple):
    """Characters `[start, end)` of a text: Python `str` offsets, end exclusive.

    Empty if only the beginning is known, and not the end.
    """

    start: int
    end: int


class Chunk(NamedTuple):
    """One retrieved chunk and its place in its document.

    A named tuple, not a frozen dataclass: every query makes hundreds, and a named tuple
    is built three times as fast. Sort it by explicit keys only.
    """

    text: str
    """The text as it was retrieved, or a slice of it."""
    document_key: str
    """Identifies the document: equal for all chunks of one document."""
    rank: int
    """Place in the retriever's order, 0 = best. It says how relevant the chunk is."""
    position: tuple[Any, ...] | None = None
    """Sort key inside the document, None when unknown.

    `(part, start, end)` for character offsets, `(part, ordinal)` for counted chunks,
    `(part,)` if only a page or row is known, or the values of the user's own keys.
    """
    span: Span | None = None
    """Characters in the source, or in its part if it has parts; or None. Empty if only
    the beginning of the chunk is known, and not its end."""
    part: int | None = None
    """Page, row or part that `span` is relative to, as its metadata numbers it;
    None when the document is one text."""
    score: float | None = None
    """As the retriever reported it: carried along, never compared between stores."""
    document_name: str | None = None
    """The document's name for people (`lease.txt`), for citations. None, or empty for
    a document without a name."""
    metadata: Mapping[str, Any] = _NO_METADATA
    """The chunk's metadata, not copied."""
    source: Any = None
    """The framework's object that the chunk was read from, not copied."""
    proof: Proof = "none"
    """The proof of `span`; without one `"none"`, or `"chained"` if links number it."""
    pages: tuple[tuple[str, Span], ...] | None = None
    """Name and span of each page of the text that `span` counts from; None if its full
    text has no pages."""
    problem: str | None = None
    """The kind of error that `on_problem="warn"` did not raise, or None."""
    scoped: bool = True
    """Whether it is known which text of its document `span` counts from."""
    verbatim: bool = True
    """False if the text is known not to be the slice of `span`."""

    shared_name: str | None = None
    """The key that the names of several files gave; None if no other document has the
    same name."""
    among: tuple[int, ...] = ()
    """Its place among chunks of one position. First the place by rank of the chain of
    chunks that it is in, then its own place in that chain. Empty if unknown."""
    derived: tuple[str, str] | None = None
    """Key and name of the document that `metadata` alone give, so that a result need
    not say them again; None if not known."""
    is_neighbour: bool = False
    """Whether it was not retrieved as a hit: it was read from beside one, or is ranked
    below such text. It takes the room that the hits leave."""

    @property
    def text_id(self) -> str:
        """The name by which full texts are looked up: `doc_uri`, else the key."""
        return uri_of(self.metadata, self.shared_name or self.document_key)

    @property
    def fits_span(self) -> bool:
        """Whether the text has the length of the span, so that offsets hold in it.

        This is as far as is known, since nobody need have compared. It is False if the
        text was replaced after the span was taken (a sentence window, a summary), if it
        was joined over a gap or changed, and if there is no span.
        """
        span = self.span
        return (
            span is not None and span[1] - span[0] == len(self.text) and self.verbatim
        )

    @property
    def is_linked(self) -> bool:
        """Whether links to other chunks number it, and its characters are not known."""
        return self.proof == "chained" and self.span is None

    @property
    def exact(self) -> bool:
        """Whether the text is proved to be the slice of its document at `span`."""
        return self.proof in PROVED and self.scoped and self.fits_span


class Passage(NamedTuple):
    """One or more neighbouring chunks of one document, in reading order.

    Passages are equal if they read and cite the same, whatever chunks they are made of.
    """

    text: str
    """The text to read. Equal to the source at `spans[0]` when `exact`."""
    document_key: str
    """Identifies the document."""
    chunks: tuple[Chunk, ...]
    """The chunks it is made of, in reading order, at least one."""
    spans: tuple[Span, ...]
    """Spans of the source that it covers, ascending, apart from one another. They count
    in the part, if there is one. Empty if only ordinals or pages are known."""
    cited: str | None = None
    """The `citation` that was written before; None to make it."""
    number: int | None = None
    """The number under which a model reads it in a conversation; None if its place in a
    list numbers it."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Passage):
            return NotImplemented
        return self._said() == other._said()

    def __ne__(self, other: object) -> bool:  # else as tuples
        return not self == other

    def __hash__(self) -> int:
        return hash(self._said())

    def _said(self) -> tuple[object, ...]:
        return self.text, self.rank, self.citation, self.spans, self.exact

    @property
    def proof(self) -> Proof:
        """The proof of its place: the weakest proof of its chunks."""
        if not self.spans and not all(chunk.is_linked for chunk in self.chunks):
            return "none"
        if len(self.chunks) == 1:
            return self.chunks[0].proof
        return max([chunk.proof for chunk in self.chunks], key=PROOFS.index)

    @property
    def exact(self) -> bool:
        """Whether `text` is proved to be one unbroken slice of the source."""
        if len(self.spans) != 1 or not all(chunk.exact for chunk in self.chunks):
            return False
        return self.spans[0].end - self.spans[0].start == len(self.text)

    @property
    def rank(self) -> int:
        """Best (lowest) rank of its chunks."""
        return min([chunk.rank for chunk in self.chunks])

    @property
    def part(self) -> int | None:
        """Page, row or part that the spans are relative to, or None."""
        return self.chunks[0].part

    @property
    def document_name(self) -> str:
        """The document's name for people, or its key if none is known; or nothing."""
        name = self.chunks[0].document_name
        return self.document_key if name is None else name

    @property
    def text_id(self) -> str:
        """The name by which the document's full text is looked up."""
        return self.chunks[0].text_id

    @property
    def citation(self) -> str:
        """The passage's place, for people: name, page or part, characters.

        `contract.txt, page 3, characters 120-480`. Characters are end exclusive. The
        page has the number that readers of the document know: its label, its
        `page_number`, or its `page`, which counts from 0, plus 1. If neither a name nor
        a place is known, it is `unknown document`. It is always one line, whatever name
        the document has (`as_line`).
        """
        if self.cited is not None:
            return as_line(self.cited, LONGEST_CITATION)
        first, spans, position = self.chunks[0], self.spans, ""
        if not spans:
            position = name_position(first.position, first.part)
        elif not first.scoped:
            spans = ()  # characters of an unknown text mean nothing
        elif first.pages:
            position = name_on_pages(spans[0].start, spans[-1].end, first.pages)
            spans = ()
        part = None if first.pages else first.part
        return derive_citation(
            self.document_name,
            first.metadata,
            part,
            spans,
            position,
            landmarks=self.landmarks,
        )

    @property
    def landmarks(self) -> Landmarks:
        """The names of its place beside characters: heading, rows, time."""
        metadatas = [chunk.metadata for chunk in self.chunks]
        return join_landmarks(metadatas, self.chunks[0].text)


SENTENCE_TERMINATORS = "。！？｡।॥؟۔።"
"""Marks that end a sentence whatever is around them, in scripts other than Latin."""

CUT_CHARACTER = "\ufffd"
"""The rest of a character that tokens cut in two."""

SMALL_GAP = 8
"""Characters that may lie between two chunks of one passage: splitters strip the white
space between chunks."""


def is_cut(text: str) -> bool:
    """Return whether a text begins or ends with the rest of a character."""
    whole = text.strip()
    return whole != whole.strip(CUT_CHARACTER)


class ChainedPlace(NamedTuple):
    """The place of a chunk without a position, proved by other chunks."""

    part: int | None
    span: Span | None = None
    """Its characters in the joined text of the part's chunks; None if not proved."""
    scoped: bool = True
    """Whether that text is known to begin at the beginning of the part."""
    number: int | None = None
    """Its number among the chunks of the part, from 0, if links or a count say it."""
    among: tuple[int, ...] = ()
    """Its place among chunks of one page whose order is not proved: see
    `Chunk.among`."""


class Links(NamedTuple):
    """The neighbours of a chunk, by the links that a parser wrote."""

    previous: str | None = None
    """The id of the one before it; None if there is none."""
    following: str | None = None
    """The id of the one after it; None if there is none."""


OffsetFrame = Literal["document", "parent", "last", "only"]
"""The object that the framework's own offsets are relative to.

`"document"`: the document, as far as the object tells. `"parent"`: some other
object, so the offsets are of no use here. `"last"`: the document, if this is its last
chunk, which at most one chunk can be. `"only"`: the document, if this is its one
chunk, or if neighbours are not recorded at all (see `llamaindex_oprag`).
"""


class Hit(NamedTuple):
    """One retrieved object whose position is still unread.

    Hits are given best first; a hit's index in the list is its rank.
    """

    text: str
    """The text at the position."""
    metadata: Mapping[str, Any]
    """Its metadata; read, never written."""
    source: Any = None
    """The object to hand back if the text stays unchanged."""
    subject: Any = None
    """The object that the user's callables and attribute names are applied to."""
    score: float | None = None
    """The retriever's score."""
    document: str | None = None
    """The document's id, if the framework keeps it outside the metadata."""
    offsets: tuple[int | None, int | None] | None = None
    """Start and end character, if the framework keeps them outside the metadata."""
    frame: OffsetFrame = "document"
    """The object that `offsets` are relative to."""
    id: str | None = None
    """The id by which a store keeps it; None if not known."""
    chained: ChainedPlace | None = None
    """The place that the other chunks of its document prove; None if unknown."""
    links: Links | None = None
    """Its neighbours; None if the framework has no links."""


class FullText(NamedTuple):
    """The full text of a document, and how sure it is."""

    text: str
    """All of it: the parts with a separator between them."""
    exact: bool = True
    """Whether it is the document's text, character for character. If not, it was put
    together from chunks. Then it is the text apart from white space, or is unproved."""
    parts: tuple[str, ...] = ()
    """The texts of its parts (pages, rows, sections) in reading order, without those
    that have no chunk; one for a document that was one text. Only of a text that was
    put together from chunks."""
    pages: tuple[tuple[Mapping[str, Any], Span], ...] = ()
    """The metadata of each numbered part, and its span in the text."""

    def page_names(self) -> list[str]:
        """Name the parts for people; several on one page as `page 3 (part 7)`."""
        parts = [(metadata, int(metadata[PART_INDEX])) for metadata, _ in self.pages]
        names = [name_part(*part) for part in parts]
        times = Counter(names)
        return [
            f"{name} (part {number})" if times[name] > 1 else name
            for name, (_, number) in zip(names, parts, strict=True)
        ]


def interleave(found: Any) -> Any:
    """Return the results of several searches as one list, the best of each first.

    Args:
        found: A list of lists, each best first. Anything else is returned unchanged.
    """
    if not isinstance(found, (list, tuple)) or not found:
        return found
    if not all(isinstance(each, (list, tuple)) for each in found):
        return found
    longest = max(map(len, found))
    return [each[n] for n in range(longest) for each in found if n < len(each)]
