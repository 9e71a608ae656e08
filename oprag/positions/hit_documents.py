"""Name the document of each hit, all hits of a search together."""

from __future__ import annotations

from collections.abc import Sequence

from oprag.chunk import Hit
from oprag.citations import disambiguate_names
from oprag.errors import MissingDocumentError, OpragError
from oprag.metadata import UNNAMED, as_number, short_hash
from oprag.positions.identity import DocumentKey, Identity, identify_document
from oprag.positions.keys import PositionKeys, list_keys, look_up, read_known_positions
from oprag.positions.shared_names import separate_by_facts

_UNNAMED_DIGITS = 12


def identify_documents(
    hits: Sequence[Hit],
    *,
    document_key: DocumentKey | None = None,
    position_keys: PositionKeys | None = None,
    problems: dict[str, OpragError] | None = None,
) -> list[Identity]:
    """Read key and name of the document of each hit.

    Precedence: the user's key; the key of a result; `doc_key`; then what identifies a
    document for a framework or an application (`ref_doc_id`, `document_id`, `doc_id`,
    `file_id`, `artifact_id`), then `source`, `file_path` and other names of files; then
    the attributes `document_id`, `file_id`, `artifact_id` of the framework's object.
    An id that a framework made up (a UUID, or one of a page, row or section) says
    nothing where a file is named: the file is the document then. Empty strings,
    LlamaIndex's string "None" and "blob" are no identity. Addresses of a page, a line
    or a second of a file are the file's; letters that are composed in another way, and
    `./` in front, make no other name. Several files of one name are told apart
    (`separate_by_facts`), unless the user says what identifies a document.

    A hit that names no document and has no position, among hits that name one, is a
    document of its own: a fact of a graph, the text of a tool. Its key begins with
    `UNNAMED`, and its name is empty.

    Args:
        hits: Best first.
        document_key: Where the user keeps the identity; None for the known keys.
        position_keys: Where the user keeps the position.
        problems: Collects, by document key, what is raised without it; every hit
            without an identity is a document of its own then.

    Returns:
        One per hit. The name is what people know, as `disambiguate_names` gives it: of
        `doc_uri`, else the file, URL or title that the metadata names, else the key.
        With `document_key` it is `doc_uri`, else the key.

    Raises:
        MissingDocumentError: No hit names a document, or one that does not has a
            position.
    """
    found = [identify_document(hit, document_key) for hit in hits]
    for rank, hit in enumerate(hits):
        if found[rank] is None and (not any(found) or _is_placed(hit, position_keys)):
            error = _report_missing(hit, rank, document_key)
            if problems is None:
                raise error
            problems.setdefault(_name_by_text(hit).key, error)
    documents = [
        document or _name_by_text(hit)
        for document, hit in zip(found, hits, strict=True)
    ]
    names = disambiguate_names((each.key, each.name) for each in documents)
    named = []
    for each in documents:
        name = names[each.key, each.name]
        # Hundreds per query: most keep theirs.
        named.append(each if each.name == name else each._replace(name=name))
    return named if document_key is not None else separate_by_facts(hits, named)


def _name_by_text(hit: Hit) -> Identity:
    return Identity(UNNAMED + short_hash(hit.text, _UNNAMED_DIGITS), "")


def _is_placed(hit: Hit, position_keys: PositionKeys | None) -> bool:
    """Return whether a chunk has any number that may be a position, or a part."""
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
