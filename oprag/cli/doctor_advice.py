"""What to do about what `oprag doctor` found, as the table of docs/doctor.md says."""

from __future__ import annotations

from collections.abc import Iterator

from oprag.diagnosing import Diagnosis

_REPAIRED = frozenset(
    {
        *("missing_position", "unscoped_position", "ambiguous_position"),
        *("conflicting_text", "invalid_span", "order_mismatch", "incomplete"),
        *("wrong_position", "unrecorded_position"),
    }
)
_ANOTHER_FOLDER = frozenset({"no_source", "other_source"})
_INDEXED_AGAIN = frozenset({"duplicate", "incomplete", "ambiguous_place", "not_found"})


def advice(diagnosis: Diagnosis, *, repairing: bool) -> Iterator[str]:
    """Say what may be done, one sentence each, the likeliest first.

    Args:
        diagnosis: What was found.
        repairing: Whether a repair was asked for; it is not advised again.
    """
    kinds = {problem.kind for problem in diagnosis.problems if problem.serious}
    if "missing_document" in kinds:
        yield "name the key that says the document: --document-key KEY"
    if kinds & _REPAIRED and not repairing:
        if diagnosis.proofs is None:
            yield "give the files that were indexed: --documents FOLDER --repair"
        else:
            yield "see what a repair would write: --repair"
    if "missing_position" in kinds:
        yield "or name the key that holds the position, if one does: --position-key KEY"
    if kinds & _ANOTHER_FOLDER:
        yield "give the folder that holds what was indexed: --documents FOLDER"
    if kinds & _INDEXED_AGAIN:
        yield "index the documents again, where a repair does not help"
