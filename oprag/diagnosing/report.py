"""The results of an examination of an index."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass
from heapq import nsmallest
from typing import Any, Literal

from oprag.errors import count_nouns

Verdict = Literal["ordered", "sampled", "not ordered", "damaged"]


@dataclass(frozen=True, slots=True)
class Example:
    """A chunk that has a problem."""

    chunk: str
    """The store's id of the chunk, or its number in the order of the store."""
    document: str
    detail: str


@dataclass(frozen=True, slots=True)
class Problem:
    """One kind of problem."""

    kind: str
    """Its name, such as `missing_position`."""
    message: str
    """The problem, in one sentence."""
    chunks: int
    """Chunks that have it."""
    documents: int
    """Documents that have it; 0 if the chunks name none."""
    examples: tuple[Example, ...]
    """The first ones, at most five, in the order of the store."""
    serious: bool = True
    """Whether it makes order, or a whole document, impossible. A place that the source
    neither proves nor disproves is not serious. Neither is a lack that only prevents
    the exact text of a whole document."""


@dataclass(frozen=True, slots=True)
class Proofs:
    """Counts of the positions that the sources prove, in chunks."""

    proved: int
    """The recorded span is the true one."""
    moved: int
    """The true place is proved and another one is recorded."""
    placed: int
    """The true place is proved and none is recorded."""
    ambiguous: int
    """The text is in the source, and more than one place is possible."""
    not_found: int
    """The text is not in its source."""
    blank: int
    """White space alone, so any place fits."""
    no_source: int
    """No name that the chunk carries leads to a source."""
    documents: int
    """Documents with a source; several versions of one count each."""
    complete: int
    """Those whose chunks cover the source without a gap, so that all are there."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Whether an index can be put in document order, and the problems with it."""

    verdict: Verdict
    """- `ordered`: with the options given, or for `verify()` those of the component.
      All chunks were looked at.
    - `sampled`: the chunks that were looked at are in order, and there are others.
    - `not ordered`: positions are missing, wrong, or contradict each other.
    - `damaged`: a document of oprag's cannot be read whole, in any order. Chunks of it
      are missing, cut, altered, or of several versions."""
    chunks: int
    """Chunks examined."""
    sampled: bool
    """Whether there are more, which were not looked at."""
    total: int | None
    """Chunks that the store holds; None if not known."""
    documents: int
    """Documents that the chunks name."""
    problems: tuple[Problem, ...]
    """The problems with the options, in the order of the examination."""
    proofs: Proofs | None
    """None if no sources were given."""

    @property
    def healthy(self) -> bool:
        """Whether nothing serious is wrong with the chunks that were looked at."""
        serious = any(problem.serious for problem in self.problems)
        return self.verdict in ("ordered", "sampled") and not serious

    @property
    def counted(self) -> str:
        """The chunks that were looked at, for people: `200 of 1,000,000 sampled`."""
        if not self.sampled:
            return count_nouns(self.chunks, "chunk")
        if self.total is None:
            return f"the first {count_nouns(self.chunks, 'chunk')} sampled"
        return f"{self.chunks:,} of {count_nouns(self.total, 'chunk')} sampled"

    def __str__(self) -> str:
        """Return the verdict with its scope, and each problem on a line."""
        verdict: str = self.verdict
        if self.verdict == "sampled":
            verdict = "no fault in the sample"
        documents = count_nouns(self.documents, "document")
        lines = [f"{verdict} ({self.counted}, {documents})"]
        lines += [f"{problem.kind}: {problem.message}" for problem in self.problems]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return {**asdict(self), "healthy": self.healthy}


EXAMPLES = 5
"""The number of examples of each kind of problem, the first ones."""

MESSAGES = {
    "empty": "There are no chunks: index the documents, or examine the collection that "
    "holds them.",
    "missing_document": "Nothing says which document these chunks are from.",
    "divided_file": "Each chunk of a file has another document id: how these follow "
    "one another is not known. Give the file's key as document_key=.",
    "shared_name": "Several files have one name. Each is read in its order; name them "
    "apart, or give document_key=.",
    "missing_position": "These chunks have no position that can be used.",
    "unscoped_position": "Offsets count from the start of a section or a parent, so "
    "they do not order the document.",
    "ambiguous_position": "Different texts have the same position.",
    "conflicting_text": "Overlapping spans have different texts where they overlap: "
    "offsets restart, or were found by a wrong search.",
    "altered_text": "The chunks of a document do not give the text that was indexed: "
    "one was altered, or exchanged for that of another version.",
    "several_versions": "Chunks of several texts of one document are there: it was "
    "indexed again, and what was there before was not removed.",
    "foreign_chunks": "Chunks that something else than oprag wrote of a document that "
    "oprag indexed too: its text is there twice.",
    "duplicate": "The same text is at the same position again: indexed twice.",
    "incomplete": "Chunks of a document are missing, or their numbers repeat.",
    "unstamped": "No chunk carries the length and hash of the text: nothing shows that "
    "it is whole, and full documents are refused.",
    "inexact": "Another splitter dropped white space: the order is right, and full "
    "documents need exact=False.",
    "unproved_text": "Another splitter dropped more than white space, or a text was "
    "altered: the order is right, and full documents are refused.",
    "cut_characters": "Texts begin or end inside a character (U+FFFD), as a splitter "
    "that counts tokens cuts them: they are placed by what is left, and full documents "
    "are refused. Split again between characters, as oprag does.",
    "no_source": "No source is known by a name that these chunks carry.",
    "wrong_position": "The recorded position is not where the source has the text, or "
    "the text that the chunks were joined to.",
    "unrecorded_position": "The source proves a position that is not recorded.",
    "unproved_position": "The source has the text where it is recorded, and in other "
    "places that are possible: neither proved nor disproved.",
    "ambiguous_place": "The source has the text in more than one possible place.",
    "not_found": "The source does not hold the text: it was altered, or is another.",
    "other_source": "The source holds not one chunk of these documents: it seems to be "
    "another text than the one that was indexed, and proves nothing.",
}
"""Meanings of the kinds of problems, in the order in which they are reported."""


CHAINED = "ordered_by_overlaps"
"""The kind that says for how many pages overlaps of chunks prove the order."""
EMPTY = Problem("empty", MESSAGES["empty"], 0, 0, ())
"""The problem of an index without chunks."""

_NOT_SERIOUS = ("unproved_position", "unstamped", "inexact", "cut_characters")
DAMAGE = frozenset({"altered_text", "incomplete"})
"""Problems that damage an index, if they prevent a document from being read whole."""


class Findings:
    """Gathers problems: their counts, and the first examples of each kind.

    Args:
        id_of: Returns the store's id of a chunk, by its number.
    """

    def __init__(self, id_of: Callable[[int], str]) -> None:
        self._id_of = id_of
        self._found = defaultdict[str, dict[tuple[int, str], str]](dict)

    def add(self, kind: str, number: int, document: str, detail: str = "") -> None:
        """Note that a chunk has a problem of a kind of `MESSAGES`."""
        self._found[kind].setdefault((number, document), detail)

    def problems(self) -> tuple[Problem, ...]:
        """Return all of them, by kind."""
        return tuple(
            Problem(
                kind,
                message,
                len({number for number, _ in found}),
                len({document for _, document in found} - {""}),
                tuple(
                    Example(self._id_of(number), document, found[number, document])
                    for number, document in nsmallest(EXAMPLES, found)
                ),
                serious=kind not in _NOT_SERIOUS,
            )
            for kind, message in MESSAGES.items()
            if (found := self._found.get(kind))
        )
