"""Read from a chunk's metadata which document it belongs to.

A name is a claim: `shared_names.py` tells several files of one name apart, by the facts
of their chunks.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from oprag.chunk import Hit
from oprag.citations import short_name
from oprag.metadata import (
    ALL_RESULT_KEYS,
    DOC_KEY,
    DOC_URI,
    OWN_KEYS,
    SCORE_KEYS,
    UNNAMED,
    as_number,
    is_in_all,
)
from oprag.positions.keys import PART_KEYS, SECTION_KEYS, list_keys, look_up
from oprag.positions.schemes import CHARACTER_KEYS, SCHEMES
from oprag.result_key import WrittenPlace, is_result, read_written

DocumentKey: TypeAlias = str | Callable[[Any], Any] | Sequence[Any]
"""A metadata key, an attribute name, a callable on the framework's object, or a
list of these: the first that gives a value counts."""

FILE_KEYS = ("file_path", "source", "original_file_name", "file_name", "filename")
"""Keys of readers and applications that name a file, the most telling first."""
_ADDRESS_KEYS = ("url", "source_url", "URL", "link")
FRAMEWORK_IDS = ("ref_doc_id", "document_id", "doc_id")
_ID_KEYS = (*FRAMEWORK_IDS, "file_id", "artifact_id", "full_doc_id")
ID_KEYS = (*_ID_KEYS, "source", "file_path", "original_file_name", "url", "file_name")
"""Keys that identify a document, the most telling first."""
_NAMES = (
    *(DOC_URI, "file_path", "source", "original_file_name", "file_name", "url"),
    *("title", "filename", "source_url", "URL", "link", "page_title"),
    *("document_name", "docnm_kwd"),
)
"""Keys of a document's name for people, the most telling first."""
_ID_ATTRIBUTES = ("document_id", "file_id", "artifact_id")
"""Attributes of applications' own chunks that name a document. `doc_id` is not among
them: on LlamaIndex's documents it is the object's own id."""
NO_NAME = ("", "None", "blob")
"""LlamaIndex writes the string "None" for a node without a source. LangChain.js and n8n
call every file that was handed over in memory "blob"."""
_UUID = re.compile(r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$")
_NUMBERED = re.compile(r"[^A-Za-z0-9].*\d$")
"""The rest after the name of a file, in the id of a part of that file."""
_SPLIT_KEYS = frozenset((*PART_KEYS, *SECTION_KEYS))

_HAS_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,5}$")
_OF_MANY = re.compile(
    r"\.(csv|tsv|xlsx?|ods|jsonl?|ndjson|parquet|db|sqlite3?|xml|zip|mbox|com|org|net)$",
    re.IGNORECASE,
)
"""Names of tables, data and systems, which may hold many documents."""

TIME_KEYS = ("start_seconds", "start_time", "start")
"""Keys of the second at which a chunk of a talk begins."""
_PLACE_IN_FILE = re.compile(r"#(page=\d+|L\d+(-L?\d+)?|t=[\d.,:hms]+)$")
_TIME_IN_LINK = re.compile(r"([?&])(t|start)=([\d.]+)s?(?=&|#|$)")
_VIDEOS = re.compile(r"https?://([\w-]+\.)*(youtube\.com|youtu\.be|vimeo\.com)/")


class Identity(NamedTuple):
    """The document that a chunk names."""

    key: str
    """Equal for all chunks of one document."""
    name: str
    """The document's name for people, in full; empty for a text without a name."""
    shared_name: str | None = None
    """The key that this file would have if no other file had its name."""
    derived: tuple[str, str] | None = None
    """Key and short name from its metadata alone, as `derive_identity` returns them;
    None if they were not needed."""

    @staticmethod
    def file_of(metadata: Mapping[str, Any]) -> str | None:
        """Return the file that the metadata name, if it is one text; else None."""
        return find_file(metadata)


def identify_document(
    hit: Hit, document_key: DocumentKey | None = None
) -> Identity | None:
    """Read key and full name of the document of one hit; None if it names none."""
    metadata = hit.metadata
    written = read_written(metadata)
    result = None if written is None else identify_result(metadata, written)
    if result is not None and result.key.startswith(UNNAMED):
        result = None
    if document_key is not None:
        return _identify_by_user(hit, document_key, result)
    if result is not None and result.key:
        return result
    key = _find_key(hit)
    if key is None:
        key = first_name(getattr(hit.subject, each, None) for each in _ID_ATTRIBUTES)
        if key is None:
            return None
        return Identity(key, _name_document(metadata, key))
    name = _name_document(metadata, key)
    if key == hit.document:  # which is not in the metadata
        return Identity(key, name)
    return Identity(key, name, derived=(key, short_name(name)))


def _identify_by_user(
    hit: Hit, document_key: DocumentKey, result: Identity | None
) -> Identity | None:
    """Read the document by the user's key, else by the one written on a result."""
    values = [
        look_up(hit.metadata, hit.subject, key) for key in list_keys(document_key)
    ]
    key = first_name(values, NO_NAME[:2])  # "blob" is one if the user says so
    if result is not None:
        return result if key is None else result._replace(key=key)
    if key is None:
        return None
    return Identity(key, _find_name(hit.metadata, _NAMES[:1]) or key)


def identify_result(metadata: Mapping[str, Any], written: WrittenPlace) -> Identity:
    """Return the document written on a result, else the one its other metadata name.

    Its name is the short one, for people. Both are empty if nothing names a document.
    """
    key, name = written.document_key, written.document_name
    if key is not None and name is not None and "#" not in key:
        return Identity(key, name)
    derived = derive_identity(metadata)
    shared = None
    if key is not None and key.startswith("#"):
        key = derived.key + key
    if key is not None and derived.key and key.startswith(f"{derived.key}#"):
        shared = derived.key
    return Identity(
        derived.key if key is None else key,
        derived.name if name is None else name,
        shared,
        (derived.key, derived.name),
    )


def derive_identity(metadata: Mapping[str, Any]) -> Identity:
    """Return the document that the metadata alone name, and its short name.

    On a result, the reserved keys are ignored. Both are empty if they name none.
    """
    key = _find_key(Hit("", metadata))
    if key is None:
        return Identity("", "")
    return Identity(key, short_name(_name_document(metadata, key)))


def _name_document(metadata: Mapping[str, Any], key: str) -> str:
    """Return a document's name for people, in full; its key if nothing names it."""
    name = _find_name(metadata, _NAMES)
    return _spell(strip_place(name, metadata)) or key


def find_file(metadata: Mapping[str, Any]) -> str | None:
    """Return the file that the metadata name, if it is one text; else None.

    A table or a system (`tickets.csv`, `confluence`) is none: it holds many documents.
    """
    for key in (*FILE_KEYS, *_ADDRESS_KEYS):
        name = first_name((metadata.get(key),))
        if name is not None and _is_one_text(name):
            return name
    return None


def is_made_up(key: str, file: str) -> bool:
    """Return whether a framework made up an id for a text of a file.

    Such an id is a UUID, or the name of the file and a number. It may be for one of
    several texts of the file (LlamaIndex), or for one of its chunks.
    """
    if _UUID.match(key) is not None:
        return True
    for name in (file, _base(file)):
        if key.startswith(name):
            return _NUMBERED.match(key, len(name)) is not None
    return False


def _base(file: str) -> str:
    return file.replace("\\", "/").rpartition("/")[2]


def counts_from_parent(hit: Hit) -> bool:
    """Return whether a hit's `start_index` may count from a parent.

    LangChain gives the children of a parent a random `doc_id`, whether the parent is
    a document or was cut out of one. Only full texts can tell which.
    """
    parent = hit.metadata.get("doc_id")
    return (
        isinstance(parent, str)
        and _UUID.match(parent) is not None
        and "start_index" in hit.metadata
        and DOC_KEY not in hit.metadata
        and not is_result(hit.metadata)
    )


def document_name(metadata: Mapping[str, Any]) -> str | None:
    """Return the name of a document that is to be split or indexed.

    The first of these: `doc_uri` or `doc_key`; the file, because the ids of a framework
    may be of one page, or of one run; other ids. None if the metadata have none of
    them.
    """
    keys = (DOC_URI, DOC_KEY, *FILE_KEYS, *ID_KEYS)
    return first_name(metadata.get(key) for key in keys)


def first_name(values: Iterable[Any], no_name: Sequence[str] = NO_NAME) -> str | None:
    """Return the first value that is a name, as a string; None if none is."""
    for value in values:
        if value is None or (isinstance(value, float) and math.isnan(value)):
            continue  # pandas writes NaN for nothing
        if (name := str(value)) not in no_name:
            return name
    return None


def strip_place(name: str, metadata: Mapping[str, Any]) -> str:
    """Return the name of a file without the page, line or second that it points to.

    `#page=3`, `#L10` and `#t=90` point into any file. `t=90` and `start=90` in an
    address do so on YouTube and Vimeo, and if the chunk has the same time. Any other
    fragment may be a separate page (`#/guide`, a post of a forum).
    """
    if "#" in name:
        name = _PLACE_IN_FILE.sub("", name)
    if "t=" not in name and "start=" not in name:
        return name
    found = _TIME_IN_LINK.search(name)
    if found is None:
        return name
    times = [as_number(metadata.get(key)) for key in TIME_KEYS]
    if as_number(found[3]) not in times and not _VIDEOS.match(name):
        return name
    name, rest = name[: found.start()], name[found.end() :].removeprefix("&")
    return f"{name}{found[1]}{rest}" if rest else name


@lru_cache(maxsize=4096)
def _spell(name: str) -> str:
    """Return a key in one spelling: composed letters, no `./` in front."""
    return unicodedata.normalize("NFC", name).removeprefix("./")


def _is_one_text(name: str) -> bool:
    if _OF_MANY.search(name):
        return False
    has_folder = "/" in name.partition("://")[2] or "\\" in name
    return has_folder or _HAS_EXTENSION.search(name) is not None


def _find_key(hit: Hit) -> str | None:
    """Return the key of a hit's document by the known keys; None if it has none."""
    metadata = hit.metadata
    own = metadata.get(DOC_KEY)
    if type(own) is str and own not in NO_NAME:
        return own
    file = find_file(metadata)
    if not _SPLIT_KEYS.isdisjoint(metadata) or metadata.get("loc") is not None:
        file = file or first_name(metadata.get(key) for key in FILE_KEYS)
        if file is not None:
            return _spell(strip_place(file, metadata))
    for key in (hit.document, *(metadata.get(each) for each in _ID_KEYS)):
        name = first_name((key,))
        if name is not None and not (file and is_made_up(name, file)):
            return name
    name = first_name(metadata.get(key) for key in ID_KEYS)
    if file is not None and (name is None or is_made_up(name, file)):
        name = file
    return None if name is None else _spell(strip_place(name, metadata))


def _find_name(metadata: Mapping[str, Any], keys: Sequence[str]) -> str:
    """Return the first text that is no id, else the first; empty if there is none."""
    first = ""
    for key in keys:
        name = metadata.get(key)
        if not isinstance(name, str) or name in NO_NAME:
            continue
        if not _UUID.match(name):
            return name
        first = first or name
    return first


POSITION_METADATA = {
    *(key for key in OWN_KEYS if key not in (DOC_KEY, DOC_URI)),
    *(scheme.start for scheme in SCHEMES),
    *(*CHARACTER_KEYS, *PART_KEYS, "loc", *SCORE_KEYS, *ALL_RESULT_KEYS),
}
"""Metadata about the position, the size or the score of a chunk."""


def document_metadata(
    name: str, metadatas: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the known metadata of a document: its name, and all that chunks share.

    Args:
        name: The document's.
        metadatas: Of its chunks.
    """
    first = metadatas[0] if metadatas else {}
    return {DOC_URI: name} | {
        key: value
        for key, value in first.items()
        if key not in POSITION_METADATA and is_in_all(key, value, metadatas)
    }
