"""What `arrange` returns: passages, and what a framework makes its own objects of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from oprag.chunk import Passage
from oprag.errors import OpragError
from oprag.metadata import OF_ONE_TEXT, PROBLEM, joined_id, place_metadata

Rescore: TypeAlias = Callable[..., Any]
"""Makes a retrieved object anew: from it, a score, and, where these are not what its
`char_start` and `char_end` say, the spans and the part of its passage."""


class Arranged(ABC):
    """What is kept, in reading order, or best first with `order="score"`.

    Together, as the texts are sent and joined by `options.separator`, they take at
    most `options.token_budget` tokens.
    """

    used_all: bool
    """Whether every chunk was used, so that more could have been: False as soon
    as `top_n` or the budget left one out."""
    problem: OpragError | None = None
    """Why the order as retrieved was kept (`on_problem="warn"`); else None."""

    @abstractmethod
    def passages(self) -> list[Passage]:
        """Return the passages. None for no hits."""

    @abstractmethod
    def results(
        self, make: Callable[[Rebuilt], Any], rescore: Rescore | None = None
    ) -> list[Any]:
        """Return one object of a framework per passage.

        Args:
            make: Makes an object for a passage that is no retrieved object as it was.
            rescore: Makes a retrieved object anew, with a score. The scores fall from
                1 in equal steps, so that sorting by them keeps the order. None to
                change no score.

        Returns:
            What was retrieved (`Hit.source`) or made.
        """


@dataclass(slots=True)
class Rebuilt:
    """A passage whose text is that of no retrieved object.

    Hundreds may be made for a query: a named tuple takes three times as long.
    """

    objects: Sequence[Any]
    """What it is made of, in reading order."""
    best: Any
    """That with the best rank."""
    text: str
    """Its text, behind the gap mark where there is one."""
    spans: Sequence[tuple[int, int]]
    """As `Passage.spans`."""
    score: float | None = None
    """As `rescore` gets it; None without."""
    part: int | None = None
    """As `Passage.part`."""
    slices: Sequence[tuple[int, int]] = ()
    """The spans, where not all of each object is in it."""
    problem: str | None = None
    """Why it stands where it was retrieved, for its metadata; None for no problem."""

    def metadata(self, of_first: Mapping[str, Any]) -> dict[str, Any]:
        """Return the metadata of the first object, with the place of the passage."""
        metadata = dict(of_first)
        if self.problem is not None:
            return {**metadata, PROBLEM: self.problem}
        # They said something about the text that is replaced.
        for key in OF_ONE_TEXT:
            metadata.pop(key, None)
        metadata.update(place_metadata(self.spans, self.part))
        return metadata

    def new_id(self, id_of: Callable[[Any], str | None]) -> str | None:
        """Return the id for it, made of those of its objects; None without these.

        A single object that is in it as a whole keeps its id.

        Args:
            id_of: From an object to its id, or None.
        """
        if len(self.objects) == 1 and not self.slices:
            return id_of(self.objects[0])
        ids: list[Any] = list(map(id_of, self.objects))
        return None if None in ids else joined_id(ids, self.slices)


def falling_scores(count: int) -> list[float]:
    """Return scores from 1 downwards; see `Arranged.results`."""
    return [(count - index) / count for index in range(count)]


ORIGINAL = "original_"
"""Before the name of a metadata key: where its value stands after `write_score`."""


def write_score(
    metadata: dict[str, Any], key: str, score: float | None, before: Any = None
) -> None:
    """Write a score; what stood there first is kept under `original_<key>`.

    Args:
        metadata: It is written to.
        key: Where to write.
        score: What to write.
        before: The score that it takes the place of, if not what stands there.
    """
    if before is None:
        before = metadata.get(key)
    if before is not None and before != score:
        metadata.setdefault(ORIGINAL + key, before)
    metadata[key] = score
