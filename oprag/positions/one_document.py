"""Read the positions of one document's hits from any metadata.

The chunks of a document are read together, because only together do they show whether
a key orders them. So a document never mixes characters with numbers of chunks. There
are six ways to read them, and the first that applies counts
(`OneDocument._read_together`).

A *result* is a chunk that oprag gave before: its key `oprag` says the place that was
written then, or that there is none (`oprag.result_key.WrittenPlace`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from oprag.chunk import Hit
from oprag.errors import OpragError, PositionError
from oprag.metadata import RESULT
from oprag.positions.errors import report_no_position
from oprag.positions.keys import PART_KEYS, PositionKeys
from oprag.positions.linked import read_links
from oprag.positions.origins import Origin, check_origins, find_origins
from oprag.positions.pages import add_pages, read_pages
from oprag.positions.position import (
    NO_PLACE,
    Position,
    place_at_page,
    place_by_link,
    read_position,
)
from oprag.positions.schemes import (
    SCHEMES,
    Scheme,
    read_known_positions,
    read_parts,
    read_scheme,
    read_starts,
    read_written_numbers,
)
from oprag.positions.user_positions import read_user_positions
from oprag.result_key import is_result, read_written

_Reader: TypeAlias = Callable[[Sequence[Hit]], list[Position] | None]
"""A way to read hits of one document: it returns the position of each, or None if it
does not apply to all of them."""


@dataclass(frozen=True, slots=True)
class OneDocument:
    """A document whose hits are read together."""

    key: str
    position_keys: PositionKeys | None
    """The option; None for the known keys."""

    def read_positions(
        self,
        hits: Sequence[Hit],
        ranks: Sequence[int],
        problems: dict[str, OpragError] | None,
    ) -> list[Position]:
        """Return the position of each hit; an error is raised or collected.

        Args:
            hits: All hits of the document.
            ranks: As many; errors name them.
            problems: Collects the error by the document's key; None to raise it.
        """
        # If all hits have one text, there is nothing to order: no position is needed.
        if all(hit.text == hits[0].text for hit in hits):
            return [self._read_only_text(hit) for hit in hits]
        try:
            positions = self._read_texts(hits)
        except PositionError as error:
            self._raise_or_collect(error, problems)
            return [NO_PLACE] * len(hits)
        rows = zip(hits, ranks, positions, strict=True)
        unplaced = [(hit, rank) for hit, rank, place in rows if place == NO_PLACE]
        if unplaced:
            missing = report_no_position(unplaced, self.key, self.position_keys, hits)
            self._raise_or_collect(missing, problems)
        return positions

    def _raise_or_collect(
        self, error: PositionError, problems: dict[str, OpragError] | None
    ) -> None:
        if problems is None:
            raise error
        problems.setdefault(self.key, error)

    def _read_only_text(self, hit: Hit) -> Position:
        """Return the position of a hit whose text is the document's only one."""
        written = read_written(hit.metadata)
        if written is not None and written.lacks_place:
            return NO_PLACE
        readers = (
            self._read_written_characters,
            self._read_user_keys,
            self._read_one_scheme,
            read_pages,
        )
        return _read_first(readers, [hit])[0]

    def _read_texts(self, hits: Sequence[Hit]) -> list[Position]:
        """Return the positions of hits with several texts.

        A result without a place gets its page. A copy (a hit without a position, whose
        text another hit has with one) gets the position of the other. The rest is read
        together.
        """
        copies = {}
        if self.position_keys is None:
            copies = _find_copies(hits)
        rest = list[int]()
        positions = [NO_PLACE] * len(hits)
        for i, hit in enumerate(hits):
            written = read_written(hit.metadata)
            if written is not None and written.lacks_place:
                positions[i] = place_at_page(written.part)
            elif i not in copies:
                rest.append(i)
        read = self._read_together([hits[i] for i in rest])
        for i, position in zip(rest, read, strict=True):
            positions[i] = position
        for i, original in copies.items():
            positions[i] = positions[original]
        return positions

    def _read_together(self, hits: Sequence[Hit]) -> list[Position]:
        """Read hits by the first of these ways that applies to all of them."""
        readers = (
            self._read_written_characters,
            self._read_user_keys,
            self._read_written_numbers,
            self._read_one_scheme,
            read_links,
            self._read_some_and_pages,
        )
        return _read_first(readers, hits)

    def _read_written_characters(self, hits: Sequence[Hit]) -> list[Position] | None:
        """Read the characters that were written on results.

        Raises:
            PositionError: They count from several texts.
        """
        positions = []
        for hit in hits:
            written = read_written(hit.metadata)
            if written is None or not written.has_characters:
                return None
            positions.append(read_position(written, hit.text))
        origins = [Origin(position.part) for position in positions]
        check_origins(origins, hits, RESULT, self.key)
        return positions

    def _read_user_keys(self, hits: Sequence[Hit]) -> list[Position] | None:
        """Read the user's keys, if there are any; a hit without them has no place.

        Raises:
            PositionError: The values cannot be compared with one another.
        """
        if self.position_keys is None:
            return None
        return read_user_positions(hits, self.position_keys, self.key)

    def _read_written_numbers(self, hits: Sequence[Hit]) -> list[Position] | None:
        """Read the numbers that links gave, and that were written on results."""
        numbers = read_written_numbers(hits)
        if numbers is None:
            return None
        parts = read_parts(hits, PART_KEYS)
        if parts is None:
            return None
        return [place_by_link(*row) for row in zip(numbers, parts, strict=True)]

    def _read_one_scheme(self, hits: Sequence[Hit]) -> list[Position] | None:
        """Read the first scheme that all hits follow.

        Raises:
            PositionError: The positions by this scheme count from several texts.
        """
        for scheme in SCHEMES:
            positions = self._read_scheme(scheme, hits)
            if positions is not None:
                return positions
        return None

    def _read_scheme(
        self, scheme: Scheme, hits: Sequence[Hit]
    ) -> list[Position] | None:
        readings = read_scheme(hits, scheme, self.key)
        if readings is None:
            return None
        origins = find_origins(readings, scheme, self.key)
        check_origins(origins, hits, scheme.name, self.key)
        return [reading.to_position() for reading in readings]

    def _read_some_and_pages(self, hits: Sequence[Hit]) -> list[Position]:
        """Read the scheme that some hits follow, and pages; the rest has no place.

        A page for each hit, no two alike, is better than offsets for some of them.
        """
        positions = self._read_some(hits)
        if NO_PLACE in positions:
            pages = read_pages(hits)
            if len({*pages}) == len(hits):
                return pages
        return positions

    def _read_some(self, hits: Sequence[Hit]) -> list[Position]:
        """Read the first scheme that some hits follow; of the others, the pages.

        A result with written characters follows any scheme of characters by these. If
        no other hit follows it, it is not the scheme of this document. The characters
        of results alone come last.
        """
        results = [i for i, hit in enumerate(hits) if _has_characters(hit)]
        for scheme in SCHEMES:
            starts = read_starts(hits, scheme)
            followers = [i for i, start in enumerate(starts) if start is not None]
            if {*followers} <= {*results}:
                continue
            read_by_scheme = partial(self._read_scheme, scheme)
            positions = _read_members(hits, followers, read_by_scheme, scheme.parts)
            if positions is not None:
                return positions
        positions = _read_members(
            hits, results, self._read_written_characters, PART_KEYS
        )
        return read_pages(hits) if positions is None else positions


def _read_first(readers: Sequence[_Reader], hits: Sequence[Hit]) -> list[Position]:
    """Return the positions by the first reader that applies; no places if none does."""
    for read in readers:
        positions = read(hits)
        if positions is not None:
            return positions
    return [NO_PLACE] * len(hits)


def _read_members(
    hits: Sequence[Hit], members: Sequence[int], read: _Reader, part_keys: Sequence[str]
) -> list[Position] | None:
    """Read some of the hits, and the pages of the others.

    Args:
        hits: All of them.
        members: The indices of those to be read.
        read: Reads these.
        part_keys: The keys of the pages that their positions count in.

    Returns:
        The position of each hit; None if there are no members, or they cannot be read.
    """
    if not members:
        return None
    try:
        positions = read([hits[i] for i in members])
    except PositionError:
        return None
    if positions is None:
        return None
    return add_pages(hits, dict(zip(members, positions, strict=True)), part_keys)


def _find_copies(hits: Sequence[Hit]) -> dict[int, int]:
    """Map each hit without a position to the first of its text that has one.

    A result stands for one with a position, even if none was written on it.
    """
    times = Counter([hit.text for hit in hits])
    if len(times) == len(hits):
        return {}
    originals: dict[str, int] = {}
    unplaced = list[int]()
    for i, hit in enumerate(hits):
        if times[hit.text] == 1:
            continue
        if is_result(hit.metadata) or read_known_positions(hit):
            originals.setdefault(hit.text, i)
        else:
            unplaced.append(i)
    copies = {}
    for i in unplaced:
        original = originals.get(hits[i].text)
        if original is not None:
            copies[i] = original
    return copies


def _has_characters(hit: Hit) -> bool:
    written = read_written(hit.metadata)
    return written is not None and written.has_characters
