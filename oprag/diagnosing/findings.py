"""Problems, gathered chunk by chunk and told by kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from oprag.diagnosing.examined import Examined
from oprag.diagnosing.report import Example, Problem

__all__ = ["MESSAGES", "Findings"]

_EXAMPLES = 5

MESSAGES = {
    "missing_document": "Nothing says which document these chunks are from.",
    "missing_position": "These chunks have no position that can be used.",
    "unscoped_position": "Offsets count from the start of a section or a parent, so "
    "they do not order the document.",
    "ambiguous_position": "Different texts have the same position.",
    "invalid_span": "A span is negative, or ends before its start.",
    "conflicting_text": "Overlapping spans have different texts where they overlap: "
    "offsets restart, or were found by a wrong search.",
    "length_mismatch": "The span is not as long as the text: its white space "
    "differs, or the text was replaced. Ordered all the same, and never joined.",
    "order_mismatch": "Offsets and chunk numbers contradict each other.",
    "duplicate": "The same text stands at the same position again: indexed twice.",
    "incomplete": "Fewer chunks are there than n_chunks says, or numbers repeat.",
    "no_source": "No source is known by a name that these chunks carry.",
    "wrong_position": "The recorded position is not where the source has the text.",
    "unrecorded_position": "The source proves a position that is not recorded.",
    "unproved_position": "The source has the text where it is recorded, and in other "
    "places that are possible: neither proved nor disproved.",
    "ambiguous_place": "The source has the text in more than one possible place.",
    "not_found": "The source does not hold the text: it was altered, or is another.",
    "other_source": "The source holds not one chunk of these documents: it seems to be "
    "another text than the one that was indexed, and proves nothing.",
}
"""What each kind of problem means, in the order in which they are told."""


_NOT_SERIOUS = ("length_mismatch", "unproved_position")


class _Found(NamedTuple):
    number: int
    document: str
    detail: str


class Findings:
    """Gathers problems."""

    def __init__(self, chunks: Sequence[Examined]) -> None:
        self._chunks = chunks
        self._found: dict[str, list[_Found]] = {}

    def add(self, kind: str, index: int, document: str, detail: str = "") -> None:
        """Note that a chunk has a problem.

        Args:
            kind: A key of `MESSAGES`.
            index: Number of the chunk.
            document: Name of its document; empty where it is not known.
            detail: What is wrong with this chunk.
        """
        self._found.setdefault(kind, []).append(_Found(index, document, detail))

    def problems(self) -> tuple[Problem, ...]:
        """All of them, by kind."""
        return tuple(
            self._problem(kind, sorted(self._found[kind]))
            for kind in MESSAGES
            if kind in self._found
        )

    def _problem(self, kind: str, found: Sequence[_Found]) -> Problem:
        documents = dict.fromkeys(item.document for item in found if item.document)
        examples = [
            Example(
                self._chunks[item.number].id or str(item.number),
                item.document,
                item.detail,
            )
            for item in found[:_EXAMPLES]
        ]
        chunks = len({item.number for item in found})
        return Problem(
            kind,
            MESSAGES[kind],
            chunks,
            len(documents),
            tuple(examples),
            serious=kind not in _NOT_SERIOUS,
        )
