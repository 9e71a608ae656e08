"""Files that are ready to be asked, and the passages that a question found in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, Self, TypeAlias

from oprag.context import headers
from oprag.files import FileText
from oprag.tokens import resolve_token_counter
from oprag_cli.index import Index
from oprag_cli.options import SearchOptions
from oprag_cli.play.reader import Shelf
from oprag_cli.search import Retrieved

ReadingOrder: TypeAlias = Literal["rank", "document"]
ORDERS: tuple[ReadingOrder, ...] = ("rank", "document")
"""As the page shows them, side by side."""


@dataclass(frozen=True)
class Desk:
    """Files that are ready to be asked."""

    shelf: Shelf
    index: Index
    whole: dict[str, str]
    """Full texts by name."""
    starts: dict[tuple[str, int | None], int]
    """The start of each page in the full text."""
    tokens: int
    """Tokens of all full texts."""

    @classmethod
    def of(cls, shelf: Shelf, index: Index) -> Self:
        """Make a desk of files and their index."""
        whole = shelf.read.whole
        tokens = sum(map(_tokens, whole.values()))
        return cls(shelf, index, whole, _starts(shelf.read.texts), tokens)

    def text_of(self, source: str, page: int | None) -> FileText | None:
        """Return the text of a file, or of one page of it."""
        for each in self.shelf.read.texts:
            if each.source == source and each.page == page:
                return each
        return None


class Step(NamedTuple):
    """The passages for the question with some options."""

    options: SearchOptions
    retrieved: Retrieved
    desk: Desk

    def numbers(self, order: ReadingOrder) -> list[int]:
        """Return the numbers of the passages in the order in which they are read.

        A passage has the same number in both orders: that of document order.
        """
        passages = self.retrieved.passages
        numbers = list(range(1, len(passages) + 1))
        if order == "rank":
            numbers.sort(key=lambda number: passages[number - 1].rank)
        return numbers

    def blocks(self) -> list[str]:
        """Return each passage as it is sent, with its number and place."""
        passages = self.retrieved.passages
        return [
            head + passage.text
            for head, passage in zip(headers(passages), passages, strict=True)
        ]

    def write_sent(self, order: ReadingOrder) -> str:
        """Return the text that is sent in an order: in both the same blocks, moved.

        Each block ends with the same line breaks wherever it stands (a prompt goes on
        in a new line), so that both orders have as many tokens.
        """
        blocks = self.blocks()
        in_turn = [blocks[number - 1] for number in self.numbers(order)]
        return "\n\n".join(in_turn) + "\n"


class Opened(NamedTuple):
    """A passage that is shown in its source."""

    step: Step
    number: int
    """The number of the passage, from 1."""
    page: int | None = None
    """Another page than its own, counted from 0."""


@lru_cache(1_000)
def _tokens(text: str) -> int:
    return resolve_token_counter()(text)


def _starts(texts: tuple[FileText, ...]) -> dict[tuple[str, int | None], int]:
    """Return the start of each page in the text that `joined` makes of them."""
    starts: dict[tuple[str, int | None], int] = {}
    ends: dict[str, int] = {}
    for each in texts:
        start = ends[each.source] + 2 if each.source in ends else 0
        starts[each.source, each.page] = start
        ends[each.source] = start + len(each.text)
    return starts
