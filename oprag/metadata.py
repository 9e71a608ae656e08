"""The flat metadata that oprag writes on every chunk, and its key names.

Only strings and integers are written, absent values are left out, and no name
is one that a framework reserves. So every vector store keeps such metadata unchanged.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from numbers import Number
from typing import Any

from oprag.landmarks import OF_THE_TEXT

DOC_KEY = "doc_key"
"""16 hex digits of the document's name: safe in every store's filters."""
DOC_URI = "doc_uri"
"""The document's name, for people and look-ups, never for filters."""
DOC_VERSION = "doc_version"
"""The text and the splitter's settings: chunks of two versions never belong together.
`settings-text`, each a short hash; see `document_version`."""
CHUNK_INDEX = "chunk_index"
"""Number of the chunk in its document, from 0, running on over the parts."""
N_CHUNKS = "n_chunks"
"""Chunks of the whole document, over all parts."""
CHAR_START = "char_start"
"""First character of the chunk, relative to its part."""
CHAR_END = "char_end"
"""One past the last character of the chunk, relative to its part."""
CHUNK_HASH = "chunk_hash"
"""`text_hash` of the chunk's text, if that is the slice from `char_start` to
`char_end`. Without it, or on another text, nothing proves the place."""
PART_INDEX = "part_index"
"""Number of the part (page, section) from 0; absent for a document that is one text.
See `oprag.splitting.group_parts`."""
TOKEN_COUNT = "token_count"
"""Tokens of the chunk's text."""
TOKEN_COUNTER = "token_counter"
"""Name of the counter behind `token_count`."""
TEXT_LENGTH = "text_length"
"""Characters of the part's whole text. Only the first chunk of the part has it and the
hashes. See `text_stamp`."""
TEXT_HASH = "text_hash"
"""`text_hash` of that text."""
NONSPACE_HASH = "nonspace_hash"
"""The same hash of the text without its white space. Only beside chunks of other
splitters, which drop white space."""
DOC_SCOPE = "doc_scope"
"""The folder or source that the document was indexed from. Only the first chunk of the
document has it. See `oprag.indexing.source_scope`."""

SCORE_KEYS = ("relevance_score", "score")
"""Keys that rerankers and retrievers write a score under; the first one counts."""

RESULT = "oprag"
"""The reserved key of results: their place, in one short string. See
`oprag.result_key`."""
CITATION = "oprag_citation"
"""The place for people, beside `RESULT` and only with `citations=True`; see
`oprag.chunk.Passage.citation`."""
NUMBERS = "oprag_numbers"
"""The key of an agent's state that holds the place of each number."""
WHY = "oprag_why"
"""The key of a run's metadata that says why its results were chosen."""

RESULT_KEYS = (RESULT, CITATION)
"""The reserved keys of results; `oprag.place_of` reads them."""
EARLIER_HASH = "oprag_hash"
"""The key of a text's hash in older results, before there was the one key."""
EARLIER_KEYS = (
    *("oprag_rank", "oprag_number", "oprag_document", "oprag_key", "oprag_part"),
    *("oprag_start", "oprag_end", "oprag_spans", "oprag_proof", "oprag_unfit"),
    *("oprag_problem", "oprag_bare", "oprag_ids", EARLIER_HASH),
)
"""The older keys that an index or a checkpoint may hold: read, never written."""
ALL_RESULT_KEYS = (*RESULT_KEYS, *EARLIER_KEYS)
"""All keys that are no metadata of a chunk."""
_OF_RESULTS = frozenset(ALL_RESULT_KEYS)

STAMP_KEYS = (TEXT_LENGTH, TEXT_HASH, NONSPACE_HASH)
"""The keys that `text_stamp` writes."""
OF_ONE_TEXT = (TOKEN_COUNT, TOKEN_COUNTER, CHUNK_HASH, *STAMP_KEYS)
"""Keys that do not hold for a slice of a chunk."""
OF_ONE_CHUNK = frozenset((CHAR_START, CHAR_END, CHUNK_INDEX, N_CHUNKS, *OF_ONE_TEXT))
"""Keys that do not hold for a result that is not one whole chunk."""

UNNAMED = "unnamed-"
"""The beginning of the key of a text without a name. Each is a document by itself."""

OWN_KEYS = (
    DOC_KEY,
    DOC_URI,
    DOC_VERSION,
    PART_INDEX,
    CHUNK_INDEX,
    N_CHUNKS,
    CHAR_START,
    CHAR_END,
    TOKEN_COUNT,
    TOKEN_COUNTER,
    CHUNK_HASH,
    *STAMP_KEYS,
    DOC_SCOPE,
)
"""All keys that oprag writes on stored chunks, in writing order."""

_HIGHEST = 2**63 - 1
"""The highest number that a store's column of 64 bits holds."""
_LONGEST_NUMBER = 15
"""Digits that a string may have and be a position; longer ones are hashes or ids."""

_KEY_DIGITS = 16
_OID = bytes.fromhex("6ba7b8129dad11d180b400c04fd430c8")
"""`uuid.NAMESPACE_OID`, without the import."""
_VARIANTS = dict(zip("0123456789abcdef", "89ab" * 4, strict=True))
"""The digit of a UUID that says its kind, by the hashed digit in the same place."""
_SETTINGS_DIGITS, _TEXT_DIGITS = 6, 12


def as_number(value: Any) -> int | None:
    """Return the position that a metadata value gives, or None if it is not one.

    Non-negative integers of 63 bits, floats and decimals without a fraction (stores
    turn integers into them) and strings of up to 15 ASCII digits are positions.
    Booleans, -1, NaN, infinities, roman numerals and hashes are not.
    """
    if type(value) is int:
        return value if 0 <= value <= _HIGHEST else None
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
    whole = number is not None and number == value and 0 <= number <= _HIGHEST
    return number if whole else None


def uri_of(metadata: Mapping[str, Any], key: str) -> str:
    """Return the name by which full texts are looked up: `doc_uri`, else the key."""
    uri = metadata.get(DOC_URI)
    return uri if uri and isinstance(uri, str) else key


@lru_cache(maxsize=1_024)
def document_key(name: str) -> str:
    """Return the key of a document: 16 hex digits of the SHA-256 of its name.

    A name may hold anything (spaces, quotes, SQL); the key is safe to filter on
    in every store, and equal names have equal keys on every machine.
    """
    return _digest(name).hex()[:_KEY_DIGITS]


def drop_reserved_keys(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy without the reserved keys of results."""
    if _OF_RESULTS.isdisjoint(metadata):
        return dict(metadata)
    return {key: value for key, value in metadata.items() if key not in _OF_RESULTS}


def text_stamp(text: str, *, exact: bool = True) -> dict[str, str | int]:
    """Return the stamp that later proves a rebuilt text to be unchanged.

    Args:
        text: The whole text of a part, before it was split.
        exact: Whether its chunks are slices of it that touch. If not, they may lack
            white space, and the text is proved apart from white space.

    Returns:
        Metadata for the first chunk of the part, in the order of `OWN_KEYS`.
    """
    stamp: dict[str, str | int] = {TEXT_LENGTH: len(text), TEXT_HASH: text_hash(text)}
    if not exact:
        stamp[NONSPACE_HASH] = text_hash("".join(text.split()))
    return stamp


def span_stamp(source: str, span: tuple[int, int], text: str) -> dict[str, str | int]:
    """Return the place of a chunk that a source proves, as keys of its metadata.

    Args:
        source: The text that the span counts in.
        span: The characters of the chunk.
        text: The chunk's text. If it is the slice itself, and no white space
            differs, its hash later proves that.
    """
    start, end = span
    stamp: dict[str, str | int] = {CHAR_START: start, CHAR_END: end}
    if source[start:end] == text:
        stamp[CHUNK_HASH] = text_hash(text)
    return stamp


def text_hash(text: str) -> str:
    """Return 12 digits of the SHA-256 of a text, to see later that it is unchanged."""
    return short_hash(text, _TEXT_DIGITS)


def short_hash(text: str, digits: int) -> str:
    """Return some decimal digits of the SHA-256 of a text.

    Three of them are one token of cl100k, while a token holds fewer than two hex
    digits. So metadata that is printed to a model costs half as much. 12 digits are
    40 bits, and the length is beside them. Another text passes for the hashed one less
    than once in 10^12 times. 6 digits tell the few settings in one store apart.
    """
    number = int.from_bytes(_digest(text)[:12], "big") % 10**digits
    return str(number).zfill(digits)  # sooner than a format does it


def document_version(settings: str, texts: Iterable[str]) -> str:
    """Return the mark of all chunks of one text and one splitter.

    Args:
        settings: The settings that decide the cuts, and the token counter.
        texts: The text, or those of all parts in reading order.

    Returns:
        Two short hashes, `settings-text`.
    """
    hashes = [text_hash(text) for text in texts]
    return f"{short_hash(settings, _SETTINGS_DIGITS)}-{version_of_hashes(hashes)}"


def version_of_hashes(hashes: Sequence[str]) -> str:
    """Return the half of a `doc_version` that depends on the text.

    Args:
        hashes: `text_hash` of each part, in reading order.
    """
    return hashes[0] if len(hashes) == 1 else text_hash("".join(hashes))


def version_settings(version: Any) -> str:
    """Return the half of a `doc_version` that depends on the splitter's settings."""
    return str(version or "").partition("-")[0]


def version_text(version: Any) -> str:
    """Return the half of a `doc_version` that depends on the text."""
    return str(version or "").partition("-")[2]


def _digest(text: str) -> bytes:
    digest: bytes = _sha256()(text.encode("utf-8", "surrogatepass")).digest()
    return digest


@lru_cache(maxsize=1)
def _sha256() -> Callable[[bytes], Any]:
    from hashlib import sha256  # here: it takes a part of the time of `import oprag`

    return sha256


def chunk_id(
    name: str,
    index: int,
    *,
    version: str = "",
    part: int | None = None,
    offset: int = 0,
) -> str:
    """Return the stable id of one chunk, a UUID.

    Indexing the same document twice gives the same ids, so a store replaces
    instead of doubling; another text or another size gives others. UUIDs are the
    one form that every store accepts.

    Args:
        name: The document's own name.
        index: Number of the chunk in its part, from 0.
        version: Its `doc_version`.
        part: Its `part_index`.
        offset: Start of the text that was split, if it was a chunk itself.
    """
    return make_named_id(f"{_part_of_ids(name, version, part, offset)}/{index}")


def chunk_ids(
    name: str,
    indexes: Iterable[int],
    *,
    version: str = "",
    part: int | None = None,
    offset: int = 0,
) -> list[str]:
    """Return the stable ids of several chunks of one part; see `chunk_id`."""
    of_part = _part_of_ids(name, version, part, offset)
    return [make_named_id(f"{of_part}/{index}") for index in indexes]


def _part_of_ids(name: str, version: str, part: int | None, offset: int) -> str:
    """Return the start of the strings that the ids of one part are hashed from."""
    number = "" if part is None else part
    return f"{document_key(name)}/{version}/{number}/{offset}"


def is_in_all(key: str, value: object, metadatas: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether all metadata have a value under a key; False for an array."""
    try:
        return all(bool(key in each and each[key] == value) for each in metadatas)
    except ValueError:
        return False


def make_indexed_id(metadata: Mapping[str, Any], index: int) -> str:
    """Return the id that `index_documents` gives to a chunk.

    It is made of the chunk's document, version and part, its number in the document,
    and all metadata except oprag's and headings of the text. So other metadata give
    another id. The id of a neighbouring chunk can be computed, if both have the same
    metadata.

    Args:
        metadata: Of the chunk, or of a neighbouring one.
        index: Its `chunk_index`.
    """
    return indexed_ids(metadata)(index)


def indexed_ids(metadata: Mapping[str, Any]) -> Callable[[int], str]:
    """Return a function that gives the id of each chunk with such metadata by number.

    See `make_indexed_id`.
    """
    start = metadata.get(CHAR_START)
    others = [
        # LangChain's key, which repeats the start of the chunk.
        (key, None if key == "start_index" and value == start else value)
        for key, value in metadata.items()
        if key not in OWN_KEYS and key not in OF_THE_TEXT
    ]
    others.sort(key=str)
    version, part = str(metadata.get(DOC_VERSION) or ""), metadata.get(PART_INDEX)
    of_part = _part_of_ids(str(metadata.get(DOC_URI) or ""), version, part, 0)
    told = f"\n{others!r}"
    return lambda index: make_named_id(make_named_id(f"{of_part}/{index}") + told)


def make_named_id(name: str) -> str:
    """Return the stable id of anything that has a name: `uuid5` in `NAMESPACE_OID`.

    Written out, because each chunk beside a hit needs one, and this takes a third of
    the time.
    """
    import hashlib  # here: it takes a part of the time of `import oprag`

    hashed = hashlib.sha1(_OID + name.encode(), usedforsecurity=False).hexdigest()
    first, second, third = hashed[:8], hashed[8:12], hashed[13:16]
    fourth = f"{_VARIANTS[hashed[16]]}{hashed[17:20]}"
    return f"{first}-{second}-5{third}-{fourth}-{hashed[20:32]}"


def make_joined_id(ids: Sequence[str], slices: Sequence[tuple[int, int]] = ()) -> str:
    """Return the stable id of a text made of several chunks, or of slices of them.

    Args:
        ids: Of the chunks, in reading order.
        slices: Spans, in characters, if it does not hold each chunk whole. Other
            slices of the same chunks have other ids.
    """
    places = "".join([f"\n{start}-{end}" for start, end in slices]) if slices else ""
    return make_named_id("\n".join(ids) + places)


def chunk_metadata(
    name: str,
    parts: Sequence[Sequence[tuple[int, int, int]]],
    token_counter: str = "",
    *,
    numbers: Sequence[int | None] | None = None,
    version: str = "",
) -> list[list[dict[str, str | int]]]:
    """Return the flat metadata for all chunks of one document.

    Args:
        name: The document's name.
        parts: The chunks of each part (a page, a section) in reading order: start,
            end and tokens of each. One part for a document that is a single text. A
            part may be empty.
        token_counter: Name of the counter that `token_count` comes from. If it is
            empty, the counts are left out, because nobody could tell later which
            tokens they count.
        numbers: `part_index` of each part; None to count several from 0.
        version: `doc_version`; left out if empty.

    Returns:
        One dict per chunk, in the same nesting as `parts`, its keys in the order of
        `OWN_KEYS`. `chunk_index` runs on over the parts.
    """
    head: dict[str, str | int] = {DOC_KEY: document_key(name), DOC_URI: name}
    if version:
        head[DOC_VERSION] = version
    total = sum(map(len, parts))
    if numbers is None:
        numbers = range(len(parts)) if len(parts) > 1 else [None]
    indexes = itertools.count()
    written = []
    for number, part in zip(numbers, parts, strict=True):
        row = []
        for start, end, tokens in part:
            entry = head.copy()
            if number is not None:
                entry[PART_INDEX] = number
            entry[CHUNK_INDEX] = next(indexes)
            entry[N_CHUNKS] = total
            entry[CHAR_START] = start
            entry[CHAR_END] = end
            if token_counter:
                entry[TOKEN_COUNT] = tokens
                entry[TOKEN_COUNTER] = token_counter
            row.append(entry)
        written.append(row)
    return written
