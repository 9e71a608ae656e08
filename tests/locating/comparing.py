"""Locates a setting's chunks and compares the places with where they were taken."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from oprag.locating import Location, locate, squeeze
from tests.locating.disguise import Bare, Disguise
from tests.locating.settings import Setting


@dataclass
class Outcome:
    right: list[int] = field(default_factory=list)
    wrong: list[int] = field(default_factory=list)
    reported: list[int] = field(default_factory=list)
    """Not placed, though they stand in the source up to white space."""
    absent: list[int] = field(default_factory=list)
    """Not placed, as they do not: the splitter damaged them, or they are blank."""

    @property
    def share_reported(self) -> float:
        return len(self.reported) / (len(self.right) + len(self.reported) or 1)


def compare(
    text: str,
    setting: Setting,
    *,
    alter: Callable[[int, str], str] = lambda _, chunk: chunk,
    pick: Callable[[list[int]], list[int]] = list,
    find: Callable[[str, list[str]], Sequence[Location]] = locate,
) -> Outcome:
    """Split the text and its copy, find some of the chunks, and see which are right."""
    disguise = Disguise(text, setting.keep)
    copies = setting.split(disguise)
    bare = setting.split(Bare(text))
    assert len(bare) == len(copies)
    numbers = pick(list(range(len(bare))))
    chunks = [alter(number, bare[number]) for number in numbers]
    outcome = Outcome()
    flat = squeeze(text)
    for number, chunk, found in zip(numbers, chunks, find(text, chunks), strict=True):
        copy = copies[number]
        damaged = "\ufffd" in copy
        assert damaged or disguise.reveal(copy) == bare[number]
        if found.span is None:
            occurs = squeeze(chunk) and not damaged and squeeze(chunk) in flat
            (outcome.reported if occurs else outcome.absent).append(number)
            continue
        there = text[slice(*found.span)]
        assert squeeze(there) == squeeze(chunk)
        assert (there == chunk) == (found.status == "exact")
        truth = disguise.span(copy)
        if truth is not None:  # else no character in it tells
            right = truth == tight(text, found.span)
            (outcome.right if right else outcome.wrong).append(number)
    return outcome


def tight(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """A span without the white space at its ends."""
    found = text[slice(*span)]
    return (
        span[0] + len(found) - len(found.lstrip()),
        span[1] - len(found) + len(found.rstrip()),
    )
