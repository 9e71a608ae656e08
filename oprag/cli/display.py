"""What the demo shows of one question: plain text, coloured on a terminal."""

from __future__ import annotations

import colorsys
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from oprag.chunk import Chunk, Span
from oprag.cli.retrieving import Retrieved

_WIDTH = 100
"""Columns used at most; exactly so many where there is no terminal."""

_ROW_CELLS = 24
_DOCUMENT_CELLS = 72
_PREVIEW = 60
"""Characters shown of a text."""

_RULES = re.compile(r"([-=*~^\"])\1{3,}")
"""Lines drawn under headings: they say nothing in a preview."""

_FIRST_HUE = 0.6
_HUES = 0.55
"""Blue, and how far the colours run on from it, as parts of the colour circle."""


class _Marks(NamedTuple):
    """The characters that strips are drawn with."""

    chunk: str = "■"
    blank: str = "·"
    back: str = "↑"
    cut: str = "…"


_ASCII = _Marks("#", ".", "^", "...")


def make_console(*, stderr: bool = False) -> Console:
    """A console of at most 100 columns: coloured on a terminal, else plain."""
    # Names of files and models are shown as they are, brackets and colons included.
    console = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not console.is_terminal or console.width > _WIDTH:
        console.width = _WIDTH
    return console


def question_lines(
    retrieved: Retrieved, *, length: int, ascii_only: bool = False
) -> list[Text]:
    """Show the chunks by score, in document order and merged, and where they lie.

    Args:
        retrieved: Chunks of one document in its order, with spans.
        length: Characters of the document.
        ascii_only: Whether to draw with ASCII characters alone.

    Returns:
        The lines, to be printed without wrapping.
    """
    view = _View(retrieved, length, _ASCII if ascii_only else _Marks())
    by_score, in_order = retrieved.by_score, retrieved.chunks
    jumps = sum(jumps_back(_starts(by_score)))
    times = "once" if jumps == 1 else f"{jumps} times"
    passages, tokens = len(retrieved.passages), f"{retrieved.tokens:,} tokens"
    return [
        _heading("By score", f"as retrieval returns them, jumping back {times}"),
        *view.chunks(by_score),
        Text(),
        _heading("In document order", "the same chunks as oprag hands them on"),
        *view.chunks(in_order),
        Text(),
        _heading(
            "Merged where they touch",
            f"{passages} passages, {tokens}, each a slice of the text",
        ),
        *view.passages(),
        Text(),
        _heading(
            "Where they lie", f"the document from start to end, {length:,} characters"
        ),
        view.document(),
    ]


class _View:
    """Draws one question's chunks, in colours that follow the document."""

    def __init__(self, retrieved: Retrieved, length: int, marks: _Marks) -> None:
        self._retrieved = retrieved
        self._length = length
        self._marks = marks
        chunks = retrieved.chunks
        self._turns = {chunk.rank: turn for turn, chunk in enumerate(chunks)}
        self._colours = {
            rank: _colour(turn / len(chunks)) for rank, turn in self._turns.items()
        }

    def chunks(self, chunks: Sequence[Chunk]) -> Iterable[Text]:
        """One line each: number by score, turn to be read, jump back, first words."""
        count = len(chunks)
        jumps = jumps_back(_starts(chunks))
        for chunk, jump in zip(chunks, jumps, strict=True):
            turn = self._turns[chunk.rank]
            line = Text(f"  {chunk.rank + 1:3}  ", self._colours[chunk.rank])
            line.append_text(
                self._strip(
                    [Span(turn, turn + 1)], [chunk], count, min(count, _ROW_CELLS)
                )
            )
            line.append(f" {self._marks.back if jump else ' '} ", "bold red")
            yield line.append(self._preview(chunk.text))

    def passages(self) -> Iterable[Text]:
        """One line each: span, tokens, chunks, first words."""
        passages = self._retrieved.passages
        places = [
            " and ".join(f"{start:,}-{end:,}" for start, end in passage.spans)
            for passage in passages
        ]
        numbers = [
            "+".join(str(chunk.rank + 1) for chunk in passage.chunks)
            for passage in passages
        ]
        for index, passage in enumerate(passages):
            tokens = self._retrieved.passage_tokens[index]
            place = places[index].rjust(max(map(len, places)))
            chunks = numbers[index].ljust(max(map(len, numbers)))
            line = Text(f"  [{index + 1}]".ljust(7))
            line.append(f"characters {place}  {tokens:4} tokens  ")
            line.append(f"{chunks}  ", self._colours[passage.rank])
            yield line.append(self._preview(passage.text))

    def document(self) -> Text:
        """The whole document as one strip."""
        chunks = self._retrieved.chunks
        spans = [_span(chunk) for chunk in chunks]
        strip = self._strip(spans, chunks, self._length, _DOCUMENT_CELLS)
        return Text("  ").append_text(strip)

    def _strip(
        self, spans: Sequence[Span], chunks: Sequence[Chunk], length: int, cells: int
    ) -> Text:
        """Cells for a length, marked where the spans of the chunks reach."""
        strip = Text()
        for index in marked_cells(spans, length, cells):
            if index is None:
                strip.append(self._marks.blank, "dim")
            else:
                strip.append(self._marks.chunk, self._colours[chunks[index].rank])
        return strip

    def _preview(self, text: str) -> str:
        line = " ".join(_RULES.sub(" ", text).split())
        if len(line) > _PREVIEW:
            line = line[:_PREVIEW].rstrip() + self._marks.cut
        return line


def _heading(title: str, note: str) -> Text:
    return Text.assemble((title, "bold"), f": {note}")


def _colour(share: float) -> str:
    """A colour from blue (0, the first to be read) over red to yellow (1, the last).

    Readable on dark and on light ground.
    """
    hue = (_FIRST_HUE + share * _HUES) % 1
    red, green, blue = colorsys.hls_to_rgb(hue, 0.6, 0.8)
    return f"rgb({red * 255:.0f},{green * 255:.0f},{blue * 255:.0f})"


def _span(chunk: Chunk) -> Span:
    return chunk.span or Span(0, 0)


def _starts(chunks: Sequence[Chunk]) -> list[int]:
    return [_span(chunk).start for chunk in chunks]


def marked_cells(
    spans: Sequence[tuple[int, int]], length: int, cells: int
) -> list[int | None]:
    """Return which cells of a strip the spans reach into.

    The strip is the whole document, cut into cells of equal length (to within one
    character). A span marks every cell that holds at least one of its characters.

    Args:
        spans: Characters `(start, end)`, end exclusive, within the document.
        length: Characters of the document.
        cells: Cells of the strip, at least 1.

    Returns:
        For each cell the index of the first span in it, or None.
    """
    marks: list[int | None] = [None] * cells
    for index, (start, end) in enumerate(spans):
        if start < end:
            last = (end - 1) * cells // length
            for cell in range(start * cells // length, last + 1):
                if marks[cell] is None:
                    marks[cell] = index
    return marks


def jumps_back(starts: Iterable[int]) -> list[bool]:
    """Say of each start whether it stands before the one that was read last."""
    jumps = []
    before = -1
    for start in starts:
        jumps.append(start < before)
        before = start
    return jumps
