"""The output of `oprag doctor`: plain text, coloured on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from oprag.citations import as_line
from oprag.diagnosing import Diagnosis, Problem, RepairPlan
from oprag.errors import count_nouns

_COLOURS = {
    "ordered": "bold green",
    "sampled": "bold green",
    "not ordered": "bold red",
    "damaged": "bold red",
}
_SAID = {"sampled": "no fault in the sample"}
_SHOWN = 3
"""Examples shown of each problem; `--json` has five, and all chunks of a plan."""


def diagnosis_lines(diagnosis: Diagnosis, name: str) -> Iterator[Text]:
    """Yield lines for the verdict, the problems, and the proofs of the sources."""
    verdict = diagnosis.verdict
    yield Text.assemble(
        (f"{name}: ", "bold"),
        (_SAID.get(verdict, verdict), _COLOURS[verdict]),
        f" ({diagnosis.counted}, {count_nouns(diagnosis.documents, 'document')})",
    )
    yield from _problems(diagnosis.problems)
    yield from _proofs(diagnosis)


def next_step(diagnosis: Diagnosis, *, repairing: bool) -> str:
    """Return the next step; empty for an index that is healthy, or holds nothing.

    Args:
        diagnosis: The result of the check.
        repairing: Whether a repair was asked for; it is not advised again.
    """
    kinds = {problem.kind for problem in diagnosis.problems if problem.serious}
    if not kinds or kinds == {"empty"}:
        return ""
    proved = diagnosis.proofs and diagnosis.proofs.documents
    if not (diagnosis.documents or proved):
        return "name the key that says which document a chunk is from: --document-key"
    if diagnosis.proofs is None:
        return "give the files that were indexed: --documents FOLDER --repair"
    if kinds & {"no_source", "other_source"}:
        return "give the folder that holds the files: --documents FOLDER"
    if not repairing:
        return "see what a repair would write: --repair"
    return "index the documents again, where a repair does not help"


def plan_lines(plan: RepairPlan, *, written: bool) -> Iterator[Text]:
    """Yield lines for the changes that a repair makes or has made, and for the rest."""
    documents = dict.fromkeys(change.document for change in plan.changes)
    done = "were written" if written else "would be written; --write does it"
    chunks = count_nouns(len(plan.changes), "chunk")
    what = f"{chunks} of {count_nouns(len(documents), 'document')} {done}"
    yield Text.assemble(
        ("\nRepair: ", "bold"), what if plan.changes else "there is nothing to write"
    )
    if unpaged := [each for each in plan.changes if each.leaves_page]:
        yield Text(
            f"  {count_nouns(len(unpaged), 'chunk')} will be cited by characters of "
            "the file, and no longer by page. To keep the pages, write nothing, and "
            "give the retriever documents=loader.load()"
        )
    for change in plan.changes[:_SHOWN]:
        shown = ", ".join(
            f"{key}={value!r}" if value is not None else f"-{key}"
            for key, value in change.update.items()
            if not key.startswith("_")
        )
        yield Text(f"  {as_line(change.id)}: {shown}", "dim")
    if len(plan.changes) > _SHOWN:
        yield Text(f"  and {len(plan.changes) - _SHOWN:,} more", "dim")
    if plan.unproved:
        yield Text(
            f"  Without a proved place: {count_nouns(len(plan.unproved), 'chunk')}"
        )
        for chunk in plan.unproved[:_SHOWN]:
            place = f" of {as_line(chunk.document)}" if chunk.document else ""
            yield Text(f"    {as_line(chunk.chunk)}{place}: {chunk.detail}", "dim")


def _problems(problems: Sequence[Problem]) -> Iterator[Text]:
    if problems:
        yield Text("\nProblems", "bold")
    for problem in problems:
        count = count_nouns(problem.chunks, "chunk") if problem.chunks else ""
        of = count_nouns(problem.documents, "document")
        where = f" in {of}" if problem.documents else ""
        line = Text(f"  {problem.kind}", "red")
        said = ". ".join(filter(None, (count + where, problem.message)))
        yield line.append(f": {said}", "")
        for example in problem.examples[:_SHOWN]:
            facts = [fact for fact in (example.document, example.detail) if fact]
            said = "; ".join(map(as_line, facts))
            yield Text(f"    {as_line(example.chunk)}: {said}", "dim")


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
