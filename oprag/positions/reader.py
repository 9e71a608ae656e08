"""Turn hits into chunks that know their document and their place in it."""

from __future__ import annotations

from collections.abc import Sequence

from oprag.chunk import ChainedPlace, Chunk, Hit, Proof
from oprag.citations import disambiguate_names
from oprag.errors import MissingDocumentError, OpragError
from oprag.metadata import UNNAMED, as_number, short_hash
from oprag.positions.identity import (
    DocumentKey,
    Identity,
    counts_from_parent,
    identify_document,
)
from oprag.positions.keys import (
    PositionKeys,
    is_without_place,
    list_keys,
    look_up,
    read_known_positions,
)
from oprag.positions.one_document import NO_PLACE, OneDocument, place_at_page
from oprag.positions.place import Position, is_unfit, read_proof
from oprag.positions.shared_names import separate_by_facts
from oprag.result_key import WrittenPlace, is_unchanged, read_written

_UNNAMED_DIGITS = 12


def identify_documents(
    hits: Sequence[Hit],
    *,
    document_key: DocumentKey | None = None,
    position_keys: PositionKeys | None = None,
    problems: dict[str, OpragError] | None = None,
) -> list[Identity]:
    """Read key and name of the document of each hit.

    The first of these that a hit has:

    1. the user's key
    2. the key of a result
    3. `doc_key`
    4. the id of the document in a framework or an application (`ref_doc_id`,
       `document_id`, `doc_id`, `file_id`, `artifact_id`)
    5. `source`, `file_path` and other names of files
    6. the attributes `document_id`, `file_id`, `artifact_id` of the framework's object

    If a file is named, a generated id (a UUID, or the id of a page, row or section) is
    ignored. Empty strings, LlamaIndex's string "None" and "blob" are no identity. A URL
    of a page, line or second counts as the URL of the file; Unicode composition and a
    leading `./` make no difference. Several files of one name are told apart
    (`separate_by_facts`), unless the user gives a `document_key`.

    If other hits name a document, one that names none and has no position is a separate
    document: a fact of a graph, the text of a tool. Its key begins with `UNNAMED`, and
    its name is empty.

    Args:
        hits: Best first.
        document_key: The user's keys of the identity; None for the known keys.
        position_keys: The user's keys of the position.
        problems: Collects by document key the errors that are raised without it. Then
            every hit without an identity is a separate document.

    Returns:
        One per hit. The name is the one for people, from `disambiguate_names`. It is
        made of `doc_uri`, else of the file, URL or title that the metadata names, else
        of the key. With `document_key` it is `doc_uri`, else the key.

    Raises:
        MissingDocumentError: No hit names a document, or one that does not has a
            position.
    """
    found = [identify_document(hit, document_key) for hit in hits]
    none_named = not any(found)
    # Among named hits, one without a name is tolerated unless it may have a position,
    # because a position needs a document.
    for rank, hit in enumerate(hits):
        if found[rank] is None and (
            none_named or _may_have_position(hit, position_keys)
        ):
            error = _report_missing(hit, rank, document_key)
            if problems is None:
                raise error
            problems.setdefault(_identify_by_text(hit).key, error)
    documents = [
        document or _identify_by_text(hit)
        for document, hit in zip(found, hits, strict=True)
    ]
    names = disambiguate_names((each.key, each.name) for each in documents)
    named = []
    for each in documents:
        name = names[each.key, each.name]
        # There are hundreds per query, and most keep theirs.
        named.append(each if each.name == name else each._replace(name=name))
    return named if document_key is not None else separate_by_facts(hits, named)


def _identify_by_text(hit: Hit) -> Identity:
    return Identity(UNNAMED + short_hash(hit.text, _UNNAMED_DIGITS), "")


def _may_have_position(hit: Hit, position_keys: PositionKeys | None) -> bool:
    """Return whether a chunk may have a position.

    It does if it has a value for each of the user's keys. Without these keys it does if
    it has any number of a position or a part.
    """
    if position_keys is not None:
        keys = list_keys(position_keys)
        return all(look_up(hit.metadata, hit.subject, key) is not None for key in keys)
    return any(
        as_number(value) is not None for value in read_known_positions(hit).values()
    )


def _report_missing(
    hit: Hit, rank: int, document_key: DocumentKey | None
) -> MissingDocumentError:
    if document_key is None:
        wanted = "none of the known keys (source, file_path, document_id, …) names one"
    else:
        wanted = f"document_key={document_key!r} gives nothing on it"
    keys = tuple(sorted(map(str, hit.metadata)))
    message = (
        f"The chunk at rank {rank} does not say which document it belongs to: "
        f"{wanted}. Metadata keys found: {', '.join(keys) or 'none'}. Give "
        "document_key=, the key, attribute or function that names the document."
    )
    return MissingDocumentError(message, rank=rank, keys=keys)


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
        documents: The document of each hit, from `identify_documents`; as many as hits.
        position_keys: The user's keys of the position; None for the known schemes. A
            user's key is trusted: it is not searched for sections, and gives the
            beginning of a chunk, not its end.
        problems: If given, errors go here by document key and are not raised. Chunks
            without a usable position then get None. If the offsets of a document count
            from several texts, all its chunks get None.

    Returns:
        One chunk per hit, in the same order. A document's only text needs no position:
        without one it gets None. If the recorded end does not match the length of the
        text, or the user's key says the start alone, the span is empty and marks the
        start. If the offsets count from
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
    linked_ranks = set[int]()
    for key, ranks in groups.items():
        if all(hits[rank].chained is not None for rank in ranks):
            for rank in ranks:
                positions[rank] = _read_chained(hits[rank].chained)
            continue
        group = OneDocument(key, [hits[rank] for rank in ranks], ranks, position_keys)
        for rank, position in zip(ranks, group.read(problems), strict=True):
            positions[rank] = position
        linked_ranks.update(ranks if group.is_linked else ())
    return [
        _make_chunk(
            rank, hit, identity, positions[rank], is_linked=rank in linked_ranks
        )
        for rank, (hit, identity) in enumerate(zip(hits, documents, strict=True))
    ]


def _make_chunk(
    rank: int, hit: Hit, identity: Identity, position: Position, *, is_linked: bool
) -> Chunk:
    metadata = hit.metadata
    # Hundreds per query: positional arguments are faster.
    chunk = Chunk(
        hit.text,
        identity.key,
        rank,
        *position,
        hit.score,
        identity.name,
        metadata,
        hit.source,
        "chained" if is_linked else read_proof(metadata, hit.text, position.span),
        derived=identity.derived,
    )
    if identity.shared_name is not None:
        chunk = chunk._replace(shared_name=identity.shared_name)
    if hit.chained is not None:
        return _apply_chained(chunk, hit.chained, position)
    may_count_from_parent = (
        counts_from_parent(hit) and metadata["doc_id"] != identity.name
    )
    if may_count_from_parent or _is_window(hit):
        chunk = chunk._replace(scoped=False)
    written = read_written(metadata)
    return chunk if written is None else _apply_written(chunk, hit, written)


def _apply_chained(chunk: Chunk, place: ChainedPlace, position: Position) -> Chunk:
    """Return the chunk with the place that other chunks prove."""
    is_proved = position.span is not None or place.number is not None
    proof: Proof = "chained" if is_proved else "none"
    return chunk._replace(proof=proof, scoped=place.scoped, among=place.among)


def _apply_written(chunk: Chunk, hit: Hit, written: WrittenPlace) -> Chunk:
    """Return the chunk of a result with the place that was written on it."""
    # This result has a page but no place. Keep the problem and the chain order that
    # were written on it.
    if chunk.position is not None and is_without_place(hit):
        chunk = chunk._replace(problem=written.problem, among=written.among)
    return chunk._replace(verbatim=False) if is_unfit(written) else chunk


def _read_chained(place: ChainedPlace | None) -> Position:
    """Read the place that other chunks prove; if it is unproved, only its part."""
    if place is not None and place.number is not None:
        return Position((place.part or 0, place.number), None, place.part)
    if place is None or place.span is None:
        return place_at_page(place and place.part)
    return Position((place.part or 0, *place.span), place.span, place.part)


def _is_window(hit: Hit) -> bool:
    """Return whether the text is a window that replaced the sentence of the offsets."""
    sentence = hit.metadata.get("original_text")
    is_other = isinstance(sentence, str) and sentence not in {"", hit.text}
    return is_other and not is_unchanged(hit.metadata, hit.text)
