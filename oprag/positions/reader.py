"""Turn hits into chunks that know their place in their document."""

from __future__ import annotations

from collections.abc import Sequence

from oprag.chunk import ChainedPlace, Chunk, Hit, Proof
from oprag.errors import OpragError
from oprag.positions.identity import Identity, counts_from_parent
from oprag.positions.keys import PositionKeys, is_without_place
from oprag.positions.one_document import NO_PLACE, OneDocument, place_at_page
from oprag.positions.place import Position, is_unfit, read_proof
from oprag.result_key import is_unchanged, read_written


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
    positions = [NO_PLACE] * len(hits)
    linked = set[int]()
    for key, ranks in groups.items():
        if all(hits[rank].chained is not None for rank in ranks):
            for rank in ranks:
                positions[rank] = _read_chained(hits[rank].chained)
            continue
        document = OneDocument(
            key, [hits[rank] for rank in ranks], ranks, position_keys
        )
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
    if position.key is not None and is_without_place(hit):
        chunk = chunk._replace(problem=written.problem, among=written.among)
    return chunk._replace(verbatim=False) if is_unfit(written) else chunk


def _read_chained(place: ChainedPlace | None) -> Position:
    """Read the place that other chunks prove; of an unproved one the part alone."""
    if place is not None and place.number is not None:
        return Position((place.part or 0, place.number), None, place.part)
    if place is None or place.span is None:
        return place_at_page(place and place.part)
    return Position((place.part or 0, *place.span), place.span, place.part)


def _is_window(hit: Hit) -> bool:
    """Return whether a text was put in the place of the sentence of its offsets."""
    sentence = hit.metadata.get("original_text")
    is_other = isinstance(sentence, str) and sentence not in {"", hit.text}
    return is_other and not is_unchanged(hit.metadata, hit.text)
