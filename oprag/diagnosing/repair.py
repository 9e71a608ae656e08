"""Repairs: they write proved positions, and nothing else.

Every chunk of a known document gets the document's key and name, so that a document
stays one. `char_start` and `char_end` are written if the source proves them.
`chunk_index`, `n_chunks` and the length and hash of the text are written if the chunks
cover the source without a gap, since then all are known to be there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from oprag.chunk import FullText, Hit, Span
from oprag.diagnosing.proofs import ProvedDocument, prove
from oprag.diagnosing.sources import Sources
from oprag.diagnosing.wholeness import find_misplaced
from oprag.documents import rebuild, replace_positions
from oprag.errors import OpragError
from oprag.locating import squeeze
from oprag.metadata import (
    CHAR_END,
    CHAR_START,
    CHUNK_INDEX,
    DOC_KEY,
    DOC_URI,
    DOC_VERSION,
    N_CHUNKS,
    PART_INDEX,
    TEXT_HASH,
    TEXT_LENGTH,
    as_number,
    document_key,
    drop_reserved_keys,
    span_stamp,
    text_stamp,
    version_of_hashes,
    version_text,
)
from oprag.positions import PART_KEYS, PositionKeys
from oprag.stores import NODE_CONTENT, make_hit, rewrite_node

_ROUNDS = 5
"""The most plans for one repair; the second one is usually empty."""

_UNPROVED = frozenset({"ambiguous", "not_found", "blank"})


class Change(NamedTuple):
    """The change of a repair to one chunk."""

    id: str
    """The store's id of the chunk."""
    document: str
    """Name of its document."""
    metadata: Mapping[str, Any]
    """The chunk's metadata that the store has now."""
    update: Mapping[str, Any]
    """Keys to set; None for those to remove."""

    @property
    def leaves_page(self) -> bool:
        """Whether a chunk that names its page will be cited by its file alone."""
        written = self.update.get(CHAR_START) is not None
        has_page = any(self.metadata.get(key) is not None for key in PART_KEYS)
        part = {**self.metadata, **self.update}.get(PART_INDEX)
        return written and has_page and part is None


def plan_changes(
    name: str,
    chunks: Sequence[Hit],
    sources: Sources,
    position_keys: PositionKeys | None,
    *,
    damaged: bool,
) -> tuple[list[Change], dict[int, str]]:
    """Plan the repair of one document until nothing is left to plan.

    A plan that is written may prove more places, or show more to be false. For example,
    a chunk that no longer counts from the start of a page is compared with the whole
    text.

    Returns:
        The changes to write. And the reason for each chunk without a proved place, or
        without its change, by its number among `chunks`.
    """
    now = list(chunks)
    why: dict[int, str] = {}
    texts: set[str] = set()
    for number in range(_ROUNDS):
        proved = prove(name, now, sources, position_keys)
        if not number:
            texts = {squeeze(document.source) for document in proved}
            why = {
                i: "other_source" if document.foreign else verdict
                for document in proved
                for i, verdict in zip(document.members, document.verdicts, strict=True)
                if verdict in _UNPROVED
            }
        planned = list(_renewals(name, now, proved))
        for i, stored in planned:
            now[i] = make_hit(now[i].source._replace(metadata=stored))
        if not planned:
            break
    updates = {
        i: update
        for i, (old, new) in enumerate(zip(chunks, now, strict=True))
        if (update := _difference(old.source.metadata, new.source.metadata))
    }
    if updates and _is_harmed(name, chunks, now, texts, damaged=damaged):
        return [], {**dict.fromkeys(updates, "damaged"), **why}
    changes = [
        Change(chunks[i].source.id, name, chunks[i].source.metadata, update)
        for i, update in updates.items()
    ]
    return changes, why


def _is_harmed(
    name: str,
    before: Sequence[Hit],
    after: Sequence[Hit],
    texts: set[str],
    *,
    damaged: bool,
) -> bool:
    """Return whether a repair harms a document that is damaged, or has its text's hash.

    It does no harm if the text can be read after the repair as before it, or then
    equals the source. Otherwise the places may fit a text that was cut, and not the
    text that was indexed.
    """
    stamped = any(TEXT_HASH in chunk.metadata for chunk in before)
    if not (damaged or stamped):
        return False
    old, new = _rebuild_text(name, before), _rebuild_text(name, after)
    if new is None or new == old:
        return new is None
    worse = old is not None and old.exact > new.exact
    return worse or squeeze(new.text) not in texts


def _rebuild_text(name: str, chunks: Sequence[Hit]) -> FullText | None:
    stored = [chunk.source for chunk in chunks]
    try:
        return rebuild(name, stored, exact=False, warns=False)
    except OpragError:
        return None


def _renewals(
    name: str, chunks: Sequence[Hit], proved: Sequence[ProvedDocument]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield numbers of chunks, and the metadata that a store is to keep of them.

    Chunks that are right already are left out, and those whose source seems to be
    another text. So are chunks without a version beside others that have one, which
    oprag indexed.
    """
    versioned = {
        DOC_VERSION in chunks[document.members[0]].metadata for document in proved
    }
    for document in proved:
        known = DOC_VERSION in chunks[document.members[0]].metadata
        if document.foreign or (True in versioned and not known):
            continue
        for i, stored in _renew_version(name, chunks, document):
            if stored != chunks[i].source.metadata:
                yield i, stored


def _renew_version(
    name: str, chunks: Sequence[Hit], document: ProvedDocument
) -> Iterator[tuple[int, dict[str, Any]]]:
    group = [chunks[i] for i in document.members]
    names = {DOC_KEY: document_key(name), DOC_URI: name}
    if (full := _rebuild_text(name, group)) is not None:
        # Its own hash proves that this text is whole. If the source differs, it was
        # changed since. If it does not, places count from the start of a page.
        places = _correct_places(full, group, document)
        for at, (i, chunk) in enumerate(zip(document.members, group, strict=True)):
            span = places.get(at)
            renew = partial(_rename, names=names, span=span)
            yield i, _write_stored(chunk, renew, span)
        return
    order = document.placement.order
    numbers = {at: number for number, at in enumerate(order or ())}
    keep = order is None and _numbers_agree(group, document)
    one_source = len({chunk.document for chunk in group}) == 1
    for at in order or range(len(group)):
        entry: dict[str, str | int] = {**names}
        if order is not None:
            entry[CHUNK_INDEX], entry[N_CHUNKS] = numbers[at], len(group)
        if numbers.get(at) == 0:
            entry |= _stamp(group, document)
        span = document.placement.locations[at].span
        offsets: tuple[int | None, int | None] | None = span if one_source else None
        if span is not None:
            entry |= span_stamp(document.source, span, group[at].text)
        gone = span is None and document.holds[at] is False
        if gone:
            offsets = (None, None)
        renew = partial(_renew, entry=entry, keep=keep, gone=gone)
        yield document.members[at], _write_stored(group[at], renew, offsets)


def _correct_places(
    full: FullText, group: Sequence[Hit], document: ProvedDocument
) -> dict[int, Span]:
    """Return the right places of chunks that are recorded at wrong ones.

    Returns:
        The places by number in the group. Empty if the text is not that of the source,
        or if characters count from the start of a page.
    """
    if full.pages or full.text != document.source or document.placement.order is None:
        return {}
    stored = [chunk.source for chunk in group]
    locations = document.placement.locations
    return {
        at: span
        for at, _ in find_misplaced(full, stored)
        if (span := locations[at].span) is not None
    }


def _stamp(group: Sequence[Hit], document: ProvedDocument) -> dict[str, str | int]:
    """Return length and hash of the source, if the first chunk lacks them.

    If a version was recorded, it has to be of that text.
    """
    order = document.placement.order or []
    spans = [document.placement.locations[i].span for i in order]
    exact, reach = True, 0
    for i, place in zip(order, spans, strict=True):
        span = place or Span(0, 0)
        text = document.source[span.start : span.end]
        exact = exact and span.start <= reach and text == group[i].text
        reach = max(reach, span.end)
    exact = exact and reach == len(document.source)
    stamp = text_stamp(document.source, exact=exact)
    first = group[order[0]].metadata
    recorded = version_text(first.get(DOC_VERSION))
    if recorded not in ("", version_of_hashes([str(stamp[TEXT_HASH])])):
        return {}
    unmoved = tuple(map(first.get, (CHAR_START, CHAR_END))) == spans[0]
    has_it = all(first.get(key) == stamp[key] for key in (TEXT_LENGTH, TEXT_HASH))
    return {} if has_it and unmoved else stamp


def _numbers_agree(group: Sequence[Hit], document: ProvedDocument) -> bool:
    """Return whether the chunk numbers that are there follow the proved places."""
    numbered = sorted(
        (number, location.span)
        for chunk, location in zip(group, document.placement.locations, strict=True)
        if location.span is not None
        and (number := as_number(chunk.metadata.get(CHUNK_INDEX))) is not None
    )
    return all(
        first[0] < second[0] and first[1] <= second[1]
        for first, second in pairwise(numbered)
    )


def _write_stored(
    chunk: Hit,
    renew: Callable[[Mapping[str, Any]], dict[str, Any]],
    offsets: tuple[int | None, int | None] | None,
) -> dict[str, Any]:
    """Return a chunk's metadata renewed, and those of its LlamaIndex node as well."""
    kept = chunk.source.metadata
    stored = renew(kept)
    content = kept.get(NODE_CONTENT)
    if kept is not chunk.metadata and isinstance(content, str):
        node = renew(chunk.metadata)
        text = rewrite_node(content, node, offsets)
        if json.loads(text) != json.loads(content):
            stored[NODE_CONTENT] = text
    return stored


def _rename(
    metadata: Mapping[str, Any], *, names: Mapping[str, str], span: Span | None
) -> dict[str, Any]:
    """Return metadata with the document's name and a place, for an unchanged text."""
    renewed = {**drop_reserved_keys(metadata), **names}
    if span is not None:
        renewed[CHAR_START], renewed[CHAR_END] = span
        if "start_index" in renewed:
            renewed["start_index"] = span.start
    return renewed


def _renew(
    metadata: Mapping[str, Any],
    *,
    entry: Mapping[str, str | int],
    keep: bool,
    gone: bool,
) -> dict[str, Any]:
    if CHAR_START not in entry and not gone and CHUNK_INDEX not in entry:
        return {**drop_reserved_keys(metadata), **entry}
    renewed = replace_positions(metadata, entry)
    if any(key in metadata for key in PART_KEYS):
        # It counted from the start of a part, and that of other chunks still may.
        renewed.pop("start_index", None)
    numbers = (CHUNK_INDEX, N_CHUNKS) if keep else ()
    return renewed | {key: metadata[key] for key in numbers if key in metadata}


def _difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries to set, None for those to remove, to turn `old` into `new`."""
    changed = {k: v for k, v in new.items() if k not in old or old[k] != v}
    return {**changed, **dict.fromkeys(key for key in old if key not in new)}
