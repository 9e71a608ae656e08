"""Which of a document's chunks belong together, where a store holds several versions.

Chunks of two sizes live side by side; an interrupted run may leave those of two texts.
"""

from __future__ import annotations

from collections.abc import Sequence

from oprag.documents.stored_chunks import StoredChunk
from oprag.metadata import (
    CHUNK_INDEX,
    DOC_VERSION,
    N_CHUNKS,
    PART_INDEX,
    version_text,
)
from oprag.positions import as_number


def one_version(chunks: Sequence[StoredChunk]) -> list[StoredChunk] | None:
    """Return the chunks of one version of a document, and never of two.

    Args:
        chunks: All of one document.

    Returns:
        All of them if they are of one version. Else those of the version that is
        complete; of several complete ones of the same text that with the fewest
        chunks. None where that does not settle it: none is complete, two are of
        different texts, or another one has parts that the complete one lacks.
    """
    versions: dict[str, list[StoredChunk]] = {}
    for chunk in chunks:
        version = str(chunk.metadata.get(DOC_VERSION) or "")
        versions.setdefault(version, []).append(chunk)
    if len(versions) <= 1:
        return list(chunks)
    complete = [version for version in versions if _is_complete(versions[version])]
    if len({version_text(version) for version in complete}) != 1:
        return None
    best = min(complete, key=lambda version: (len(versions[version]), version))
    parts = {chunk.metadata.get(PART_INDEX) for chunk in versions[best]}
    if any(chunk.metadata.get(PART_INDEX) not in parts for chunk in chunks):
        return None
    return versions[best]


def _is_complete(chunks: Sequence[StoredChunk]) -> bool:
    totals = {as_number(chunk.metadata.get(N_CHUNKS)) for chunk in chunks}
    indexes = {as_number(chunk.metadata.get(CHUNK_INDEX)) for chunk in chunks}
    return totals == {len(indexes)} and indexes == set(range(len(indexes)))
