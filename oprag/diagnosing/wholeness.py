"""Whether each document that oprag wrote is there whole, and once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from oprag.diagnosing.checks import Examined
from oprag.diagnosing.report import Findings
from oprag.documents import StoredChunk, StoredCopies, rebuild
from oprag.errors import IncompleteDocumentError, InconsistentChunksError, OpragError
from oprag.metadata import (
    CHAR_END,
    CHAR_START,
    CHUNK_INDEX,
    DOC_KEY,
    DOC_URI,
    DOC_VERSION,
    N_CHUNKS,
    NONSPACE_HASH,
    PART_INDEX,
    TOKEN_COUNTER,
    document_key,
    stamped_hash,
    version_text,
)
from oprag.positions import as_number, document_name


def check_documents(
    chunks: Sequence[Examined], findings: Findings, *, sampled: bool
) -> None:
    """Note what is wrong with whole documents, or there of them besides.

    The judge of a text is the one that reads it later, `oprag.documents.rebuild`.

    Args:
        chunks: All chunks.
        findings: Where it is noted.
        sampled: Whether there are more chunks than these, so that no document need be
            whole.
    """
    groups: dict[str, list[int]] = {}
    for i, chunk in enumerate(chunks):
        name = chunk.hit.metadata.get(DOC_URI)
        if isinstance(name, str) and chunk.hit.metadata.get(DOC_KEY) == document_key(
            name
        ):
            groups.setdefault(name, []).append(i)
    if not groups:
        return
    _check_copies(chunks, groups, findings)
    for name, members in groups.items():
        own = [StoredChunk(chunks[i].hit.text, chunks[i].hit.metadata) for i in members]
        _check_versions(name, members, own, findings)
        if not sampled:
            _check_texts(name, members, own, findings)


def _check_copies(
    chunks: Sequence[Examined], groups: Mapping[str, list[int]], findings: Findings
) -> None:
    """Note foreign chunks of documents, and their copies by other names, each once."""
    copies = StoredCopies(
        chunk.hit._replace(source=i) for i, chunk in enumerate(chunks)
    )
    told: set[int] = set()
    for name, members in groups.items():
        found = copies.of(name, [chunks[i].hit for i in members])
        for hit in found.foreign:
            other = document_name(hit.metadata) or name
            detail = "" if other == name else f"as {other}"
            findings.add("foreign_chunks", hit.source, name, detail)
        renamed = [hit for hit in found.renamed if hit.source not in told]
        for hit in renamed:
            other, detail = str(hit.metadata[DOC_URI]), f"the same text as {name}"
            findings.add("indexed_twice", hit.source, other, detail)
        if renamed:
            told.update(members)


def _check_texts(
    name: str, members: Sequence[int], own: Sequence[StoredChunk], findings: Findings
) -> None:
    """Note for each version what keeps its text from being read whole."""
    versions: dict[str, list[int]] = {}
    for at, chunk in enumerate(own):
        version = str(chunk.metadata.get(DOC_VERSION) or "")
        versions.setdefault(version, []).append(at)
    for places in versions.values():
        kind, detail = _judged(name, [own[at] for at in places])
        if kind:
            findings.add(kind, members[places[0]], name, detail)


def _check_versions(
    name: str, members: Sequence[int], own: Sequence[StoredChunk], findings: Findings
) -> None:
    """Note texts that replace each other; pages indexed one by one do not."""
    texts: dict[Any, dict[str, int]] = {}
    for chunk in own:
        of_part = texts.setdefault(chunk.metadata.get(PART_INDEX), {})
        text = version_text(chunk.metadata.get(DOC_VERSION))
        of_part[text] = of_part.get(text, 0) + 1
    for part, counts in texts.items():
        if len(counts) < 2:  # noqa: PLR2004 -- one text, of whatever sizes
            continue
        shown = " and ".join(f"{count:,}" for count in counts.values())
        detail = f"{len(counts)} texts, in {shown} chunks"
        for i, chunk in zip(members, own, strict=True):
            if chunk.metadata.get(PART_INDEX) == part:
                findings.add("several_versions", i, name, detail)


def _judged(name: str, chunks: Sequence[StoredChunk]) -> tuple[str, str]:
    """What keeps one version of a document from being read whole; empty for nothing.

    Chunks that are missing, and texts that are not as long as their span, are noted
    elsewhere.
    """
    if not _are_all_there(chunks):
        return "", ""
    stamped = any(stamped_hash(chunk.metadata) for chunk in chunks)
    try:
        rebuild(name, chunks, exact=stamped)
    except OpragError as error:
        detail = _plain(name, error)
        if _are_ours(chunks):
            return _damage(chunks, error), detail
        if not stamped:
            return "unstamped", detail
        return _of_another_splitter(name, chunks), detail
    return "" if stamped else "unstamped", ""


def _damage(chunks: Sequence[StoredChunk], error: OpragError) -> str:
    if any(map(_is_cut, chunks)):
        return ""
    return "gap" if isinstance(error, IncompleteDocumentError) else "altered_text"


def _of_another_splitter(name: str, chunks: Sequence[StoredChunk]) -> str:
    try:
        rebuild(name, chunks, exact=False)
    except InconsistentChunksError:
        return "altered_text"
    except IncompleteDocumentError as error:
        # Without a gap only the place where two of them meet is not known.
        return "inexact" if error.gap is None else "unproved_text"
    except OpragError:  # positions lack
        return "unproved_text"
    return "inexact"


def _are_all_there(chunks: Sequence[StoredChunk]) -> bool:
    numbers = {as_number(chunk.metadata.get(CHUNK_INDEX)) for chunk in chunks}
    totals = {as_number(chunk.metadata.get(N_CHUNKS)) for chunk in chunks}
    return numbers == set(range(len(numbers))) and totals == {len(numbers)}


def _are_ours(chunks: Sequence[StoredChunk]) -> bool:
    """Whether oprag's own splitters made them, which drop nothing."""
    return any(TOKEN_COUNTER in chunk.metadata for chunk in chunks) and not any(
        NONSPACE_HASH in chunk.metadata for chunk in chunks
    )


def _is_cut(chunk: StoredChunk) -> bool:
    start, end = (as_number(chunk.metadata.get(k)) for k in (CHAR_START, CHAR_END))
    return start is not None and end is not None and end - start != len(chunk.text)


def _plain(name: str, error: OpragError) -> str:
    """The first sentence of a message, without the document, which is named beside."""
    return error.message.removeprefix(f"Document {name!r}: ").partition(". ")[0]
