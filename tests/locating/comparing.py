"""Locates a setting's chunks and compares the places with where they were taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from oprag.locating import locate, squeeze
from tests.locating.disguise import Bare, Disguise
from tests.locating.settings import Setting


@dataclass
class Outcome:
    """Numbers of chunks, by what became of them."""

    right: list[int] = field(default_factory=list)
    wrong: list[int] = field(default_factory=list)
    reported: list[int] = field(default_factory=list)
    """Not placed, though they stand in the source up to white space."""
    absent: list[int] = field(default_factory=list)
    """Not placed, as they do not: the splitter damaged them, or they are blank."""
    unknown: list[int] = field(default_factory=list)
    """Nothing but characters that the splitter looks at, so no copy tells."""

    @property
    def share_reported(self) -> float:
        return len(self.reported) / (len(self.right) + len(self.reported) or 1)


def compare(
    text: str,
    setting: Setting,
    change: Callable[[int, str], str | None] = lambda _, chunk: chunk,
    *,
    complete: bool = True,
) -> Outcome:
    """Split the text and its copy, locate the chunks, and see which are right.

    `change` may alter a chunk before that, or leave it out by returning None.
    """
    disguise = Disguise(text, setting.keep)
    copies = setting.split(disguise)
    bare = setting.split(Bare(text))
    assert len(bare) == len(copies)
    changed = [change(number, chunk) for number, chunk in enumerate(bare)]
    numbers = [number for number, chunk in enumerate(changed) if chunk is not None]
    chunks = [chunk for chunk in changed if chunk is not None]
    outcome = Outcome()
    flat = squeeze(text)
    found = locate(text, chunks, complete=complete)
    for number, chunk, location in zip(numbers, chunks, found, strict=True):
        copy = copies[number]
        damaged = "\ufffd" in copy
        assert damaged or disguise.reveal(copy) == bare[number]
        if location.span is None:
            occurs = squeeze(chunk) and not damaged and squeeze(chunk) in flat
            (outcome.reported if occurs else outcome.absent).append(number)
            continue
        there = text[slice(*location.span)]
        assert squeeze(there) == squeeze(chunk)
        assert (there == chunk) == (location.status == "exact")
        truth = disguise.span(copy)
        if truth is None:
            outcome.unknown.append(number)
        elif truth == _tight(text, location.span):
            outcome.right.append(number)
        else:
            outcome.wrong.append(number)
    return outcome


def _tight(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """A span without the white space at its ends."""
    found = text[slice(*span)]
    return (
        span[0] + len(found) - len(found.lstrip()),
        span[1] - len(found) + len(found.rstrip()),
    )
