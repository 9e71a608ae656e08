"""Read the positions of one document's hits from any metadata.

The chunks of a document are read together, because only together do they show whether
a key orders them. The first scheme of `SCHEMES` that *every* one of them carries is
used, so a document never mixes characters with ordinals. If no scheme fits all, one
that some carry orders these, and pages order the rest. Positions that count from
different texts are never compared (`origins.py`).

Four words of this file:

    part     the page, row or record that a position counts in; None for the document
    origin   the text that a position counts from: the document, a part, a section
    frame    the text that the offsets of a LlamaIndex node count from: the document, a
             parent, or unknown (`Hit.frame`)
    result   a chunk that oprag gave before: its key `oprag` says the place that was
             written then, or that there is none, and no other key is read
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from oprag.chunk import Hit, Span
from oprag.errors import OpragError, PositionError
from oprag.metadata import RESULT, as_number
from oprag.positions.errors import (
    report_no_position,
    report_not_comparable,
    report_unscoped,
)
from oprag.positions.keys import (
    CHARACTERS,
    PART_KEYS,
    SCHEMES,
    PositionKeys,
    Scheme,
    has_written_place,
    have_written_numbers,
    is_without_place,
    list_keys,
    read_known_positions,
    read_parts,
    read_recorded_start,
    read_starts,
)
from oprag.positions.linked import read_links
from oprag.positions.origins import (
    Origin,
    are_comparable,
    find_differing_keys,
    find_sections,
    find_texts,
    has_wrong_frame,
)
from oprag.positions.place import Position, read_position
from oprag.positions.user_positions import read_user_position
from oprag.result_key import is_result, read_written

_RESULT_SCHEME = Scheme(RESULT, None, PART_KEYS, characters=True)
"""The characters written on results. They take precedence over every scheme."""
NO_PLACE = Position()


class OneDocument:
    """The hits of one document, to be read together."""

    def __init__(
        self,
        key: str,
        hits: Sequence[Hit],
        ranks: Sequence[int],
        position_keys: PositionKeys | None,
    ) -> None:
        self.key = key
        self.hits = hits
        self.ranks = ranks
        self.position_keys = position_keys
        self.is_linked = False
        """Whether links alone put the hits in order."""

    def read(self, problems: dict[str, OpragError] | None) -> list[Position]:
        """Return the position of each hit; an error is raised or collected."""
        # If all hits have one text, there is nothing to order: no position is needed.
        if all(hit.text == self.hits[0].text for hit in self.hits):
            return [self._read_only_text(hit) for hit in self.hits]
        error: PositionError | None
        try:
            positions = self._read_together()
        except PositionError as raised:
            error, positions = raised, [NO_PLACE] * len(self.hits)
        else:
            error = self._report_unplaced(positions)
        if error is not None:
            if problems is None:
                raise error
            problems.setdefault(self.key, error)
        return positions

    def _read_only_text(self, hit: Hit) -> Position:
        """Return the position of a hit whose text is the document's only one."""
        if is_without_place(hit):
            return NO_PLACE
        if self.position_keys is not None and not has_written_place(hit):
            return self._read_by_user_keys([hit])[0]
        return self._read_some_by_scheme([hit])[0]

    def _read_together(self) -> list[Position]:
        """Return the position of each hit.

        A result without a place gets its page. A hit without a position takes that of a
        hit with the same text.
        """
        twins = self._find_twins()
        remaining, indices = list[Hit](), list[int]()
        positions = [NO_PLACE] * len(self.hits)
        for i, hit in enumerate(self.hits):
            if is_without_place(hit):
                positions[i] = _read_written_page(hit)
            elif i not in twins:
                remaining.append(hit)
                indices.append(i)
        read = self._read_by_first_fit(remaining)
        for i, position in zip(indices, read, strict=True):
            positions[i] = position
        for i, twin in twins.items():
            positions[i] = positions[twin]
        return positions

    def _find_twins(self) -> dict[int, int]:
        """Map each hit without a position to one of the same text that has one."""
        texts = {hit.text for hit in self.hits}
        if self.position_keys is not None or len(texts) == len(self.hits):
            return {}
        of_text: dict[str, list[int]] = {}
        for i, hit in enumerate(self.hits):
            of_text.setdefault(hit.text, []).append(i)
        twins: dict[int, int] = {}
        for same in of_text.values():
            if len(same) > 1:
                twins.update(self._find_twins_of_text(same))
        return twins

    def _find_twins_of_text(self, same: Sequence[int]) -> dict[int, int]:
        known, unknown = list[int](), list[int]()
        for i in same:
            hit = self.hits[i]
            if read_known_positions(hit) or is_result(hit.metadata):
                known.append(i)
            elif not is_without_place(hit):
                unknown.append(i)
        return dict.fromkeys(unknown, known[0]) if known else {}

    def _report_unplaced(self, positions: Sequence[Position]) -> PositionError | None:
        """Return the error for hits without a place; None if each has one."""
        rows = zip(self.hits, self.ranks, positions, strict=True)
        lacking = [(hit, rank) for hit, rank, at in rows if at == NO_PLACE]
        if not lacking:
            return None
        return report_no_position(lacking, self.key, self.position_keys, self.hits)

    def _read_by_first_fit(self, hits: Sequence[Hit]) -> list[Position]:
        """Read the hits by the first of these that applies.

        1. The place written on results, if all are results with one.
        2. The user's keys, if there are any, for those hits that have them.
        3. One scheme that all hits follow.
        4. The links between nodes, if they join all hits.
        5. A scheme that some hits follow, and pages for the rest. If that leaves a hit
           without a place and each hit has another page, the pages alone.
        """
        of_results = all(has_written_place(hit) for hit in hits)
        if self.position_keys is not None and not of_results:
            return self._read_by_user_keys(hits)
        schemes = () if have_written_numbers(hits) else SCHEMES
        for scheme in [_RESULT_SCHEME] if of_results else schemes:
            positions = self._read_by_scheme(hits, scheme)
            if positions is not None:
                return positions
        if (numbered := read_links(hits)) is not None:
            self.is_linked = True
            return numbered
        pages = [place_at_page(part) for part in read_parts(hits, PART_KEYS) or ()]
        some = self._read_some_by_scheme(hits)
        # A page for every hit, no two alike, is better than offsets for some of them.
        if NO_PLACE in some and len({*pages}) == len(hits):
            return pages
        return some

    def _read_by_user_keys(self, hits: Sequence[Hit]) -> list[Position]:
        """Read all by the user's keys.

        Raises:
            PositionError: The values cannot be compared with one another.
        """
        keys = list_keys(self.position_keys or ())
        positions = [_read_by_user(hit, keys) for hit in hits]
        try:
            sorted(at.key for at in positions if at.key is not None)
        except TypeError:
            values = [at.key for at in positions]
            raise report_not_comparable(self.key, values, self.position_keys) from None
        return positions

    def _read_by_scheme(
        self, hits: Sequence[Hit], scheme: Scheme
    ) -> list[Position] | None:
        """Read by one scheme; None unless all hits follow it.

        Raises:
            PositionError: The positions count from several texts.
        """
        numbers = read_starts(hits, scheme)
        starts = [number for number in numbers if number is not None]
        if len(starts) < len(hits):
            return None
        parts = read_parts(hits, scheme.parts)
        if parts is None:
            are_of_one_text = all(hit.document == self.key for hit in hits)
            if not scheme.is_framework_offsets or not are_of_one_text:
                return None
            parts = [None] * len(hits)
        origins = self._find_origins(hits, scheme, starts, parts)
        if not are_comparable(origins):
            raise self._report_origins(hits, scheme, origins)
        rows = zip(hits, starts, parts, strict=True)
        return [_read_position(hit, scheme, start, part) for hit, start, part in rows]

    def _find_origins(
        self,
        hits: Sequence[Hit],
        scheme: Scheme,
        starts: Sequence[int],
        parts: Sequence[int | None],
    ) -> list[Origin]:
        """Return the text that each position counts from."""
        if scheme.start == "start_index":
            # If a document was cut into sections first, LangChain's splitters start
            # again at 0 in each of them.
            origins = find_sections(hits, starts, parts)
        elif scheme.is_framework_offsets:
            # LlamaIndex's offsets count from the node's source, which may be a parent.
            origins = self._find_origins_of_offsets(hits, starts, parts)
        elif scheme.characters or any(hit.document == self.key for hit in hits):
            of_part = {part: Origin(part) for part in {*parts}}
            origins = [of_part[part] for part in parts]
        else:
            # Counted chunks of one name may be of several texts, each counted from 0.
            texts = find_texts(hits, starts, parts, characters=False)
            origins = [Origin(*each) for each in zip(parts, texts, strict=True)]
        if scheme.characters:
            # A result has the characters that were written on it. If its original key
            # holds another number, that key counted from another text, and these
            # characters count from the part.
            for i, hit in enumerate(hits):
                if (
                    has_written_place(hit)
                    and read_recorded_start(hit, scheme) != starts[i]
                ):
                    origins[i] = Origin(parts[i], origins[i].text)
        return origins

    def _find_origins_of_offsets(
        self, hits: Sequence[Hit], starts: Sequence[int], parts: Sequence[int | None]
    ) -> list[Origin]:
        """Return the origins of framework offsets.

        The offsets of a part are not known to be its own if its last chunk shows that
        they count from another text (`has_wrong_frame`).
        """
        of_part: dict[int | None, list[tuple[str, int]]] = {}
        for hit, start, part in zip(hits, starts, parts, strict=True):
            if not has_written_place(hit):
                of_part.setdefault(part, []).append((hit.frame, start))
        wrong = {part for part, frames in of_part.items() if has_wrong_frame(frames)}
        texts = find_texts(hits, starts, parts)
        return [
            Origin(part, text, part not in wrong)
            for part, text in zip(parts, texts, strict=True)
        ]

    def _report_origins(
        self, hits: Sequence[Hit], scheme: Scheme, origins: Sequence[Origin]
    ) -> PositionError:
        key = scheme.start or "start_char_idx"
        keys = find_differing_keys(hits)
        if not all(origin.is_known for origin in origins):
            origin = "a parent or an intermediate text"
        elif {each.number is None for each in origins} == {True, False}:
            origin = "the document on some chunks, and of its pages on others"
        else:
            differing = ", ".join(keys) or "their framework documents"
            origin = f"one of several texts (the chunks differ in {differing})"
        return report_unscoped(self.key, key, origin, keys or (key,))

    def _read_some_by_scheme(self, hits: Sequence[Hit]) -> list[Position]:
        """Read by the first scheme that any hit follows; others by their pages."""
        for scheme in (*SCHEMES, _RESULT_SCHEME):
            starts = read_starts(hits, scheme)
            following = [
                hit for hit, at in zip(hits, starts, strict=True) if at is not None
            ]
            # If only results follow this scheme, it is not theirs: `_RESULT_SCHEME`
            # comes last.
            if not following or (
                scheme != _RESULT_SCHEME and all(map(has_written_place, following))
            ):
                continue
            try:
                positions = self._read_by_scheme(following, scheme)
            except PositionError:
                continue
            if positions is not None:
                return _add_pages(hits, starts, positions, scheme)
        parts = read_parts(hits, PART_KEYS) or [None] * len(hits)
        return [place_at_page(part) for part in parts]


def _add_pages(
    hits: Sequence[Hit],
    starts: Sequence[int | None],
    read: Sequence[Position],
    scheme: Scheme,
) -> list[Position]:
    """Add the pages of chunks without an offset to the positions of those with one.

    A chunk without an offset, such as a table, is put at the beginning of its page. It
    must be the only such text there, and no chunk with an offset may be of the same
    framework document. All others have no place.

    Args:
        hits: All of them.
        starts: The offset of each hit by the scheme; None if it has none.
        read: The positions of the hits that have an offset.
        scheme: The one that these follow.
    """
    parts = read_parts(hits, scheme.parts) or [None] * len(hits)
    rows = [*zip(parts, hits, starts, strict=True)]
    with_offset = {
        (part, hit.document) for part, hit, start in rows if start is not None
    }
    without = {(part, hit.text) for part, hit, start in rows if start is None}
    texts_without = Counter(part for part, _ in without)
    # If not, the pages of these hits were read from another key than those in `read`.
    parts_agree = {part for part, _ in with_offset} == {each.part for each in read}
    positions, following = list[Position](), iter(read)
    for part, hit, start in rows:
        is_cut_up = (part, hit.document) in with_offset
        if start is not None:
            positions.append(next(following))
        elif parts_agree and texts_without[part] == 1 and not is_cut_up:
            positions.append(place_at_page(part))
        else:
            positions.append(NO_PLACE)
    return positions


def _read_written_page(hit: Hit) -> Position:
    """Return the page of a result that has no place written on it."""
    written = read_written(hit.metadata)
    return NO_PLACE if written is None else place_at_page(written.part)


def place_at_page(part: int | None) -> Position:
    """Return the beginning of a page or another part; no place without one."""
    return NO_PLACE if part is None else Position((part,), None, part)


def _read_position(hit: Hit, scheme: Scheme, start: int, part: int | None) -> Position:
    """Read one position; without an end if the recorded end disagrees."""
    written = read_written(hit.metadata)
    if scheme.characters and written is not None and written.spans:
        return read_position(written, hit.text)
    if not scheme.characters:
        return Position((part or 0, start), None, part)
    end = start + len(hit.text)
    recorded: Any = None
    if scheme.end is not None:
        recorded = hit.metadata.get(scheme.end)
    elif scheme.is_framework_offsets and hit.offsets is not None:
        recorded = hit.offsets[1]
    if recorded is not None and recorded != end and as_number(recorded) != end:
        end = start
    return Position((part or 0, start, end), Span(start, end), part)


def _read_by_user(hit: Hit, keys: Sequence[Any]) -> Position:
    """Read one position by the user's keys.

    If the last key counts characters, a number before it is the part of these.
    """
    written = read_written(hit.metadata)
    if keys[-1] in CHARACTERS and written is not None and written.spans:
        return read_position(written, hit.text)
    key = read_user_position(hit, keys)
    if not key:
        return NO_PLACE
    *scope, start = key
    is_character = keys[-1] in CHARACTERS and all(type(each) is int for each in key)
    if not is_character or len(scope) > 1 or start < 0:
        return Position(key)
    span = Span(start, start)
    return Position((*key, start), span, scope[0] if scope else None)
