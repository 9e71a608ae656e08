"""A document as a strip of cells, some of them marked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def marked_cells(
    spans: Sequence[tuple[int, int]], length: int, cells: int
) -> list[int | None]:
    """Say which cells of a strip the spans reach into.

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
