"""An index is examined: its keys, its problems, the options, and what sources prove."""

import json

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import MockEmbedding, VectorStoreIndex

import langchain_oprag
import llamaindex_oprag
from oprag.chunk import Hit
from oprag.diagnosing import Diagnosis, diagnose, plan_repair
from oprag.errors import InvalidOptionError
from oprag.metadata import document_key, text_hash
from oprag.stores import StoredChunk

DAYS = "One day.\nAnother day.\nOne day.\nThe end."
SPANS = [(0, 8), (9, 21), (22, 30), (31, 39)]
LINES = [DAYS[start:end] for start, end in SPANS]


def stored(texts, metadatas) -> list[StoredChunk]:
    return [
        StoredChunk(text, metadata, f"id-{number}")
        for number, (text, metadata) in enumerate(zip(texts, metadatas, strict=True))
    ]


def days(**columns) -> list[StoredChunk]:
    """The four lines, with metadata given by column."""
    rows = [{key: values[i] for key, values in columns.items()} for i in range(4)]
    return stored(LINES, [{"source": "days.txt", **row} for row in rows])


def kinds(diagnosis: Diagnosis) -> dict[str, int]:
    return {problem.kind: problem.chunks for problem in diagnosis.problems}


def own(**changed) -> list[StoredChunk]:
    """The four lines as oprag writes them."""
    return days(
        **{
            "doc_key": [document_key("days.txt")] * 4,
            "doc_uri": ["days.txt"] * 4,
            "chunk_index": [0, 1, 2, 3],
            "n_chunks": [4] * 4,
            "char_start": [start for start, _ in SPANS],
            "char_end": [end for _, end in SPANS],
            "chunk_hash": [*map(text_hash, LINES)],
            **changed,
        }
    )


def test_what_oprag_writes_is_healthy_and_proved():
    diagnosis = diagnose(own(), documents={"days.txt": DAYS})

    assert diagnosis.healthy
    assert diagnosis.verdict == "ordered"
    assert (diagnosis.proofs.proved, diagnosis.chunks, diagnosis.documents) == (4, 4, 1)
    assert diagnosis.proofs.complete == 1


@pytest.mark.parametrize(
    ("columns", "kind", "chunks"),
    [
        ({}, "missing_position", 4),
        ({"start_index": [0, -1, 22, 31]}, "missing_position", 1),
        ({"start_index": [0, 9, 0, 9]}, "conflicting_text", 4),
        ({"chunk_index": [0, 1, 2, 2]}, "ambiguous_position", 2),
        (
            {"start_index": [0, 9, 0, 9], "Header 1": ["A", "A", "B", "B"]},
            "unscoped_position",
            4,
        ),
    ],
)
def test_what_retrieval_refuses_is_told_with_counts(columns, kind, chunks):
    diagnosis = diagnose(days(**columns))

    assert kinds(diagnosis) == {kind: chunks}
    assert diagnosis.verdict == "not ordered"
    assert diagnosis.problems[0].documents == 1
    assert diagnosis.problems[0].examples[0].document == "days.txt"


def test_a_chunk_that_was_indexed_twice_is_told():
    chunks = own()
    diagnosis = diagnose([*chunks, chunks[1]._replace(id="again")])

    assert kinds(diagnosis)["duplicate"] == 1
    assert diagnosis.problems[0].examples[0].chunk == "again"


def test_a_document_that_lacks_a_chunk_is_told_but_not_of_a_sample():
    chunks = own()

    assert kinds(diagnose(chunks[:3])) == {"incomplete": 1}
    sample = diagnose(chunks, sample=3)
    assert sample.healthy
    assert sample.sampled
    assert sample.chunks == 3
    assert not diagnose(chunks, sample=4).sampled


def test_a_sample_is_never_said_to_be_the_index():
    chunks = own()
    sample, unknown = diagnose(chunks, sample=3), diagnose(iter(chunks), sample=3)
    everything = diagnose(chunks, sample=4)

    assert (sample.verdict, sample.total, sample.chunks) == ("sampled", 4, 3)
    assert str(sample) == "no fault in the sample (3 of 4 chunks sampled, 1 document)"
    assert (unknown.verdict, unknown.total) == ("sampled", None)
    assert "the first 3 chunks sampled" in str(unknown)
    assert (everything.verdict, everything.total) == ("ordered", 4)
    assert str(everything).startswith("ordered (4 chunks, 1 document)\nunstamped: ")


def test_a_fault_of_a_sample_is_one_of_the_index():
    found = diagnose(days(start_index=[0, 0, 0, 0]), sample=3)

    assert found.verdict == "not ordered"
    assert not found.healthy


def test_a_store_says_how_many_chunks_a_sample_is_of():
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=4))
    placed = [{"source": "a", "start_index": 10 * n} for n in range(9)]
    store.add_texts([f"text {n}" for n in range(9)], placed)
    found = langchain_oprag.diagnose(store, sample=5)

    assert (found.verdict, found.total) == ("sampled", 9)


def test_at_most_five_examples_are_given_in_the_order_of_the_store():
    chunks = stored(map(str, range(9)), [{"source": "a"}] * 9)

    (problem,) = diagnose(chunks).problems

    assert problem.chunks == 9
    assert [e.chunk for e in problem.examples] == [f"id-{i}" for i in range(5)]


def test_with_the_options_that_it_needs_an_index_is_ordered():
    metadatas = [
        {"book": "days", "chapter": chapter, "paragraph": paragraph}
        for chapter, paragraph in [(1, 1), (1, 2), (2, 1), (2, 2)]
    ]
    chunks = stored(LINES, metadatas)
    keys = ["chapter", "paragraph"]

    assert kinds(diagnose(chunks)) == {"missing_document": 4}
    named = diagnose(chunks, document_key="book")
    assert kinds(named) == {"missing_position": 4}
    assert named.problems[0].examples[0].detail == "keys: book, chapter, paragraph"
    ordered = diagnose(chunks, document_key="book", position_keys=keys)
    assert (ordered.verdict, ordered.problems) == ("ordered", ())
    assert ordered.healthy


def test_a_recorded_position_that_is_wrong_is_told_with_the_true_one():
    # Both lines "One day." were found at the first one.
    diagnosis = diagnose(days(start_index=[0, 9, 0, 31]), documents={"days.txt": DAYS})

    assert (diagnosis.proofs.proved, diagnosis.proofs.moved) == (3, 1)
    assert kinds(diagnosis)["wrong_position"] == 1
    (example,) = diagnosis.problems[-1].examples
    assert (example.chunk, example.detail) == ("id-2", "it stands at 22-30")


def test_positions_that_agree_with_each_other_and_not_with_the_source_do_not_order():
    # No two spans overlap, so only the source shows that the order is wrong.
    chunks = days(start_index=[60, 40, 20, 0])

    assert diagnose(chunks).verdict == "ordered"
    assert diagnose(chunks, documents={"days.txt": DAYS}).verdict == "not ordered"


def test_offsets_of_pages_are_compared_page_by_page():
    text = "One day.\n\nAnother day.\nThe end."
    chunks = stored(
        ["One day.", "Another day.", "The end."],
        [
            {"source": "a.pdf", "page": 0, "start_index": 0},
            {"source": "a.pdf", "page": 1, "start_index": 0},
            {"source": "a.pdf", "page": 1, "start_index": 13},
        ],
    )

    diagnosis = diagnose(chunks, documents={"a.pdf": text})

    assert diagnosis.healthy
    assert diagnosis.proofs.proved == 3


def test_what_cannot_be_proved_is_told_apart():
    chunks = stored(
        ["One day.", "Another dax.", "  ", "The end.", "Whose?"],
        [{"source": "days.txt"}] * 4 + [{"source": "lost.txt"}],
    )

    proofs = diagnose(chunks, documents={"days.txt": DAYS}).proofs

    assert (proofs.ambiguous, proofs.not_found, proofs.blank) == (1, 1, 1)
    assert (proofs.placed, proofs.no_source) == (1, 1)
    assert proofs.complete == 0


def test_a_chunk_without_a_name_is_known_by_its_text_if_one_document_has_it():
    texts = {"days.txt": DAYS, "other.txt": "One day.\nElsewhere."}
    chunks = stored(["Another day.", "One day.", "Elsewhere."], [{}, {}, {}])

    diagnosis = diagnose(chunks, documents=texts)

    assert diagnosis.proofs.placed == 2
    assert diagnosis.proofs.no_source == 1
    assert diagnosis.proofs.documents == 2


def test_a_source_may_know_the_document_by_another_of_its_names():
    chunks = stored(LINES, [{"ref_doc_id": "8f2c", "file_name": "days.txt"}] * 4)

    proofs = diagnose(chunks, documents={"days.txt": DAYS}).proofs

    assert proofs.placed == 4


def test_hits_of_an_adapter_are_read_like_stored_chunks():
    hits = [
        Hit(line, {}, document="d", offsets=span)
        for line, span in zip(LINES, SPANS, strict=True)
    ]

    diagnosis = diagnose(hits[:-1])

    assert diagnosis.verdict == "ordered"


def test_a_diagnosis_is_plain_json():
    values = diagnose(days(), documents={"days.txt": DAYS}).to_dict()

    assert json.loads(json.dumps(values))["verdict"] == "not ordered"


def test_an_empty_index_is_not_ordered_and_is_said_to_be_empty():
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=4))
    index = VectorStoreIndex([], embed_model=MockEmbedding(embed_dim=4))

    for diagnosis in (
        diagnose([]),
        diagnose([], documents={}),
        plan_repair([], {}).diagnosis,
        langchain_oprag.diagnose(store),
        llamaindex_oprag.diagnose(index),
    ):
        assert diagnosis.verdict == "not ordered"
        (problem,) = diagnosis.problems
        assert problem.kind == "empty"
        assert "no chunks: index the documents" in problem.message


def test_a_sample_of_nothing_is_refused():
    for wrong in ({"sample": 0}, {"position_keys": []}, {"document_key": 5}):
        with pytest.raises(InvalidOptionError, match=r"sample=0|_key(s)?="):
            diagnose([], **wrong)
