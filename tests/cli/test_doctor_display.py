"""What `oprag doctor` says is to be done."""

from __future__ import annotations

import io

from rich.console import Console

from oprag.cli.doctor_display import advice
from oprag.cli.progress import examining
from oprag.diagnosing import Diagnosis, diagnose, plan_repair
from oprag.documents import StoredChunk

TEXT = "One day.\nAnother day."


def chunks(*metadatas: dict[str, object]) -> list[StoredChunk]:
    texts = TEXT.splitlines()
    return [
        StoredChunk(texts[number], metadata, str(number))
        for number, metadata in enumerate(metadatas)
    ]


def said(diagnosis: Diagnosis, *, repairing: bool = False) -> str:
    return "\n".join(advice(diagnosis, repairing=repairing))


def test_a_repair_is_advised_with_the_options_that_are_still_missing():
    bare = chunks({"source": "a"}, {"source": "a"})
    plan = plan_repair(bare, {"a": TEXT})

    assert "--documents FOLDER --repair" in said(diagnose(bare))
    assert "would write: --repair" in said(plan.diagnosis)
    assert "--documents" not in said(plan.diagnosis)
    assert "--repair" not in said(plan.diagnosis, repairing=True)


def test_a_missing_document_and_a_wrong_folder_have_their_own_advice():
    nameless = chunks({"start_index": 0}, {"start_index": 9})
    ordered = chunks(
        {"source": "a", "start_index": 0}, {"source": "a", "start_index": 9}
    )

    assert "--document-key" in said(diagnose(nameless))
    assert said(diagnose(ordered)) == ""
    for wrong, hint in (
        ({"b": "Another text."}, "looked for 'a'; given are 'b'"),
        ({"a": "Another text."}, "folder that holds the texts that were indexed"),
    ):
        told = said(diagnose(ordered, documents=wrong), repairing=True)
        assert hint in told


def test_how_far_it_is_is_shown_on_a_terminal_and_nowhere_else():
    chunks = [StoredChunk("", {}, str(number)) for number in range(3)]
    shown = {}
    for terminal in (True, False):
        written = io.StringIO()
        console = Console(file=written, force_terminal=terminal, width=100)
        with examining(console, chunks, 4) as read:
            assert next(read) == chunks[0]
            assert [*read] == chunks[1:]
        shown[terminal] = written.getvalue()

    assert "Examining" in shown[True]
    assert "3/" in shown[True]
    assert shown[False].strip() == ""
