"""Examines an index: can it be put in document order, and what stands in the way?

`diagnose` reads the chunks as they lie in a store, asks the rules that retrieval has
of every document, and looks for options where these refuse. With the full texts at
hand it proves every position (`oprag.locating` says how), and `plan_repair`
says what to write so that the index is right.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from oprag.chunk import Hit
from oprag.diagnosing.examination import Examination
from oprag.diagnosing.examined import examine
from oprag.diagnosing.planning import Change, changes_of
from oprag.diagnosing.report import (
    Diagnosis,
    Example,
)
from oprag.documents import SourceLike, StoredChunk
from oprag.errors import invalid_option
from oprag.positions import DocumentKey, PositionKeys


class RepairPlan(NamedTuple):
    """What a repair writes, and what it leaves as it is."""

    changes: tuple[Change, ...]
    """One per chunk that is written, the chunks of a document together."""
    unproved: tuple[Example, ...]
    """All chunks that keep without a proved place, in the order of the store."""
    diagnosis: Diagnosis
    """The index before the repair."""


def diagnose(
    chunks: Iterable[StoredChunk | Hit],
    *,
    documents: SourceLike | None = None,
    sample: int | None = None,
    position_keys: PositionKeys | None = None,
    document_key: DocumentKey | None = None,
) -> Diagnosis:
    """Examine the chunks of an index.

    Args:
        chunks: As the store gives them (`ChunkStore.scan`), in its order; metadata
            that LlamaIndex wrote are read as it reads them. Nothing is written to.
        documents: The full texts, to prove every position: anything that
            `oprag.documents.document_source` takes. Documents are found by `doc_uri`,
            by the identity that the chunks carry, or by `file_path`, `source`,
            `file_name`, `url` or `title`; chunks without such a name by their text,
            where one document alone holds it and the documents can be listed.
        sample: Chunks to look at, the first ones; None for all.
        position_keys: As retrieval takes it, where the index needs it.
        document_key: The same.

    Returns:
        The verdict, the options to pass, the keys, and the problems with the options
        that were given.

    Raises:
        InvalidOptionError: `sample` is below 1, or `documents` holds no texts.
    """
    if sample is not None and sample < 1:
        raise invalid_option("sample", sample, "It takes 1 or more, or None for all.")
    read = iter(chunks)
    examined = [examine(chunk) for chunk in islice(read, sample)]
    sampled = sample is not None and next(read, None) is not None
    return Examination(
        examined, documents, position_keys, document_key, sampled=sampled
    ).diagnosis()


def plan_repair(
    chunks: Iterable[StoredChunk],
    documents: SourceLike,
    *,
    position_keys: PositionKeys | None = None,
    document_key: DocumentKey | None = None,
) -> RepairPlan:
    """Say what to write so that the positions of an index are the proved ones.

    Nothing is written. Chunks that have no proved place keep what they have, but for
    a position that the source disproves; they get the name of their document. Where
    the source holds not one chunk of a document, that stays as it is altogether. Once
    the changes are written, a second plan is empty; so is that of an index whose
    repair was broken off and done again.

    Args:
        chunks: All chunks of the index, each with its id in the store.
        documents: The full texts; see `diagnose`, as for the other options.
        position_keys: Where the recorded positions are.
        document_key: What names the document.

    Raises:
        InvalidOptionError: `documents` holds no texts.
    """
    examined = [examine(chunk) for chunk in chunks]
    examination = Examination(examined, documents, position_keys, document_key)
    changes = tuple(
        change
        for document in examination.proved
        for change in changes_of(examined, document)
    )
    return RepairPlan(changes, examination.unproved(), examination.diagnosis())
