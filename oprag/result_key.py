"""The place of a result in one short string: the reserved key `oprag`.

Applications print metadata into prompts, so the string holds only the facts that the
rest of the metadata lacks. Its fields are separated by blanks:

    3 984-1679 s123456789012

The rank (`-` for none; `3#5` is passage [5] of a conversation).

The spans, after the part that they count from: `2:984-1679`. For each further span, the
gap before it and its length: `984-1679,2+100` ends at 1781. `984` if the end is not
known; `@7` for the seventh chunk, if characters are not known; `~3.1` for the second of
a chain on a page whose order is not known (`Chunk.among`); `-` for no place.

Letters and the text's hash (`text_hash`). A letter for the proof of the place
(`_LETTERS`), `x` for a text that has the length of its span and is not the slice, `b`
if a token budget has no room for its place.

Then, only if they are needed: `!missing_position` (a problem), `key=`, `name=` and, to
the end, `citation=`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from oprag.chunk import PROOFS, Proof, Span
from oprag.metadata import (
    CITATION,
    EARLIER_HASH,
    EARLIER_KEYS,
    RESULT,
    as_number,
    text_hash,
)

_LETTERS: dict[Proof, str] = {
    "stamped": "s",
    "compared": "c",
    "chained": "h",
    "recorded": "r",
    "none": "n",
}
_PROOF_OF = {letter: proof for proof, letter in _LETTERS.items()}
_NOT_A_SLICE, _BARE = "x", "b"

_WRITTEN = re.compile(
    r"(?P<rank>\d+|-)(#(?P<number>\d+))?"
    r" ((?P<part>-?\d+):)?(?P<spans>[\d,+-]*)(~(?P<among>[\d.]+))?(@(?P<counted>\S+))?"
    r" (?P<proof>[schrn])(?P<flags>x?b?)(?P<hash>\d+)"
    r"( !(?P<problem>\S+))?( key=(?P<key>\S*))?( name=(?P<name>\S*))?"
    r"( citation=(?P<citation>.*))?",
    re.DOTALL,
)


_FIRST_SPAN = re.compile(r"(\d+)(?:-(\d+))?")
_FURTHER_SPAN = re.compile(r"(\d+)\+(\d+)")


class WrittenPlace(NamedTuple):
    """The place that a component wrote on a result."""

    rank: int | None
    """Its place in the list that was retrieved, 0 = best; None if several lists were
    joined, whose ranks are not those of one list."""
    text_hash: str
    """`text_hash` of the text that the place describes."""
    spans: tuple[Span, ...] = ()
    """The spans of the document in the text. The only one is empty if the end is not
    known. There is none if no character is known."""
    part: int | None = None
    """The page, row or part that the spans count from; None for a document of one
    text."""
    counted: str | None = None
    """The number of a chunk whose characters are not known, as in its citation."""
    among: tuple[int, ...] = ()
    """See `oprag.chunk.Chunk.among`."""
    proof: Proof = "none"
    """The proof of the place; see `oprag.chunk.Proof`."""
    is_slice: bool = True
    """False if the text has the length of its span and is not known to be the slice."""
    has_room: bool = True
    """False if a token budget has no room for the place beside the text."""
    number: int | None = None
    """The number under which a model read it in a conversation; None elsewhere."""
    problem: str | None = None
    """The kind of error that `on_problem="warn"` did not raise, or None."""
    document_key: str | None = None
    """The key of its document; None if the other metadata give it. `#…` is the rest
    after the key that they give (one of several files of a name)."""
    document_name: str | None = None
    """The document's name for people; None if the other metadata give it."""
    citation: str | None = None
    """The place for people; None if it follows from the other fields."""

    # The states of a result, each under the one name that it has everywhere.

    @property
    def whole(self) -> Span | None:
        """From the first character to the last; None if the first is not known."""
        if not self.spans:
            return None
        return Span(self.spans[0].start, self.spans[-1].end)

    @property
    def has_characters(self) -> bool:
        """Whether its first character is known."""
        return bool(self.spans)

    @property
    def lacks_place(self) -> bool:
        """Whether a problem was written on it, and no characters: at most its page."""
        return self.problem is not None and not self.spans

    @property
    def is_joined(self) -> bool:
        """Whether its text is joined over gaps, and so is no slice of a document."""
        return len(self.spans) > 1

    @property
    def is_verbatim(self) -> bool:
        """Whether the text may be the slice of one span; see `Chunk.verbatim`."""
        return self.is_slice and not self.is_joined

    def describes(self, text: str) -> bool:
        """Return whether a text is the one that the place was written for."""
        return self.text_hash == text_hash(text)

    def find_link_number(self, text: str) -> int | None:
        """Return the number that links gave to the chunk, if the text is its text."""
        if self.proof != "chained" or self.spans or not self.describes(text):
            return None
        return as_number(self.counted)


def encode_place(place: WrittenPlace) -> str:
    """Write a place as the value of the key `oprag`."""
    rank = "-" if place.rank is None else str(place.rank)
    if place.number is not None:
        rank += f"#{place.number}"
    letters = _LETTERS[place.proof]
    if not place.is_slice:
        letters += _NOT_A_SLICE
    if not place.has_room:
        letters += _BARE
    fields = [rank, _encode_where(place), letters + place.text_hash]
    if place.problem is not None:
        fields.append(f"!{_escape(place.problem)}")
    if place.document_key is not None:
        fields.append(f"key={_escape(place.document_key)}")
    if place.document_name is not None:
        fields.append(f"name={_escape(place.document_name)}")
    if place.citation is not None:
        fields.append(f"citation={place.citation}")
    return " ".join(fields)


def _encode_where(place: WrittenPlace) -> str:
    """Write part, spans and number of a chunk; `-` for none of them."""
    where = _encode_spans(place.spans)
    if place.among:
        where += "~" + ".".join(map(str, place.among))
    if place.counted is not None:
        where += f"@{_escape(place.counted)}"
    if place.part is not None:
        where = f"{place.part}:{where}"
    return where or "-"


def read_written(metadata: Mapping[str, Any]) -> WrittenPlace | None:
    """Read the place that a component wrote on a result; None if none did."""
    written = metadata.get(RESULT)
    if type(written) is str:
        return _decode(written)
    if EARLIER_HASH in metadata:
        return _read_earlier(metadata)
    return None


def is_result(metadata: Mapping[str, Any]) -> bool:
    """Return whether a component wrote the metadata."""
    return read_written(metadata) is not None


def read_number(metadata: Mapping[str, Any]) -> int | None:
    """Return the number under which a model read a result; None if no model did."""
    written = read_written(metadata)
    return None if written is None else written.number


def drop_rank(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a result from one of several joined lists.

    Its rank is dropped, because it is not its rank in the joined list. Metadata of
    anything else are returned as a copy.
    """
    written = read_written(metadata)
    if written is None:
        return dict(metadata)
    return {**metadata, RESULT: encode_place(written._replace(rank=None))}


@lru_cache(maxsize=4096)
def _decode(text: str) -> WrittenPlace | None:
    """Read the string; None for any other text."""
    found = _WRITTEN.fullmatch(text)
    spans = None if found is None else _decode_spans(found["spans"])
    if found is None or spans is None:
        return None
    return WrittenPlace(
        None if found["rank"] == "-" else int(found["rank"]),
        found["hash"],
        spans,
        None if found["part"] is None else int(found["part"]),
        _unescape(found["counted"]),
        _decode_among(found["among"]),
        _PROOF_OF[found["proof"]],
        _NOT_A_SLICE not in found["flags"],
        _BARE not in found["flags"],
        None if found["number"] is None else int(found["number"]),
        _unescape(found["problem"]),
        _unescape(found["key"]),
        _unescape(found["name"]),
        found["citation"],
    )


def _decode_among(text: str | None) -> tuple[int, ...]:
    numbers = (text or "").split(".")
    return tuple(int(number) for number in numbers if number)


def _encode_spans(spans: Sequence[Span]) -> str:
    """Write spans: the first by its ends, the others by the gap before and the length.

    Merged passages have small gaps, so most numbers have few digits.
    """
    if not spans:
        return ""
    (start, end), *others = spans
    written = f"{start}-{end}" if end > start else str(start)
    for start, to in others:
        written += f",{start - end}+{to - start}"
        end = to
    return written


def _decode_spans(text: str) -> tuple[Span, ...] | None:
    """Read a string from `_encode_spans`; None for anything else."""
    if text in ("", "-"):
        return ()
    first, *others = text.split(",")
    found = _FIRST_SPAN.fullmatch(first)
    if found is None:
        return None
    start = int(found[1])
    spans = [Span(start, int(found[2] or start))]
    for other in others:
        found = _FURTHER_SPAN.fullmatch(other)
        if found is None:
            return None
        start = spans[-1].end + int(found[1])
        spans.append(Span(start, start + int(found[2])))
    return tuple(spans) if spans[0].start <= spans[0].end else None


def _escape(text: str) -> str:
    """Return a text without white space, which ends a field."""
    return re.sub(r"[%\s]", lambda found: f"%{ord(found[0]):X};", text)


def _unescape(text: str | None) -> str | None:
    if text is None or "%" not in text:
        return text
    return re.sub(r"%([0-9A-F]+);", lambda found: chr(int(found[1], 16)), text)


def _read_earlier(metadata: Mapping[str, Any]) -> WrittenPlace:
    """Read the keys that were written before the one key."""
    found = {
        key.removeprefix("oprag_"): metadata[key]
        for key in (*EARLIER_KEYS, CITATION)
        if key in metadata
    }
    texts = {
        name: str(found[name])
        for name in ("problem", "key", "document", "citation")
        if found.get(name) is not None
    }
    proofs = [proof for proof in PROOFS if proof == found.get("proof")]
    return WrittenPlace(
        as_number(found.get("rank")),
        str(found["hash"]),
        _read_earlier_spans(found),
        as_number(found.get("part")),
        proof=proofs[0] if proofs else "recorded",
        is_slice="unfit" not in found,
        has_room="bare" not in found,
        number=as_number(found.get("number")),
        problem=texts.get("problem"),
        document_key=texts.get("key"),
        document_name=texts.get("document"),
        citation=texts.get("citation"),
    )


def _read_earlier_spans(found: Mapping[str, Any]) -> tuple[Span, ...]:
    start, end = as_number(found.get("start")), as_number(found.get("end"))
    if start is None:
        return ()
    whole = Span(start, start if end is None else max(start, end))
    bounds = [*map(int, re.findall(r"\d+", str(found.get("spans", ""))))]
    spans = tuple(map(Span, bounds[::2], bounds[1::2]))
    if spans and Span(spans[0].start, spans[-1].end) == whole:
        return spans
    return (whole,)
