"""The known metadata keys: of documents, of parts, of positions, and their values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from numbers import Number
from typing import Any, NamedTuple, TypeAlias

from oprag.chunk import Hit, distinct_names
from oprag.errors import MissingDocumentError, OpragError
from oprag.metadata import (
    CHAR_END,
    CHAR_START,
    CHUNK_INDEX,
    DOC_KEY,
    DOC_URI,
    DOCUMENT,
    HASH,
    KEY,
    OWN_KEYS,
    PART_INDEX,
    RESULT_KEYS,
    UNNAMED,
    is_in_all,
    short_hash,
)

DocumentKey: TypeAlias = str | Callable[[Any], Any] | Sequence[Any]
"""A metadata key, an attribute name, a callable on the framework's object, or a
list of these: the first that gives a value counts."""

PositionKeys: TypeAlias = str | Callable[[Any], Any] | Sequence[Any]
"""A metadata key, an attribute name, a callable on the framework's object, or a
list of these, the most significant first (`["page", "start_index"]`)."""

_UNNAMED_DIGITS = 12

PART_KEYS = (
    "part_index",
    "page",
    "page_number",
    "page_label",
    "row",
    "seq_num",
    "loc.pageNumber",
)
"""Keys of readers that make one framework document per page, row or record.

`page` comes before `page_label`: a label may be a roman numeral.
"""

SECTION_KEYS = (
    *(f"Header {level}" for level in range(1, 7)),
    *(f"h{level}" for level in range(1, 7)),
    "header_path",
    "section",
)
"""Keys of splitters that cut a document into sections first."""

FILE_KEYS = ("file_path", "source")
"""Keys of readers that name a file, the most telling first."""
ID_KEYS = (
    *("ref_doc_id", "document_id", "doc_id", "file_id", "artifact_id"),
    *("source", "file_path", "original_file_name", "url"),
)
_NAMES = (
    *(DOC_URI, *FILE_KEYS, "original_file_name", "file_name", "url", "title"),
    *("filename", "source_url", "URL", "link", "page_title"),
)
"""Keys of what people call a document, the most telling first."""
MADE_UP = re.compile(r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$")
"""An id that a framework made up: what a document without a file is indexed by."""
_ID_ATTRIBUTES = ("document_id", "file_id", "artifact_id")
"""Attributes of applications' own chunks that name a document. Not `doc_id`, which on
LlamaIndex's documents is their own id."""
_SPLIT_KEYS = frozenset((*PART_KEYS, *SECTION_KEYS))
NO_NAME = ("", "None")
"""LlamaIndex writes the string "None" where a node has no source."""
HIGHEST = 2**63 - 1
"""The highest number that a store's column of 64 bits holds."""
_LONGEST_NUMBER = 15
"""Digits a string may have and be a position; longer ones are hashes or ids."""


ATTRIBUTES = ("chunk_order", "chunk_order_int", "sort_order", "abs_idx")
"""Positions that are looked for on the framework's object too."""


class Scheme(NamedTuple):
    """One way to write positions into metadata."""

    start: str
    """Key of the position; empty for the framework's own offsets (`Hit.offsets`)."""
    end: str | None
    """Key of the end, if the scheme writes one."""
    parts: tuple[str, ...]
    """Keys of the part that the position may be relative to."""
    characters: bool
    """Whether the position counts characters, so that it gives a span."""


SCHEMES = (
    Scheme(CHAR_START, CHAR_END, (PART_INDEX,), characters=True),
    Scheme("start_index", None, PART_KEYS, characters=True),
    Scheme("", None, PART_KEYS, characters=True),
    Scheme("start_char_idx", "end_char_idx", PART_KEYS, characters=True),
    Scheme("split_idx_start", None, (), characters=True),
    Scheme(CHUNK_INDEX, None, PART_KEYS, characters=False),
    Scheme("split_id", None, PART_KEYS, characters=False),
    *(Scheme(key, None, PART_KEYS, characters=False) for key in ATTRIBUTES),
    Scheme("loc.lines.from", None, PART_KEYS, characters=False),
)
"""Known schemes in order of precedence: oprag; LangChain's splitters; LlamaIndex's
attributes, then its keys; Haystack; counted chunks, as frameworks and as applications
(R2R, RAGFlow, PrivateGPT) write them; LangChain.js lines. Where none fits, the part
alone (page, row, record) orders the chunks."""


def as_number(value: Any) -> int | None:
    """The position that a metadata value gives, or None when it is not one.

    Non-negative integers of 63 bits, floats and decimals without a fraction (stores
    turn integers into them) and strings of up to 15 ASCII digits are positions.
    Booleans, -1, NaN, infinities, roman numerals and hashes are not.
    """
    if type(value) is int:
        return value if 0 <= value <= HIGHEST else None
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        digits = value.strip()
        fits = len(digits) <= _LONGEST_NUMBER and digits.isascii()
        return int(digits) if fits and digits.isdigit() else None
    try:  # NumPy's numbers and decimals, too
        number = int(value) if issubclass(type(value), Number) else None
    except (OverflowError, TypeError, ValueError):  # an infinity, complex, NaN
        return None
    whole = number is not None and number == value and 0 <= number <= HIGHEST
    return number if whole else None


def look_up(metadata: Mapping[str, Any], subject: Any, key: Any) -> Any:
    """Value of a user's key: called, or a metadata key, a path, an attribute.

    Args:
        metadata: Looked in first, by `key` as it is written, then along its dots
            (`loc.lines.from` also finds `{"loc": {"lines": {"from": 3}}}`).
        subject: The framework's object: passed to a callable, and asked for an
            attribute of that name last. With None a callable gets the metadata.
        key: A callable or a string.

    Returns:
        The value, or None when there is none.
    """
    if callable(key):
        return key(metadata if subject is None else subject)
    value = metadata.get(key)
    if value is None and "." in key:
        value = metadata
        for step in key.split("."):
            value = value.get(step) if isinstance(value, Mapping) else None
    return getattr(subject, key, None) if value is None else value


def known_positions(hit: Hit) -> dict[str, Any]:
    """Return what a chunk has under the known keys of positions and parts."""
    keys = (*(scheme.start for scheme in SCHEMES if scheme.start), *PART_KEYS)
    found = {key: look_up(hit.metadata, hit.subject, key) for key in keys}
    if hit.offsets is not None and hit.offsets[0] is not None:
        found["start_char_idx"] = hit.offsets[0]
    return {key: value for key, value in found.items() if value is not None}


OF_A_PLACE = {
    *(key for key in OWN_KEYS if key not in (DOC_KEY, DOC_URI)),
    *(key for scheme in SCHEMES for key in (scheme.start, scheme.end, *scheme.parts)),
    *("loc", "score", "relevance_score", *RESULT_KEYS),
}
"""Metadata about the position, the size or the score of a chunk."""


def document_metadata(
    name: str, metadatas: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return what is known of a document: its name, and what its chunks agree on.

    Args:
        name: The document's.
        metadatas: Of its chunks.
    """
    first = metadatas[0] if metadatas else {}
    return {DOC_URI: name} | {
        key: value
        for key, value in first.items()
        if key not in OF_A_PLACE and is_in_all(key, value, metadatas)
    }


def read_documents(
    hits: Sequence[Hit],
    *,
    document_key: DocumentKey | None = None,
    position_keys: PositionKeys | None = None,
    problems: dict[str, OpragError] | None = None,
    by_file: bool = False,
) -> list[tuple[str, str]]:
    """Key and name of the document of each hit.

    Precedence: the user's key; `oprag_key` of a result; `doc_key`; `file_path` or
    `source` where a page, row or section key shows that the reader gave each part an
    id of its own; then `ref_doc_id`, `document_id`, `doc_id`, `file_id`,
    `artifact_id`, `source`, `file_path`, `original_file_name`, `url`; then the
    attributes `document_id`, `file_id`, `artifact_id` of the framework's object.
    Empty strings and LlamaIndex's string "None" are no identity.

    A hit that names no document and has no position, among hits that name one, is a
    document of its own: a fact of a graph, the text of a tool. Its key begins with
    `UNNAMED`, and its name is empty.

    Args:
        hits: Best first.
        document_key: Where the user keeps the identity; None for the known keys.
        position_keys: Where the user keeps the position.
        problems: Collects, by document key, what is raised without it; every hit
            without an identity is a document of its own then.
        by_file: Whether children of a parent are of its file, which is to be read,
            and not of a document of its own.

    Returns:
        One `(key, name)` per hit. The name is what people know, as `distinct_names`
        gives it: of `doc_uri`, else the file, URL or title that the metadata names,
        else the key. With `document_key` it is `doc_uri`, else the key.

    Raises:
        MissingDocumentError: No hit names a document, or one that does not has a
            position.
    """
    found = [known_document(hit, document_key, by_file=by_file) for hit in hits]
    for rank, hit in enumerate(hits):
        if found[rank] is None and (not any(found) or _is_placed(hit, position_keys)):
            error = _missing(hit, rank, document_key)
            if problems is None:
                raise error
            problems.setdefault(_unnamed(hit)[0], error)
    documents = [
        document or _unnamed(hit) for document, hit in zip(found, hits, strict=True)
    ]
    names = distinct_names(documents)
    return [(document[0], names[document]) for document in documents]


def _unnamed(hit: Hit) -> tuple[str, str]:
    return UNNAMED + short_hash(hit.text, _UNNAMED_DIGITS), ""


def is_of_a_parent(hit: Hit) -> bool:
    """Whether a hit's `start_index` may count from a parent, not from its document.

    LangChain gives the children of a parent a random `doc_id`, whether the parent was
    a document or was cut out of one: only full texts tell.
    """
    parent = hit.metadata.get("doc_id")
    return (
        isinstance(parent, str)
        and MADE_UP.match(parent) is not None
        and "start_index" in hit.metadata
        and hit.metadata.keys().isdisjoint((DOC_KEY, HASH))
    )


def known_document(
    hit: Hit, document_key: DocumentKey | None = None, *, by_file: bool = False
) -> tuple[str, str] | None:
    """Key and full name of the document of one hit; None without."""
    metadata = hit.metadata
    if document_key is None:
        by_file = by_file and is_of_a_parent(hit)
        key = first_name(map(metadata.get, FILE_KEYS)) if by_file else None
        key = key or known_key(hit)
    else:
        keys = as_list(document_key)
        key = first_name(look_up(metadata, hit.subject, each) for each in keys)
        key = _written_key(metadata) if key is None else key
    if key is None:
        return None
    if HASH in metadata and DOCUMENT in metadata:
        return key, str(metadata[DOCUMENT])
    keys = _NAMES if document_key is None else (DOC_URI,)
    return key, _name_for_people(metadata, keys) or key


def _name_for_people(metadata: Mapping[str, Any], keys: Sequence[str]) -> str:
    """The first text that is no id; else the first; an empty one for none."""
    values = map(metadata.get, keys)  # read as far as a name: most have one at once
    names = (name for name in values if isinstance(name, str) and name not in NO_NAME)
    first = next(names, "")
    others = (name for name in names if not MADE_UP.match(name))
    return next(others, first) if MADE_UP.match(first) else first


def _written_key(metadata: Mapping[str, Any]) -> str | None:
    """The key of a result's document; None where it named none."""
    key = metadata.get(KEY) if HASH in metadata else None
    return None if key is None or str(key).startswith(UNNAMED) else str(key)


def document_name(metadata: Mapping[str, Any]) -> str | None:
    """Return the name of a document that is to be split or indexed.

    `doc_uri` or `doc_key`; then the file, because the ids of a framework may be of one
    page, or of one run; then ids. None where the metadata has none of them.
    """
    keys = (DOC_URI, DOC_KEY, *FILE_KEYS, *ID_KEYS)
    return first_name(metadata.get(key) for key in keys)


def as_list(keys: DocumentKey | PositionKeys) -> Sequence[Any]:
    """Return a list of the keys, where one alone may have been given."""
    return [keys] if isinstance(keys, str) or callable(keys) else keys


def known_key(hit: Hit) -> str | None:
    """Return the key of a hit's document by the known keys; None without."""
    metadata = hit.metadata
    own = _written_key(metadata) or metadata.get(DOC_KEY)
    if type(own) is str and own not in NO_NAME:
        return own
    if not _SPLIT_KEYS.isdisjoint(metadata) or metadata.get("loc") is not None:
        key = first_name(metadata.get(name) for name in FILE_KEYS)
        if key is not None:
            return key
    if hit.document is not None and hit.document not in NO_NAME:
        return hit.document
    name = first_name(metadata.get(key) for key in ID_KEYS)
    if name is None and hit.subject is not None:
        name = first_name(getattr(hit.subject, key, None) for key in _ID_ATTRIBUTES)
    return name


def _is_placed(hit: Hit, position_keys: PositionKeys | None) -> bool:
    """Say whether a chunk has any number that may be a position, or a part."""
    if position_keys is not None:
        keys = as_list(position_keys)
        return all(look_up(hit.metadata, hit.subject, key) is not None for key in keys)
    return any(as_number(value) is not None for value in known_positions(hit).values())


def first_name(values: Any) -> str | None:
    """Return the first value that is a name, as a string; None without."""
    for value in values:
        no_number = isinstance(value, float) and math.isnan(value)  # pandas: nothing
        if value is not None and not no_number and (name := str(value)) not in NO_NAME:
            return name
    return None


def _missing(
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
