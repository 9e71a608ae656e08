"""Long context in a small window: it is cut, it is said, and it is no retrieval."""

from oprag_eval.reports import write_reports
from oprag_eval.reports.tables import tables_of
from tests.evaluation.small import Replies, bench_of, ran, set_of_four, system


def summarized(path, systems, dataset, budget, **options):
    bench = bench_of(Replies(lambda _: "unanswerable"), dataset, **options)
    return write_reports(ran(path, systems, [budget], bench), dataset)


def test_a_row_says_that_it_was_cut_and_how_often(tmp_path):
    systems = [
        system("dos-rag", "size=20"),
        system("full-document"),
        system("self-route", "k=1,size=20"),
    ]
    small = {"window": 238, "max_reply": 40}
    summary = summarized(tmp_path, systems, set_of_four(), 60, **small)
    named = [row[0] for row in tables_of(summary)[0].rows]

    # The harbour, of two questions, does not fit; the mill does.
    assert named == ["dos-rag", "full-document, cut", "self-route, cut"]
    assert any(
        "full-document, cut: 2 of 4; self-route, cut: 2 of 4" in note
        for note in summary.notes
    )


def test_what_fits_is_said_to_be_whole(tmp_path):
    summary = summarized(tmp_path, [system("full-document")], set_of_four(), 60)

    assert [row.label for row in summary.arms] == ["full-document"]
    assert not any("whole" in note for note in summary.notes)
