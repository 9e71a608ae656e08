"""What `oprag doctor` shows: plain text, coloured on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from oprag.diagnosing import Diagnosis, Problem, RepairPlan

_COLOURS = {
    "ordered": "bold green",
    "ordered with options": "bold yellow",
    "not ordered": "bold red",
    "damaged": "bold red",
}
_SHOWN = 3
"""Examples shown of each problem; `--json` has five, and all chunks of a plan."""


def diagnosis_lines(diagnosis: Diagnosis, name: str) -> Iterator[Text]:
    """The verdict, the problems, what the sources prove, and the options."""
    chunks = f"{diagnosis.chunks:,} chunks"
    if diagnosis.sampled:
        chunks = f"the first {chunks}"
    yield Text.assemble(
        (f"{name}: ", "bold"),
        (diagnosis.verdict, _COLOURS[diagnosis.verdict]),
        f" ({chunks}, {diagnosis.documents:,} documents)",
    )
    yield from _problems(diagnosis.problems)
    yield from _proofs(diagnosis)
    if diagnosis.verdict == "ordered with options":
        yield Text("\nPass", "bold")
        yield Text(f"  {diagnosis.options.code()}")


def advice_lines(
    diagnosis: Diagnosis, *, repairing: bool, others: Sequence[str] = ()
) -> Iterator[Text]:
    """What to do about it; nothing for an index that is healthy."""
    lines = list(advice(diagnosis, repairing=repairing, others=others))
    if lines:
        yield Text("\nWhat to do", "bold")
    for line in lines:
        yield Text(f"  {line}")


def plan_lines(plan: RepairPlan, *, written: bool) -> Iterator[Text]:
    """What a repair writes, or has written, and what it leaves."""
    documents = dict.fromkeys(change.document for change in plan.changes)
    done = "were written" if written else "would be written; --write does it"
    what = f"{len(plan.changes):,} chunks of {len(documents):,} documents {done}"
    yield Text.assemble(
        ("\nRepair: ", "bold"), what if plan.changes else "there is nothing to write"
    )
    for change in plan.changes[:_SHOWN]:
        shown = ", ".join(
            f"{key}={value!r}" if value is not None else f"-{key}"
            for key, value in change.update.items()
            if not key.startswith("_")
        )
        yield Text(f"  {change.id}: {shown}", "dim")
    if len(plan.changes) > _SHOWN:
        yield Text(f"  and {len(plan.changes) - _SHOWN:,} more", "dim")
    if plan.unproved:
        yield Text(f"  {len(plan.unproved):,} chunks get no proved place:")
        for chunk in plan.unproved[:_SHOWN]:
            place = f" of {chunk.document}" if chunk.document else ""
            yield Text(f"    {chunk.chunk}{place}: {chunk.detail}", "dim")


def _problems(problems: Sequence[Problem]) -> Iterator[Text]:
    if problems:
        yield Text("\nProblems", "bold")
    for problem in problems:
        count = f"{problem.chunks:,} chunks" if problem.chunks else ""
        where = f" in {problem.documents:,} documents" if problem.documents else ""
        line = Text(f"  {problem.kind}", "red")
        said = ". ".join(filter(None, (count + where, problem.message)))
        yield line.append(f": {said}", "")
        for example in problem.examples[:_SHOWN]:
            facts = [fact for fact in (example.document, example.detail) if fact]
            yield Text(f"    {example.chunk}: {'; '.join(facts)}", "dim")


def _proofs(diagnosis: Diagnosis) -> Iterator[Text]:
    proofs = diagnosis.proofs
    if proofs is None:
        return
    yield Text("\nThe sources prove", "bold")
    counts = {
        "right as recorded": proofs.proved,
        "wrong, the true place is known": proofs.moved,
        "not recorded, the place is known": proofs.placed,
        "more than one place possible": proofs.ambiguous,
        "not in its source": proofs.not_found,
        "white space alone": proofs.blank,
        "without a source": proofs.no_source,
    }
    for what, count in counts.items():
        if count:
            yield Text(f"  {count:8,}  {what}")
    yield Text(
        f"  {proofs.complete:,} of {proofs.documents:,} documents are there "
        "without a gap"
    )


_REPAIRED = frozenset(
    {
        *("missing_position", "unscoped_position", "ambiguous_position"),
        *("conflicting_text", "incomplete"),
        *("wrong_position", "unrecorded_position", "unstamped"),
    }
)
_OTHERWISE = (
    (
        {"other_source"},
        "give the folder that holds the texts that were indexed: --documents FOLDER",
    ),
    (
        {
            *("duplicate", "incomplete", "ambiguous_place", "not_found"),
            *("altered_text", "unproved_text"),
        },
        "index the documents again, where a repair does not help",
    ),
    (
        {"foreign_chunks", "several_versions", "indexed_twice"},
        "index the documents again, and replace all: index_documents(…, replace='all')",
    ),
)
"""Problems, and what helps against any of them."""


def advice(
    diagnosis: Diagnosis, *, repairing: bool, others: Sequence[str] = ()
) -> Iterator[str]:
    """Say what may be done, one sentence each, the likeliest first.

    Args:
        diagnosis: What was found.
        repairing: Whether a repair was asked for; it is not advised again.
        others: The names of the collections beside the one that was examined.
    """
    found = {problem.kind: problem for problem in diagnosis.problems}
    kinds = {kind for kind, problem in found.items() if problem.serious}
    kinds |= {"unstamped"} & {*found}
    if "empty" in kinds:
        yield "index documents into the collection: index_documents(documents, store)"
        if others:
            yield f"or name another one: --collection NAME ({', '.join(others)})"
    if "missing_document" in kinds:
        yield "name the key that says the document: --document-key KEY"
    if kinds & _REPAIRED and not repairing:
        if diagnosis.proofs is None:
            yield "give the files that were indexed: --documents FOLDER --repair"
        else:
            yield "see what a repair would write: --repair"
    if "missing_position" in kinds:
        yield "or name the key that holds the position, if one does: --position-key KEY"
    if "no_source" in kinds:
        sought = found["no_source"].examples[0].detail
        yield f"give the folder that holds the files: --documents FOLDER ({sought})"
    yield from (sentence for those, sentence in _OTHERWISE if kinds & those)
