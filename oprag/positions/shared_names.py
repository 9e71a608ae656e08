"""Tell several files of one name apart, and several versions of one file.

A name is a claim: `temp.pdf` is every upload, `README.md` is in each folder. A query
checks it twice:

1. Before positions are read, by strong facts and versions: a loader writes them once
   for a file, so hits that differ in them are of different files (`separate_by_facts`).
2. Once positions are read, chunks of one name may contradict each other, so they cannot
   be of one text. Then a weak fact, which may also differ within a file, says of which
   file each is (`separate_by_positions`).

A file that is told apart gets its own key and name (`_identify_file`). Of the versions
that one file still has, the chunks of one are kept for each page (`keep_one_version`).
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from oprag.chunk import Chunk, Hit
from oprag.citations import as_line
from oprag.errors import PositionError
from oprag.metadata import (
    CHUNK_INDEX,
    DOC_KEY,
    DOC_VERSION,
    N_CHUNKS,
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
_WEAK_FACT = re.compile(
    rf"{_FOLDER.pattern}|(^|_)(title|author|authors|creator|producer)$"
    r"|(creation|created|modified|modification|updated|uploaded|accessed)"
    r"|hash|md5|sha1|sha256|checksum",
    re.IGNORECASE,
)
"""Keys that differ between files, and sometimes between chunks of one file."""
_KEYS_OF_CHUNKS = frozenset(
    (
        *POSITION_METADATA,
        *("language", "lang", "locale", "id", "_id", "_collection_name"),
    )
)
"""Keys that differ between chunks of one text. Any other key may name the text from
which the offsets of a chunk count: a file or a section."""
_KEYS_ADDED_BY_STORES = frozenset(("_id", "_collection_name", *SCORE_KEYS))
_SUFFIX_DIGITS = 4
_MIN_CHUNKS = 2
"""Chunks that a group needs to show that it is a separate text."""
_MIN_GROUPS = 2
"""Groups of that many chunks that a key must make to separate files."""


# 1. Before positions are read: hits of one name, by strong facts.


def separate_by_facts(
    hits: Sequence[Hit], identities: Sequence[Identity]
) -> list[Identity]:
    """Return the identities, with separate ones for files that strong facts tell apart.

    The facts are the values of `STRONG_FACTS` that all hits of a name carry, and the
    versions of texts that oprag split, if any page has several. They do not separate
    results, which already name their files, nor several versions that are all from
    `index_documents`, which are of one document.
    """
    of_key: dict[str, list[int]] = {}
    for rank, identity in enumerate(identities):
        of_key.setdefault(identity.key, []).append(rank)
    separated = [*identities]
    for ranks in of_key.values():
        if len(ranks) == 1:
            continue
        named_alike = [hits[rank] for rank in ranks]
        if _are_results(named_alike) or are_indexed_versions(named_alike):
            continue
        facts = _read_facts(named_alike)
        if len({*facts}) == 1:
            continue
        for rank, fact in zip(ranks, facts, strict=True):
            separated[rank] = _identify_file(identities[rank], fact)
    return separated


def _are_results(hits: Sequence[Hit | Chunk]) -> bool:
    """Return whether a component before wrote all of these."""
    return all(is_result(hit.metadata) for hit in hits)


def are_indexed_versions(hits: Sequence[Hit]) -> bool:
    """Return whether `index_documents` wrote several versions, as their ids prove.

    It replaces texts, so these are versions of one document.
    """
    if _have_one_version(hits):
        return False
    split_by_oprag = [hit for hit in hits if _read_text_version(hit.metadata)]
    versions = {_read_text_version(hit.metadata) for hit in split_by_oprag}
    return len(versions) > 1 and all(map(_is_indexed, split_by_oprag))


def _have_one_version(hits: Sequence[Hit | Chunk]) -> bool:
    """Return whether all have the same text and settings, or none says which."""
    versions = [hit.metadata.get(DOC_VERSION) for hit in hits]
    return all(version == versions[0] for version in versions)


def _read_text_version(metadata: Mapping[str, Any]) -> str:
    """Return the hash of the text that oprag split; empty if another program did."""
    if not isinstance(metadata.get(DOC_KEY), str):
        return ""
    return version_text(metadata.get(DOC_VERSION))


def _is_indexed(hit: Hit) -> bool:
    """Return whether the id of a hit is the one that `index_documents` gives it."""
    index = as_number(hit.metadata.get(CHUNK_INDEX))
    if index is None or not hit.id:
        return False
    metadata = drop_reserved_keys(hit.metadata)
    written = {
        key: metadata[key] for key in metadata if key not in _KEYS_ADDED_BY_STORES
    }
    return make_indexed_id(written, index) == hit.id


def _read_facts(hits: Sequence[Hit]) -> Sequence[Hashable]:
    """Return for each hit of one name the facts that separate its file from others."""
    versions = _read_conflicting_versions(hits)
    keys = [key for key in STRONG_FACTS if _is_on_all(key, hits)]
    if not keys:
        return versions
    facts = []
    for hit, version in zip(hits, versions, strict=True):
        facts.append((version, *(normalize_value(hit.metadata[key]) for key in keys)))
    return facts


def _read_conflicting_versions(hits: Sequence[Hit]) -> list[str]:
    """Return each hit's version if any page has several; otherwise empty strings.

    Pages that were split one by one each have a separate version. That does not make
    them different texts.
    """
    none = [""] * len(hits)
    if _have_one_version(hits):
        return none
    versions = [_read_text_version(hit.metadata) for hit in hits]
    of_page: dict[str, set[str]] = {}
    for hit, version in zip(hits, versions, strict=True):
        page = normalize_value(hit.metadata.get(PART_INDEX))
        of_page.setdefault(page, set()).add(version)
    if all(len(each) == 1 for each in of_page.values()):
        return none
    return versions


def _is_on_all(key: str, hits: Sequence[Hit]) -> bool:
    return all(hit.metadata.get(key) is not None for hit in hits)


def normalize_value(value: Any) -> str:
    """Return one string for values that some stores turn into each other: 2, 2.0."""
    number = as_number(value)
    return repr(value) if number is None else str(number)


def _identify_file(identity: Identity, fact: Hashable, folder: str = "") -> Identity:
    """Return the identity of one of several files of a name.

    Args:
        identity: The one that the files share.
        fact: The facts of this file.
        folder: Its folder, which its name for people then ends with.
    """
    digest = document_key(f"{identity.key}\n{fact!r}")
    suffix = as_line(folder) or digest[:_SUFFIX_DIGITS]
    name = f"{identity.name} ({suffix})" if identity.name else ""
    key = f"{identity.key}#{digest}"
    return identity._replace(key=key, name=name, shared_name=identity.key)


# 2. Once positions are read: chunks of one name, by positions and weak facts.


class Separation(NamedTuple):
    """Chunks, with separate keys for several files of one name."""

    chunks: list[Chunk]
    doubts: dict[str, tuple[str, ...]]
    """By name of a document, the keys in which its chunks differ. They may show several
    files, but too little was retrieved to tell."""
    agreeing: frozenset[str]
    """Keys of documents whose positions can all be true, see `find_contradiction`."""


def separate_by_positions(
    chunks: Sequence[Chunk], problems: dict[str, Any] | None = None
) -> Separation:
    """Separate chunks of one document if positions show that they are of several.

    Chunks may claim one range with different texts. Then a weak fact (title, author,
    date, hash, folder) separates them, provided that no group it makes contradicts
    itself and at least two groups have two chunks. If only another key does so, it
    names sections, whose order is unknown. Results are passed over: the component
    before has separated them.

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
        if len(members) == 1 or _are_results(members):
            continue
        if not _contradict(members):
            agreeing.add(key)
            if differing := _find_differing(members):
                doubts[members[0].document_name or key] = differing
            continue
        try:
            divided = _divide_by_weak_fact(members)
        except PositionError as error:
            if problems is None:
                raise
            problems.setdefault(error.document, error)
            continue
        moved.update((chunk.rank, chunk) for chunk in divided)
    separated = [moved.get(chunk.rank, chunk) for chunk in chunks]
    return Separation(separated, doubts, frozenset(agreeing))


def _contradict(chunks: Sequence[Chunk]) -> bool:
    return find_contradiction(deduplicate(chunks)) is not None


def _find_differing(chunks: Sequence[Chunk]) -> tuple[str, ...]:
    """Return the keys that may show that chunks of one document are of several files.

    These are weak facts that differ, and any other key with several values, if several
    chunks share one of them.
    """
    if _have_one_version(chunks) and _read_text_version(chunks[0].metadata):
        return ()  # one text, by its hash
    differing = []
    for key in _list_keys_of_texts(chunks):
        first = chunks[0].metadata.get(key)
        if all(chunk.metadata.get(key) is first for chunk in chunks):
            continue  # most keys end here, before their values are normalized
        values = {normalize_value(chunk.metadata.get(key)) for chunk in chunks}
        is_fact = _is_weak_fact(key) and len(values) > 1
        if is_fact or 1 < len(values) < len(chunks):
            differing.append(key)
    return tuple(sorted(differing))


def _list_keys_of_texts(chunks: Sequence[Chunk]) -> list[str]:
    """Return the keys of all chunks that may name a text, unsorted."""
    keys = set[Any]().union(*(chunk.metadata for chunk in chunks))
    return [key for key in keys - _KEYS_OF_CHUNKS if isinstance(key, str)]


@lru_cache(maxsize=4096)
def _is_weak_fact(key: Any) -> bool:
    if not isinstance(key, str) or key in POSITION_METADATA:
        return False
    return _WEAK_FACT.search(key) is not None


def _divide_by_weak_fact(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Move chunks that contradict each other to the files that a weak fact names.

    Returns:
        The chunks unchanged if no key divides them.

    Raises:
        PositionError: Only other keys divide them.
    """
    dividers = _find_dividers(chunks)
    facts = [*filter(_is_weak_fact, dividers)]
    if facts:
        return [_move_to_file(chunk, facts[0]) for chunk in chunks]
    if dividers:
        raise _report_sections(chunks, dividers[0])
    return [*chunks]


def _find_dividers(chunks: Sequence[Chunk]) -> list[str]:
    """Return the keys whose values divide chunks into groups that agree within.

    Those with the fewest groups come first, then by name.
    """
    n_groups: dict[str, int] = {}
    for key in _list_keys_of_texts(chunks):
        groups: dict[str, list[Chunk]] = {}
        for chunk in chunks:
            value = normalize_value(chunk.metadata.get(key))
            groups.setdefault(value, []).append(chunk)
        large = [group for group in groups.values() if len(group) >= _MIN_CHUNKS]
        if len(large) >= _MIN_GROUPS and not any(map(_contradict, groups.values())):
            n_groups[key] = len(groups)
    return sorted(n_groups, key=lambda key: (n_groups[key], key))


def _move_to_file(chunk: Chunk, fact: str) -> Chunk:
    """Return the chunk with the identity of the file that a weak fact names."""
    value = chunk.metadata.get(fact)
    is_folder = value is not None and _FOLDER.search(fact)
    folder = str(value) if is_folder else ""
    shared = Identity(chunk.document_key, chunk.document_name or "", chunk.document_key)
    identity = _identify_file(shared, (fact, normalize_value(value)), folder)
    return chunk._replace(
        document_key=identity.key,
        document_name=identity.name or None,
        shared_name=identity.shared_name,
    )


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


def keep_one_version(
    chunks: Sequence[Chunk], hits: Sequence[Hit] | None = None
) -> tuple[list[Chunk], list[Chunk]]:
    """Return the chunks of one version of each page, and the others.

    `index_documents` replaces texts. While it runs, or if it is interrupted, there are
    chunks of two texts, which have no common order, and one may lack chunks. The
    version is kept of which all chunks were found; if that is none or several, the best
    chunk's, which need not be whole. Pages are compared one by one, because they may
    have been split one by one; a document that is one text counts as a page. Chunks of
    several sizes of one text stay together, and so do chunks that another program
    split.

    Args:
        chunks: Best first.
        hits: By rank, if only versions count that `index_documents` wrote, as the ids
            prove: where the user says what is a document. None if all count.
    """
    if _have_one_version(chunks):
        return [*chunks], []
    version_of_page: dict[Hashable, str] = {}
    of_chunk = {
        chunk.rank: _read_text_version(chunk.metadata)
        for chunk in chunks
        if hits is None or _is_indexed(hits[chunk.rank])
    }
    of_a_version = [chunk for chunk in chunks if of_chunk.get(chunk.rank)]
    for chunk in [*_find_whole(of_a_version), *of_a_version]:
        version_of_page.setdefault(_page_of(chunk), of_chunk[chunk.rank])
    kept, others = list[Chunk](), list[Chunk]()
    for chunk in chunks:
        version = of_chunk.get(chunk.rank)
        is_kept = not version or version == version_of_page[_page_of(chunk)]
        (kept if is_kept else others).append(chunk)
    return kept, others


def _page_of(chunk: Chunk) -> Hashable:
    return chunk.document_key, chunk.metadata.get(DOC_KEY), chunk.part


def _find_whole(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return the chunks of those versions that have as many as `n_chunks` says."""
    numbers: dict[Hashable, set[int | None]] = {}
    members = [(c.metadata.get(DOC_KEY), c.metadata.get(DOC_VERSION)) for c in chunks]
    for chunk, version in zip(chunks, members, strict=True):
        index = as_number(chunk.metadata.get(CHUNK_INDEX))
        numbers.setdefault(version, set()).add(index)
    return [
        chunk
        for chunk, version in zip(chunks, members, strict=True)
        if len(numbers[version]) == as_number(chunk.metadata.get(N_CHUNKS))
    ]


def are_of_one_file(one: Chunk, other: Chunk) -> bool:
    """Return whether no weak fact tells two chunks of a document apart.

    A fact does so if the chunks have different values, or if only one of them has it.
    Of chunks that oprag split, the hash proves one text, whatever the facts are.
    """
    if one.metadata is other.metadata:
        return True
    version = _read_text_version(one.metadata)
    if version and version == _read_text_version(other.metadata):
        return True
    facts = filter(_is_weak_fact, one.metadata.keys() | other.metadata.keys())
    return all(one.metadata.get(key) == other.metadata.get(key) for key in facts)


def find_shared_names(chunks: Sequence[Chunk]) -> list[PositionError]:
    """Return a warning about each name that several files have."""
    of_name: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        if chunk.shared_name is not None:
            of_name.setdefault(chunk.text_id, []).append(chunk)
    warned = []
    for name, members in of_name.items():
        # Of results, the component before has already warned.
        if not _are_results(members):
            warned.append(_report_shared(name, members))
    return warned


def _report_shared(name: str, chunks: Sequence[Chunk]) -> PositionError:
    files = len({chunk.document_key for chunk in chunks})
    message = (
        f"{len(chunks)} chunks under the name {name!r} are of {files} different texts. "
        "They are kept apart, each text in its order. Give each file another name, or "
        "say with document_key= what identifies a document."
    )
    return PositionError(message, kind="shared_name", document=name)
