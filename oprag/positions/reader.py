"""Read each chunk's position in its document from any metadata.

The chunks of a document are read together, because only together do they show whether
a key orders them: the first scheme of `SCHEMES` that *every* one of them carries is
used, so a document never mixes characters with ordinals. Where none fits all, one that
some carry orders these, and pages the rest. Positions that count from different texts
are never compared (`origins.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from oprag.chunk import ChainedPlace, Chunk, Hit, Proof, Span
from oprag.errors import OpragError, PositionError
from oprag.metadata import RESULT, as_number
from oprag.positions.errors import (
    report_no_position,
    report_not_comparable,
    report_unscoped,
)
from oprag.positions.identity import Identity, counts_from_parent
from oprag.positions.keys import (
    CHARACTERS,
    PART_KEYS,
    SCHEMES,
    PositionKeys,
    Scheme,
    list_keys,
    read_known_positions,
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
from oprag.positions.place import Position, is_unfit, read_position, read_proof
from oprag.positions.scheme_values import (
    is_marked,
    is_placed,
    read_parts,
    read_recorded_start,
    read_starts,
)
from oprag.positions.user_positions import read_user_position
from oprag.result_key import is_result, is_unchanged, read_written

_WRITTEN = Scheme(RESULT, None, PART_KEYS, characters=True)
"""The characters of results: they stand for those of every scheme."""


_NOWHERE = Position()


def read_chunks(
    hits: Sequence[Hit],
    documents: Sequence[Identity],
    *,
    position_keys: PositionKeys | None = None,
    problems: dict[str, OpragError] | None = None,
) -> list[Chunk]:
    """Turn hits into chunks that know their place.

    Args:
        hits: Best first; the index becomes the rank.
        documents: The document of each hit, as `identify_documents` gives it; as many
            as hits.
        position_keys: Where the user keeps the position; None for the known
            schemes. A user's key is trusted: it is not searched for sections, and
            says where a chunk begins, not where it ends.
        problems: If given, errors go here by document key and are not raised. Chunks
            without a usable position then get None; where the offsets of a document
            count from several texts, all of its chunks do.

    Returns:
        One chunk per hit, in the same order. A document's only text needs no position:
        without one it gets None. Where the end is unknown, or does not match the length
        of the text, the span is empty and marks the start. Where the offsets count from
        a parent (`counts_from_parent`), or the text is a window around its sentence,
        they are not `scoped`.

    Raises:
        MissingPositionError: A chunk has no usable position.
        PositionError: The positions count from several sections or parents, or cannot
            be compared.
    """
    groups: dict[str, list[int]] = {}
    for rank, identity in enumerate(documents):
        groups.setdefault(identity.key, []).append(rank)
    positions = [_NOWHERE] * len(hits)
    linked = set[int]()
    for key, ranks in groups.items():
        if all(hits[rank].chained is not None for rank in ranks):
            for rank in ranks:
                positions[rank] = _read_chained(hits[rank].chained)
            continue
        document = _Document(key, [hits[rank] for rank in ranks], ranks, position_keys)
        for rank, position in zip(ranks, document.read(problems), strict=True):
            positions[rank] = position
        linked.update(ranks if document.is_linked else ())
    return [
        _make_chunk(rank, hit, document, positions[rank], is_linked=rank in linked)
        for rank, (hit, document) in enumerate(zip(hits, documents, strict=True))
    ]


def _make_chunk(
    rank: int, hit: Hit, document: Identity, position: Position, *, is_linked: bool
) -> Chunk:
    metadata = hit.metadata
    # Hundreds per query: positional arguments are faster.
    chunk = Chunk(
        hit.text,
        document.key,
        rank,
        *position,
        hit.score,
        document.name,
        metadata,
        hit.source,
        "chained" if is_linked else read_proof(metadata, hit.text, position.span),
        derived=document.derived,
    )
    if document.shared_name is not None:
        chunk = chunk._replace(shared_name=document.shared_name)
    if hit.chained is not None:
        is_proved = position.span is not None or hit.chained.number is not None
        proof: Proof = "chained" if is_proved else "none"
        among = hit.chained.among
        return chunk._replace(proof=proof, scoped=hit.chained.scoped, among=among)
    of_parent = counts_from_parent(hit) and metadata["doc_id"] != document.name
    if of_parent or _is_window(hit):
        chunk = chunk._replace(scoped=False)
    written = read_written(metadata)
    if written is None:
        return chunk
    if position.key is not None and is_marked(hit):
        chunk = chunk._replace(problem=written.problem, among=written.among)
    return chunk._replace(verbatim=False) if is_unfit(written) else chunk


def _read_chained(place: ChainedPlace | None) -> Position:
    """Read the place that other chunks prove; of an unproved one the part alone."""
    if place is not None and place.number is not None:
        return Position((place.part or 0, place.number), None, place.part)
    if place is None or place.span is None:
        return _place_at_page(place and place.part)
    return Position((place.part or 0, *place.span), place.span, place.part)


def _is_window(hit: Hit) -> bool:
    """Return whether a text was put in the place of the sentence of its offsets."""
    sentence = hit.metadata.get("original_text")
    is_other = isinstance(sentence, str) and sentence not in {"", hit.text}
    return is_other and not is_unchanged(hit.metadata, hit.text)


class _Document:
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
        if all(hit.text == self.hits[0].text for hit in self.hits):
            return [self._read_alone(hit) for hit in self.hits]
        error: PositionError | None
        try:
            positions = self._read_together()
        except PositionError as raised:
            error, positions = raised, [_NOWHERE] * len(self.hits)
        else:
            error = self._find_lacking(positions)
        if error is not None:
            if problems is None:
                raise error
            problems.setdefault(self.key, error)
        return positions

    def _read_alone(self, hit: Hit) -> Position:
        """Read a document's only text, which needs no position."""
        if is_marked(hit):
            return _NOWHERE
        if self.position_keys is not None and not is_placed(hit):
            return self._read_named([hit])[0]
        return self._read_some([hit])[0]

    def _read_together(self) -> list[Position]:
        """Read the hits but for those that oprag said have no place.

        A text without any position that came again with one is that chunk.
        """
        twins = self._find_twins()
        hits, numbers = list[Hit](), list[int]()
        positions = [_NOWHERE] * len(self.hits)
        for i, hit in enumerate(self.hits):
            if is_marked(hit):
                positions[i] = _read_marked(hit)
            elif i not in twins:
                hits.append(hit)
                numbers.append(i)
        for i, position in zip(numbers, self._read_all(hits), strict=True):
            positions[i] = position
        for i, twin in twins.items():
            positions[i] = positions[twin]
        return positions

    def _find_twins(self) -> dict[int, int]:
        """Return the hits without any position, and those of the same text with one."""
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
            elif not is_marked(hit):
                unknown.append(i)
        return dict.fromkeys(unknown, known[0]) if known else {}

    def _find_lacking(self, positions: Sequence[Position]) -> PositionError | None:
        rows = zip(self.hits, self.ranks, positions, strict=True)
        lacking = [(hit, rank) for hit, rank, at in rows if at == _NOWHERE]
        if not lacking:
            return None
        return report_no_position(lacking, self.key, self.position_keys, self.hits)

    def _read_all(self, hits: Sequence[Hit]) -> list[Position]:
        """Read all by one scheme; else by pages if each hit has another; else both."""
        if all(is_placed(hit) for hit in hits):
            return self._read_by(hits, _WRITTEN) or []
        if self.position_keys is not None:
            return self._read_named(hits)
        for scheme in SCHEMES:
            positions = self._read_by(hits, scheme)
            if positions is not None:
                return positions
        if (numbered := read_links(hits)) is not None:
            self.is_linked = True
            return numbered
        pages = [_place_at_page(part) for part in read_parts(hits, PART_KEYS) or ()]
        some = self._read_some(hits)
        if _NOWHERE in some and len({*pages}) == len(hits):
            return pages
        return some

    def _read_named(self, hits: Sequence[Hit]) -> list[Position]:
        """Read by the user's keys; a number before the offset is the offset's part."""
        keys = list_keys(self.position_keys or ())
        positions = [_read_by_user(hit, keys) for hit in hits]
        try:
            sorted(at.key for at in positions if at.key is not None)
        except TypeError:
            values = [at.key for at in positions]
            raise report_not_comparable(self.key, values, self.position_keys) from None
        return positions

    def _read_by(self, hits: Sequence[Hit], scheme: Scheme) -> list[Position] | None:
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
            if scheme.start or any(hit.document != self.key for hit in hits):
                return None
            parts = [None] * len(hits)  # offsets in the one text that all are of
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
            origins = find_sections(hits, starts, parts)
        elif not scheme.start:
            origins = self._find_frames(hits, starts, parts)
        elif scheme.characters or any(hit.document == self.key for hit in hits):
            of_part = {part: Origin(part) for part in {*parts}}
            origins = [of_part[part] for part in parts]
        else:
            texts = find_texts(hits, starts, parts, characters=False)
            origins = [Origin(*each) for each in zip(parts, texts, strict=True)]
        if scheme.characters:
            for i, hit in enumerate(hits):
                if is_placed(hit) and read_recorded_start(hit, scheme) != starts[i]:
                    origins[i] = Origin(parts[i], origins[i].text)
        return origins

    def _find_frames(
        self, hits: Sequence[Hit], starts: Sequence[int], parts: Sequence[int | None]
    ) -> list[Origin]:
        """Return the origins of framework offsets; each part has its own last chunk."""
        of_part: dict[int | None, list[tuple[str, int]]] = {}
        for hit, start, part in zip(hits, starts, parts, strict=True):
            if not is_placed(hit):
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

    def _read_some(self, hits: Sequence[Hit]) -> list[Position]:
        """Read by the first scheme that any hit follows; others by their pages."""
        for scheme in (*SCHEMES, _WRITTEN):
            starts = read_starts(hits, scheme)
            there = [
                hit for hit, at in zip(hits, starts, strict=True) if at is not None
            ]
            if not there or (scheme != _WRITTEN and all(map(is_placed, there))):
                continue
            try:
                read = self._read_by(there, scheme)
            except PositionError:
                continue
            if read is not None:
                return _add_pages(hits, starts, read, scheme)
        parts = read_parts(hits, PART_KEYS) or [None] * len(hits)
        return [_place_at_page(part) for part in parts]


def _add_pages(
    hits: Sequence[Hit],
    starts: Sequence[int | None],
    read: Sequence[Position],
    scheme: Scheme,
) -> list[Position]:
    """Add the pages of chunks that do not follow a scheme to the positions by it.

    A table without offsets is at the beginning of its page, if no other chunk without
    them is there, nor one with them that was cut out of the same text.
    """
    parts = read_parts(hits, scheme.parts) or [None] * len(hits)
    rows = [*zip(parts, hits, starts, strict=True)]
    cut_up = {(part, hit.document) for part, hit, start in rows if start is not None}
    same_key = {part for part, _ in cut_up} == {position.part for position in read}
    others = {(part, hit.text) for part, hit, start in rows if start is None}
    number = Counter(part for part, _ in others)
    positions, following = list[Position](), iter(read)
    for part, hit, start in rows:
        alone = number[part] == 1 and (part, hit.document) not in cut_up
        if start is not None:
            positions.append(next(following))
        elif same_key and alone:
            positions.append(_place_at_page(part))
        else:
            positions.append(_NOWHERE)
    return positions


def _read_marked(hit: Hit) -> Position:
    """Read the page of a result that oprag said has no place on it."""
    written = read_written(hit.metadata)
    return _NOWHERE if written is None else _place_at_page(written.part)


def _place_at_page(part: int | None) -> Position:
    return _NOWHERE if part is None else Position((part,), None, part)


def _read_position(hit: Hit, scheme: Scheme, start: int, part: int | None) -> Position:
    """Read one position; without an end where the recorded one disagrees."""
    written = read_written(hit.metadata)
    if scheme.characters and written is not None and written.spans:
        return read_position(written, hit.text)
    if not scheme.characters:
        return Position((part or 0, start), None, part)
    end = start + len(hit.text)
    recorded: Any = None
    if scheme.end is not None:
        recorded = hit.metadata.get(scheme.end)
    elif not scheme.start and hit.offsets is not None:
        recorded = hit.offsets[1]
    if recorded is not None and recorded != end and as_number(recorded) != end:
        end = start
    return Position((part or 0, start, end), Span(start, end), part)


def _read_by_user(hit: Hit, keys: Sequence[Any]) -> Position:
    """Read by the user's keys; a number before the offset is the offset's part."""
    written = read_written(hit.metadata)
    if keys[-1] in CHARACTERS and written is not None and written.spans:
        return read_position(written, hit.text)
    key = read_user_position(hit, keys)
    if not key:
        return _NOWHERE
    *scope, start = key
    is_character = keys[-1] in CHARACTERS and all(type(each) is int for each in key)
    if not is_character or len(scope) > 1 or start < 0:
        return Position(key)
    span = Span(start, start)
    return Position((*key, start), span, scope[0] if scope else None)
