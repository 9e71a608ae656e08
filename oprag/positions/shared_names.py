"""Tell several files of one name apart, and several versions of one file.

A name is a claim: `temp.pdf` is every upload, `README.md` is in each folder. Facts that
a loader writes once for a file are enough to separate files. Weaker facts separate them
only if positions show that the chunks cannot be of one text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from oprag.chunk import Chunk, Hit
from oprag.citations import as_line
from oprag.errors import PositionError
from oprag.metadata import (
    CHUNK_INDEX,
    DOC_KEY,
    DOC_VERSION,
    PART_INDEX,
    SCORE_KEYS,
    as_number,
    document_key,
    drop_reserved_keys,
    make_indexed_id,
    version_text,
)
from oprag.ordering import group_by_document
from oprag.positions.identity import POSITION_METADATA, Identity
from oprag.positions.validity import deduplicate, find_contradiction
from oprag.result_key import is_result

STRONG_FACTS = ("total_pages", "file_size", "etag", "creationdate", "moddate")
"""Keys that a loader writes once for a file and never for a chunk."""
_FOLDER = re.compile(r"(^|_)(folder|directory|dir|repo|repository|bucket|drive)$")
_WEAK = re.compile(
    rf"{_FOLDER.pattern}|(^|_)(title|author|authors|creator|producer)$"
    r"|(creation|created|modified|modification|updated|uploaded|accessed)"
    r"|hash|md5|sha1|sha256|checksum",
    re.IGNORECASE,
)
"""Keys that differ between files, and sometimes between chunks of one file."""
_NO_SECTION = frozenset(("language", "lang", "locale", "id", "_id", "_collection_name"))
"""Keys that do not say from which text the offsets of a chunk count."""
_KEYS_ADDED_BY_STORES = frozenset(("_id", "_collection_name", *SCORE_KEYS))
_SUFFIX_DIGITS = 4
_MIN_CHUNKS = 2
"""Chunks that a group needs to show that it is a separate text."""
_MIN_GROUPS = 2
"""Groups of that many chunks that a key must make to separate files."""


class Separation(NamedTuple):
    """Chunks, with separate keys for several files of one name."""

    chunks: list[Chunk]
    doubts: dict[str, tuple[str, ...]]
    """By name of a document, the keys in which its chunks differ. They may show several
    files, but too little was retrieved to tell."""
    agreeing: frozenset[str]
    """Keys of documents whose positions can all be true, see `find_contradiction`."""


def separate_by_facts(
    hits: Sequence[Hit], identities: Sequence[Identity]
) -> list[Identity]:
    """Return the identities, with separate ones for files that strong facts tell apart.

    The facts are the values of `STRONG_FACTS` that all chunks of a name carry, and the
    version of the text of chunks that oprag split. Chunks that `index_documents` wrote
    are of one document, in one or several versions, because it replaces texts.
    """
    groups: dict[str, list[int]] = {}
    for i, identity in enumerate(identities):
        groups.setdefault(identity.key, []).append(i)
    separated = [*identities]
    for members in groups.values():
        if len(members) == 1:
            continue
        of_name = [hits[i] for i in members]
        facts = _read_facts(of_name)
        if len({*facts}) == 1:
            continue
        for i, fact in zip(members, facts, strict=True):
            separated[i] = _identify_file(identities[i], fact)
    return separated


def _identify_file(identity: Identity, fact: Hashable, folder: str = "") -> Identity:
    """Return the identity of one of several files of a name."""
    digest = document_key(f"{identity.key}\n{fact!r}")
    suffix = as_line(folder) or digest[:_SUFFIX_DIGITS]
    name = f"{identity.name} ({suffix})" if identity.name else ""
    key = f"{identity.key}#{digest}"
    return identity._replace(key=key, name=name, shared_name=identity.key)


def _read_facts(hits: Sequence[Hit]) -> list[Hashable]:
    """Return for each hit of one name the facts that separate its file from others."""
    # A result already names its file.
    if is_result(hits[0].metadata):
        return [()] * len(hits)
    first_version = hits[0].metadata.get(DOC_VERSION)
    versions = [""] * len(hits)
    if any(hit.metadata.get(DOC_VERSION) != first_version for hit in hits):
        # `index_documents` replaces texts, so these are versions of one document.
        if are_indexed(hits):
            return [()] * len(hits)
        versions = _read_conflicting_versions(hits)
    first = hits[0].metadata.keys()
    if first.isdisjoint(STRONG_FACTS):
        return [*versions]
    keys = [key for key in STRONG_FACTS if _is_on_all(key, hits)]
    if not keys:
        return [*versions]
    facts: list[Hashable] = []
    for hit, version in zip(hits, versions, strict=True):
        facts.append((version, *(normalize_value(hit.metadata[key]) for key in keys)))
    return facts


def _is_on_all(key: str, hits: Sequence[Hit]) -> bool:
    return all(hit.metadata.get(key) is not None for hit in hits)


def normalize_value(value: Any) -> str:
    """Return one string for values that some stores turn into each other: 2, 2.0."""
    number = as_number(value)
    return repr(value) if number is None else str(number)


def _read_conflicting_versions(hits: Sequence[Hit]) -> list[str]:
    """Return each hit's version if any page has several; otherwise empty strings.

    Pages that were split one by one each have a separate version. That does not make
    them different texts.
    """
    versions = [_read_version(hit.metadata) for hit in hits]
    of_page: dict[str, set[str]] = {}
    for hit, version in zip(hits, versions, strict=True):
        page = normalize_value(hit.metadata.get(PART_INDEX))
        of_page.setdefault(page, set()).add(version)
    if all(len(each) == 1 for each in of_page.values()):
        return [""] * len(hits)
    return versions


def _read_version(metadata: Mapping[str, Any]) -> str:
    is_own = isinstance(metadata.get(DOC_KEY), str)
    return version_text(metadata.get(DOC_VERSION)) if is_own else ""


def are_indexed(hits: Sequence[Hit]) -> bool:
    """Return whether `index_documents` wrote several versions, as their ids prove."""
    own = [hit for hit in hits if _read_version(hit.metadata)]
    versions = {_read_version(hit.metadata) for hit in own}
    return len(versions) > 1 and all(map(_is_indexed, own))


def _is_indexed(hit: Hit) -> bool:
    index = as_number(hit.metadata.get(CHUNK_INDEX))
    if index is None or not hit.id:
        return False
    metadata = drop_reserved_keys(hit.metadata)
    written = {
        key: metadata[key] for key in metadata if key not in _KEYS_ADDED_BY_STORES
    }
    return make_indexed_id(written, index) == hit.id


def separate_by_positions(
    chunks: Sequence[Chunk], problems: dict[str, Any] | None = None
) -> Separation:
    """Separate chunks of one document if positions show that they are of several.

    Chunks may claim one range with different texts. Then a fact of a file (title,
    author, date, hash, folder) separates them, provided that no group it makes
    contradicts itself and at least two groups have two chunks. If only another key does
    so, it names sections, whose order is unknown.

    Args:
        chunks: The chunks from `read_chunks`.
        problems: Collects by document key the errors that are raised without it.

    Raises:
        PositionError: The positions count from several sections.
    """
    doubts: dict[str, tuple[str, ...]] = {}
    moved: dict[int, Chunk] = {}
    agreeing = set[str]()
    for key, members in group_by_document(chunks).items():
        if len(members) == 1 or is_result(members[0].metadata):
            continue
        if not _contradict(members):
            agreeing.add(key)
            if differing := _find_differing(members):
                doubts[members[0].document_name or key] = differing
            continue
        fact = _find_divider(members, _is_weak)
        if fact is not None:
            moved.update((chunk.rank, _move_to_file(chunk, fact)) for chunk in members)
            continue
        section = _find_divider(members, _may_be_section)
        if section is not None:
            _raise_or_collect(_report_sections(members, section), problems)
    separated = [moved.get(chunk.rank, chunk) for chunk in chunks]
    return Separation(separated, doubts, frozenset(agreeing))


def _raise_or_collect(error: PositionError, problems: dict[str, Any] | None) -> None:
    if problems is None:
        raise error
    problems.setdefault(error.document, error)


def find_shared_names(chunks: Sequence[Chunk]) -> list[PositionError]:
    """Return a warning about each name that several files have."""
    of_name: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        # For a result, the component before has already warned.
        if chunk.shared_name is not None and not is_result(chunk.metadata):
            of_name.setdefault(chunk.text_id, []).append(chunk)
    return [_report_shared(name, members) for name, members in of_name.items()]


def keep_one_version(chunks: Sequence[Chunk]) -> tuple[list[Chunk], list[Chunk]]:
    """Return the chunks of the best hit's version of each document, and the others.

    `index_documents` replaces texts. If it is interrupted, it leaves chunks of two
    texts, which have no common order. Chunks of several sizes of one text stay together
    (`doc_version`). So do pages, which may have been split one by one: each page is
    checked separately.

    Args:
        chunks: Best first.
    """
    first = chunks[0].metadata.get(DOC_VERSION) if chunks else None
    if all(chunk.metadata.get(DOC_VERSION) == first for chunk in chunks):
        return [*chunks], []
    best: dict[tuple[str, int | None], str] = {}
    kept, others = list[Chunk](), list[Chunk]()
    for chunk in chunks:
        text = _read_version(chunk.metadata)
        is_kept = not text or text == best.setdefault(
            (chunk.document_key, chunk.part), text
        )
        if is_kept:
            kept.append(chunk)
        else:
            others.append(chunk)
    return kept, others


def are_of_one_file(one: Chunk, other: Chunk) -> bool:
    """Return whether nothing shows that two chunks of a document are of two files."""
    if one.metadata is other.metadata:
        return True
    version = _read_version(one.metadata)
    if version and version == _read_version(other.metadata):
        return True
    return not any(
        _is_weak(key) and other.metadata.get(key) != value
        for key, value in one.metadata.items()
    )


def _move_to_file(chunk: Chunk, fact: str) -> Chunk:
    """Return the chunk with the identity of the file that a fact names."""
    value = chunk.metadata[fact]
    folder = str(value) if _FOLDER.search(fact) else ""
    was = Identity(chunk.document_key, chunk.document_name or "", chunk.document_key)
    identity = _identify_file(was, (fact, normalize_value(value)), folder)
    return chunk._replace(
        document_key=identity.key,
        document_name=identity.name or None,
        shared_name=identity.shared_name,
    )


@lru_cache(maxsize=4096)
def _is_weak(key: str) -> bool:
    return key not in POSITION_METADATA and _WEAK.search(key) is not None


def _may_be_section(key: str) -> bool:
    return key not in POSITION_METADATA and key not in _NO_SECTION


def _find_differing(chunks: Sequence[Chunk]) -> tuple[str, ...]:
    """Return the keys that may show that chunks of one document are of several files.

    These are facts of files that differ, and any other key with several values, if
    several chunks share one of them.
    """
    first = chunks[0].metadata
    version = first.get(DOC_VERSION)
    if _read_version(first) and all(
        chunk.metadata.get(DOC_VERSION) == version for chunk in chunks
    ):
        return ()  # one text, by its hash
    differing = []
    for key, value in first.items():
        if not isinstance(key, str) or not _may_be_section(key):
            continue
        if all(chunk.metadata.get(key) is value for chunk in chunks):
            continue
        values = {normalize_value(chunk.metadata.get(key)) for chunk in chunks}
        is_fact = _is_weak(key) and len(values) > 1
        if is_fact or 1 < len(values) < len(chunks):
            differing.append(key)
    return tuple(sorted(differing))


def _find_divider(chunks: Sequence[Chunk], may_be: Callable[[str], bool]) -> str | None:
    """Return the key whose values divide chunks into groups that agree within.

    If several keys do, it is the one with the fewest groups, then the first by name.
    """
    found: list[tuple[int, str]] = []
    for key in chunks[0].metadata:
        if not isinstance(key, str) or not may_be(key):
            continue
        groups: dict[str, list[Chunk]] = {}
        for chunk in chunks:
            value = normalize_value(chunk.metadata.get(key))
            groups.setdefault(value, []).append(chunk)
        large = [group for group in groups.values() if len(group) >= _MIN_CHUNKS]
        if len(large) >= _MIN_GROUPS and not any(map(_contradict, groups.values())):
            found.append((len(groups), key))
    return min(found)[1] if found else None


def _contradict(chunks: Sequence[Chunk]) -> bool:
    return find_contradiction(deduplicate(chunks)) is not None


def _report_sections(chunks: Sequence[Chunk], key: str) -> PositionError:
    first = chunks[0]
    name = first.document_name or first.document_key
    message = (
        f"Document {name!r}: the positions count from one of several texts (the chunks "
        f"differ in {key}, and have the same range and other texts), so they do not "
        "order the document. If these are sections of one document, give its full text "
        "as documents=. If each is a document, give a function as document_key=, which "
        f"returns {key!r} together with the name."
    )
    return PositionError(
        message, kind="unscoped_position", document=first.document_key, keys=(key,)
    )


def _report_shared(name: str, chunks: Sequence[Chunk]) -> PositionError:
    files = len({chunk.document_key for chunk in chunks})
    message = (
        f"{len(chunks)} chunks under the name {name!r} are of {files} different texts. "
        "They are kept apart, each text in its order. Give each file another name, or "
        "say with document_key= what identifies a document."
    )
    return PositionError(message, kind="shared_name", document=name)
