"""Find retrieved chunks without a true place in the full texts of their documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from oprag.chunk import Chunk, FullText, Span
from oprag.context.headed_places import find_under_headings
from oprag.errors import OpragError
from oprag.locating import Location, place_some, starts_of
from oprag.metadata import CHUNK_INDEX, DOC_KEY, N_CHUNKS, as_number
from oprag.ordering import group_by_document
from oprag.positions import drop_place, report_not_located
from oprag.result_key import read_written
from oprag.splitting import parts_named

FindText: TypeAlias = Callable[[str], FullText | None]


def locate_hits(
    chunks: Sequence[Chunk],
    full_text: FindText,
    problems: dict[str, OpragError],
    *,
    compared: bool = True,
    recorded: Mapping[int, Span | None] = MappingProxyType({}),
) -> list[Chunk]:
    """Give chunks the places that their full texts prove.

    The chunks of a document stay unchanged if none lacks a place or contradicts
    another, and the text has each at its place. Else each is looked for in the text, or
    in that of its page if the text has pages that the chunks name.

    Args:
        chunks: The chunks as read and checked, in any order.
        full_text: Exact full texts by document name; None if there is none.
        problems: The errors of documents, by their keys. Changed: documents that are
            proved are left out, and those that cannot be proved are put in.
        compared: Whether the places of documents without a problem are compared with
            their text; else these texts are not asked for.
        recorded: The places that chunks named, by rank, before these were doubted.

    Returns:
        The chunks in the order of the input. Those that could not be proved have no
        place; white space without a certain place is left out.
    """
    found: dict[int, Chunk] = {}
    for document, members in group_by_document(chunks).items():
        placed = members
        if members[0].document_name and (compared or document in problems):
            placed = _place_document(members, full_text, problems, recorded)
        found.update((chunk.rank, chunk) for chunk in placed)
    return [found[chunk.rank] for chunk in chunks if chunk.rank in found]


def _place_document(
    chunks: list[Chunk],
    full_text: FindText,
    problems: dict[str, OpragError],
    doubted: Mapping[int, Span | None],
) -> list[Chunk]:
    """Place the chunks of one document, in the order of the input."""
    document = chunks[0].document_key
    without = [(chunk, "") for chunk in chunks if chunk.position is None]
    uris = dict.fromkeys(chunk.text_id for chunk in chunks)
    full = next(filter(None, map(full_text, uris)), None)
    if full is None:
        if without and len(chunks) > 1:
            problems[document] = report_not_located(chunks, without, known=False)
        return chunks
    source = full.text
    chunks = [
        _compare_with_source(chunk, source) for chunk in _place_on_pages(full, chunks)
    ]
    written = [_is_written(chunk, source) for chunk in chunks]
    if all(written) and not without:
        return _set_pages(chunks, full)
    texts = [chunk.text for chunk in chunks]
    recorded = [_find_recorded_span(chunk, doubted) for chunk in chunks]
    locations = place_some(source, texts, _sort_by_number(chunks), recorded)
    _keep_white_space(source, texts, recorded, locations)
    _find_on_pages(full, chunks, locations)
    _find_by_parents(source, chunks, locations)
    find_under_headings(source, chunks, locations)
    placed = [
        _apply_location(chunk, location, source, is_right=is_right)
        for chunk, location, is_right in zip(chunks, locations, written, strict=True)
    ]
    unproved = [
        (chunk, location.status)
        for chunk, location, at in zip(chunks, locations, placed, strict=True)
        if at.span is None and location.status != "blank"
    ]
    problems.pop(document, None)
    if unproved and len(chunks) > 1:
        problems[document] = report_not_located(chunks, unproved, known=True)
    elif unproved and chunks[0].span is None:
        return chunks  # it needs no place
    if all(location.status == "blank" for location in locations):
        return chunks  # there is nothing that they could stand between
    return _set_pages(_drop_lost_white_space(placed, locations), full)


def _find_recorded_span(
    chunk: Chunk, doubted: Mapping[int, Span | None]
) -> Span | None:
    """Return the place in the document that a chunk names, doubted or not."""
    if chunk.part is not None:
        return None
    return chunk.span or doubted.get(chunk.rank)


def _keep_white_space(
    source: str,
    texts: Sequence[str],
    recorded: Sequence[Span | None],
    locations: list[Location],
) -> None:
    """Place white space at its recorded place, if the text has it there.

    It cannot be looked for: a text has it everywhere.
    """
    for i, span in enumerate(recorded):
        is_there = span is not None and source[slice(*span)] == texts[i]
        if locations[i].status == "blank" and is_there:
            locations[i] = Location(span, "exact")


def _drop_lost_white_space(
    chunks: list[Chunk], locations: Sequence[Location]
) -> list[Chunk]:
    """Leave out white space without a place.

    Its place among the others is not known, and it says nothing.
    """
    pairs = zip(chunks, locations, strict=True)
    return [
        chunk
        for chunk, location in pairs
        if chunk.span is not None or location.status != "blank"
    ]


def _set_pages(chunks: list[Chunk], full: FullText) -> list[Chunk]:
    """Give chunks the pages that their full text has, or none if it has none.

    Chunks that have no known place in it stay unchanged.
    """
    spans = [span for _, span in full.pages]
    pages = tuple(zip(full.page_names(), spans, strict=True)) or None
    paged = []
    for chunk in chunks:
        in_document = chunk.span is not None and chunk.part is None
        paged.append(chunk._replace(pages=pages, scoped=True) if in_document else chunk)
    return paged


def _find_on_pages(
    full: FullText, chunks: Sequence[Chunk], locations: list[Location]
) -> None:
    """Place chunks that the text has several times, and the page that they name once.

    Place none if a chunk is on another page than it names: then no page is believed.
    """
    if all(location.status != "ambiguous" for location in locations):
        return
    spans = _pages_of(full, chunks)
    for span, location in zip(spans, locations, strict=True):
        found = location.span
        if span and found and not span[0] <= found[0] <= found[1] <= span[1]:
            return
    for page in dict.fromkeys(span for span in spans if span):
        members = [i for i, span in enumerate(spans) if span == page]
        on_page = [chunks[i] for i in members]
        texts = [chunk.text for chunk in on_page]
        recorded = [None if c.part is None else c.span for c in on_page]
        on_it = full.text[slice(*page)]
        found_there = place_some(on_it, texts, _sort_by_number(on_page), recorded)
        for i, (span, status) in zip(members, found_there, strict=True):
            if locations[i].status == "ambiguous" and span is not None:
                moved = Span(page.start + span[0], page.start + span[1])
                locations[i] = Location(moved, status)


def _find_by_parents(
    source: str, chunks: Sequence[Chunk], locations: list[Location]
) -> None:
    """Place chunks that the text has several times by their parent's other children.

    The `start_index` of all children of a parent counts from one character.
    """
    if all(location.status != "ambiguous" for location in locations):
        return
    parents: dict[str, dict[int, dict[int, Span]]] = {}
    for i, chunk in enumerate(chunks):
        start = as_number(chunk.metadata.get("start_index"))
        if not chunk.scoped and start is not None:
            text = chunk.text
            starts = starts_of(text, source)
            spans = {at - start: Span(at, at + len(text)) for at in starts}
            if spans:  # by the place at which the parent would begin
                parents.setdefault(repr(chunk.metadata.get("doc_id")), {})[i] = spans
    for children in parents.values():
        begins = set.intersection(*map(set, children.values()))
        if len(begins) != 1:
            continue
        for i, spans in children.items():
            locations[i] = Location(spans[min(begins)], "exact")


def _place_on_pages(full: FullText, chunks: list[Chunk]) -> list[Chunk]:
    """Compare chunks with the pages that they name, and place them in the whole text.

    Chunks that oprag stamped stay on their pages.
    """
    compared = []
    for chunk, page in zip(chunks, _pages_of(full, chunks), strict=True):
        if page and chunk.part is not None and chunk.span:
            span = Span(*(page.start + place for place in chunk.span))
            if span.end <= page.end and full.text[slice(*span)] == chunk.text:
                chunk = chunk._replace(proof="compared")  # noqa: PLW2901 -- the same chunk
                if not _is_ours(chunk):
                    chunk = chunk._replace(position=(0, *span), span=span, part=None)  # noqa: PLW2901 -- the same chunk
        compared.append(chunk)
    return compared


def _compare_with_source(chunk: Chunk, source: str) -> Chunk:
    """Compare a chunk with the text at its place, which proves it."""
    if chunk.part is not None or chunk.span is None:
        return chunk
    is_there = chunk.fits_span and source.startswith(chunk.text, chunk.span.start)
    return chunk._replace(proof="compared") if is_there else chunk


def _pages_of(full: FullText, chunks: Sequence[Chunk]) -> list[Span | None]:
    """Return the span in the text of the page that each chunk names."""
    pages = [metadata for metadata, _ in full.pages]
    named = parts_named([chunk.metadata for chunk in chunks], pages)
    return [None if page is None else full.pages[page][1] for page in named]


def _is_ours(chunk: Chunk) -> bool:
    return DOC_KEY in chunk.metadata


def _is_written(chunk: Chunk, source: str) -> bool:
    """Return whether the text has the chunk at its place, or oprag wrote the place."""
    if chunk.position is None:
        return False
    ours = _is_ours(chunk)
    if chunk.span is None:  # the order is known even if a place is not
        return ours and CHUNK_INDEX in chunk.metadata and N_CHUNKS in chunk.metadata
    if chunk.part is not None:
        return ours
    written = read_written(chunk.metadata)
    if written is not None and written.is_joined:
        return True  # it is no slice
    return source[slice(*chunk.span)] == chunk.text


def _sort_by_number(chunks: Sequence[Chunk]) -> list[int] | None:
    """Return the order that chunk numbers give, if each chunk has its own."""
    numbers = [as_number(chunk.metadata.get(CHUNK_INDEX)) for chunk in chunks]
    known = [number for number in numbers if number is not None]
    if len(set(known)) < len(chunks):
        return None
    return sorted(range(len(chunks)), key=known.__getitem__)


def _apply_location(
    chunk: Chunk, location: Location, source: str, *, is_right: bool
) -> Chunk:
    """Give a chunk the place that was found, unless its own is right and known."""
    is_scoped = location.span is None or chunk.scoped
    if is_right and is_scoped and chunk.span is not None and chunk.part is None:
        return chunk
    if location.span is None:
        return drop_place(chunk)
    start, end = location.span
    return chunk._replace(
        position=(0, start, end),
        span=location.span,
        part=None,
        problem=None,
        proof="compared",
        # It may be as long as its slice by chance: white space differs.
        verbatim=source[start:end] == chunk.text,
    )
