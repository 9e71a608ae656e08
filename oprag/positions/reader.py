"""Turn hits into chunks that know their document and their place in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from oprag.chunk import Chunk, Hit, Proof
from oprag.citations import disambiguate_names
from oprag.errors import MissingDocumentError, OpragError
from oprag.metadata import UNNAMED, as_number, short_hash
from oprag.positions.identity import (
    DocumentKey,
    Identity,
    counts_from_parent,
    identify_document,
)
from oprag.positions.keys import PositionKeys, list_keys, look_up
from oprag.positions.one_document import OneDocument
from oprag.positions.position import (
    NO_PLACE,
    Position,
    place_at_number,
    place_at_page,
    place_at_span,
    read_proof,
)
from oprag.positions.schemes import read_known_positions
from oprag.positions.shared_names import separate_by_facts
from oprag.result_key import read_written

_UNNAMED_DIGITS = 12


def identify_documents(
    hits: Sequence[Hit],
    *,
    document_key: DocumentKey | None = None,
    position_keys: PositionKeys | None = None,
    problems: dict[str, OpragError] | None = None,
) -> list[Identity]:
    """Read the key and the name of each hit's document.

    The first of these that a hit has:

    1. the user's key
    2. the key of a result
    3. `doc_key`
    4. the id of the document in a framework or an application (`ref_doc_id`,
       `document_id`, `doc_id`, `file_id`, `artifact_id`)
    5. `source`, `file_path` and other names of files
    6. the attributes `document_id`, `file_id`, `artifact_id` of the framework's object

    If a file is named, a generated id (a UUID, or the id of a page, row or section) is
    ignored. If a page or a section is named too, the file counts before any id. Empty
    strings, LlamaIndex's string "None" and "blob" are no identity. A URL of a page,
    line or second counts as the URL of the file; Unicode composition and a leading `./`
    make no difference. Several files of one name are told apart (`separate_by_facts`),
    unless the user gives a `document_key`.

    If other hits name a document, a text that names none and has no position is a
    separate document: a fact of a graph, the answer of a tool. Its key begins with
    `UNNAMED`, and its name is empty.

    Args:
        hits: Best first.
        document_key: The user's keys of the identity; None for the known keys.
        position_keys: The user's keys of the position.
        problems: Collects by document key the errors that are raised without it. Then
            every text without an identity is a separate document.

    Returns:
        One per hit. The name is the one for people, from `disambiguate_names`. It is
        made of `doc_uri`, else of the file, URL or title that the metadata names, else
        of the key. With `document_key` it is `doc_uri`, else the key.

    Raises:
        MissingDocumentError: No hit names a document, or one that does not has a
            position.
    """
    named = [identify_document(hit, document_key) for hit in hits]
    some_are_named = any(named)
    documents = list[Identity]()
    for rank, (hit, identity) in enumerate(zip(hits, named, strict=True)):
        if identity is not None:
            documents.append(identity)
            continue
        unnamed = _identify_by_text(hit)
        documents.append(unnamed)
        # A position needs a document: beside named hits, only a hit that has none may
        # be without a name.
        if not some_are_named or _may_have_position(hit, position_keys):
            error = _report_missing(hit, rank, document_key)
            if problems is None:
                raise error
            problems.setdefault(unnamed.key, error)
    names = disambiguate_names((each.key, each.name) for each in documents)
    for rank, identity in enumerate(documents):
        name = names[identity.key, identity.name]
        if name != identity.name:  # of hundreds per query, few
            documents[rank] = identity._replace(name=name)
    if document_key is not None:
        return documents
    return separate_by_facts(hits, documents)


def _identify_by_text(hit: Hit) -> Identity:
    return Identity(UNNAMED + short_hash(hit.text, _UNNAMED_DIGITS), "")


def _may_have_position(hit: Hit, position_keys: PositionKeys | None) -> bool:
    """Return whether a chunk has values that could be a position.

    With the user's keys: a value for each of them. Without: a number under any known
    key of a position or a part.
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
        start. If the offsets count from a parent (`counts_from_parent`), or the text is
        a window around its sentence, they are not `scoped`.

    Raises:
        MissingPositionError: A chunk has no usable position.
        PositionError: The positions count from several sections or parents, or cannot
            be compared.
    """
    ranks_of_document: dict[str, list[int]] = {}
    for rank, identity in enumerate(documents):
        ranks_of_document.setdefault(identity.key, []).append(rank)
    positions = [NO_PLACE] * len(hits)
    for key, ranks in ranks_of_document.items():
        members = [hits[rank] for rank in ranks]
        of_members = _read_chained(members)
        if of_members is None:
            document = OneDocument(key, position_keys)
            of_members = document.read_positions(members, ranks, problems)
        for rank, position in zip(ranks, of_members, strict=True):
            positions[rank] = position
    chunks = []
    for rank, hit in enumerate(hits):
        chunks.append(_make_chunk(rank, hit, documents[rank], positions[rank]))
    return chunks


def _read_chained(hits: Sequence[Hit]) -> list[Position] | None:
    """Read the places that other chunks give; None unless each hit has one.

    One that they do not prove is a page alone.
    """
    positions = []
    for hit in hits:
        place = hit.chained
        if place is None:
            return None
        if place.number is not None:
            positions.append(place_at_number(place.number, place.part))
        elif place.span is not None:
            positions.append(place_at_span(*place.span, place.part))
        else:
            positions.append(place_at_page(place.part))
    return positions


def _make_chunk(rank: int, hit: Hit, identity: Identity, position: Position) -> Chunk:
    """Make the chunk of a hit whose position was read."""
    facts = _read_facts(hit, identity, position)
    return Chunk(  # by position: with keywords, it takes three times as long
        hit.text,
        identity.key,
        rank,
        position.key,
        position.span,
        position.part,
        hit.score,
        identity.name,
        hit.metadata,
        hit.source,
        _find_proof(hit, position),
        None,  # its pages, which `context/places.py` reads from the full text
        facts.problem,
        facts.scoped,
        facts.is_verbatim,
        identity.shared_name,
        facts.among,
        identity.derived,
    )


class _PlaceFacts(NamedTuple):
    """The facts of a place besides the position; see the fields of `Chunk`."""

    scoped: bool
    is_verbatim: bool = True
    problem: str | None = None
    among: tuple[int, ...] = ()


def _read_facts(hit: Hit, identity: Identity, position: Position) -> _PlaceFacts:
    """Read them from the chunks that prove the place, else from the hit's metadata."""
    if hit.chained is not None:
        return _PlaceFacts(hit.chained.scoped, among=hit.chained.among)
    scoped = _is_scoped(hit, identity)
    written = read_written(hit.metadata)
    if written is None:
        return _PlaceFacts(scoped)
    if written.lacks_place and position.key is not None:
        # A result at its page, where its problem and its place in a chain still hold.
        return _PlaceFacts(scoped, written.is_verbatim, written.problem, written.among)
    return _PlaceFacts(scoped, written.is_verbatim)


def _find_proof(hit: Hit, position: Position) -> Proof:
    """Return the proof of a position: other chunks, links, or the hit's metadata."""
    if hit.chained is not None:
        is_proved = position.span is not None or hit.chained.number is not None
        return "chained" if is_proved else "none"
    if position.is_linked:
        return "chained"
    return read_proof(hit.metadata, hit.text, position.span)


def _is_scoped(hit: Hit, identity: Identity) -> bool:
    """Return whether it is known which text the characters of a hit count from.

    They may count from a parent, or be those of a sentence that a window replaced.
    """
    if counts_from_parent(hit) and hit.metadata["doc_id"] != identity.name:
        return False
    sentence = hit.metadata.get("original_text")
    if not isinstance(sentence, str) or sentence in {"", hit.text}:
        return True
    written = read_written(hit.metadata)
    return written is not None and written.describes(hit.text)
