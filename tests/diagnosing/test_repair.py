"""A repair: its writes, and the rest, which it leaves."""

import json

from oprag.diagnosing import diagnose, plan_repair
from oprag.metadata import document_key, text_stamp
from oprag.stores import StoredChunk
from tests.diagnosing.test_doctor import DAYS, days, kinds, own, stored


def applied(chunks, plan) -> list[StoredChunk]:
    """The chunks as a store has them once the changes are written."""
    updates = {change.id: change.update for change in plan.changes}
    return [
        chunk._replace(
            metadata={
                key: value
                for key, value in {
                    **chunk.metadata,
                    **updates.get(chunk.id, {}),
                }.items()
                if value is not None
            }
        )
        for chunk in chunks
    ]


def test_a_repair_makes_a_stripped_index_healthy_and_a_second_one_writes_nothing():
    documents = {"days.txt": DAYS}
    chunks = days()

    repaired = applied(chunks, plan_repair(chunks, documents))

    stamp = {**repaired[0].metadata, **text_stamp(DAYS, exact=False)}
    assert [c.metadata for c in repaired] == [stamp, *(c.metadata for c in own()[1:])]
    assert own()[0].metadata.items() < stamp.items()
    assert diagnose(repaired).healthy
    assert plan_repair(repaired, documents).changes == ()


def test_a_repair_that_was_broken_off_is_seen_and_finished():
    documents = {"days.txt": DAYS}
    chunks = days()
    plan = plan_repair(chunks, documents)
    for done in (1, 2, 3):
        half = applied(chunks, plan._replace(changes=plan.changes[:done]))

        assert not diagnose(half).healthy
        rest = plan_repair(half, documents)
        assert len(rest.changes) == 4 - done
        assert applied(half, rest) == applied(chunks, plan)


def test_numbers_are_written_only_where_the_chunks_cover_the_source():
    chunks = days()[1:]

    plan = plan_repair(chunks, {"days.txt": DAYS})
    repaired = applied(chunks, plan)

    assert "n_chunks" not in {key for chunk in repaired for key in chunk.metadata}
    # "One day." is there twice, and nothing says which of them is here.
    assert [chunk.metadata.get("char_start") for chunk in repaired] == [9, None, 31]
    assert [(c.chunk, c.detail) for c in plan.unproved] == [("id-2", "ambiguous")]


def test_an_unproved_chunk_keeps_its_document_and_loses_a_disproved_position():
    chunks = stored(
        ["One day.", "Another day."],
        [
            {"source": "days.txt", "start_index": 3, "kept": 1},
            {"source": "days.txt", "start_index": 9},
        ],
    )

    plan = plan_repair(chunks, {"days.txt": DAYS})
    first, second = (chunk.metadata for chunk in applied(chunks, plan))

    assert first == {
        "source": "days.txt",
        "kept": 1,
        "doc_key": document_key("days.txt"),
        "doc_uri": "days.txt",
    }
    assert (second["char_start"], second["start_index"]) == (9, 9)
    assert [(c.chunk, c.detail) for c in plan.unproved] == [("id-0", "ambiguous")]


def test_a_source_that_holds_not_one_chunk_takes_no_position_away():
    chunks = own()
    other = {"days.txt": "Quite another text, of the same name."}

    plan = plan_repair(chunks, other)

    assert plan.changes == ()
    assert {chunk.detail for chunk in plan.unproved} == {"other_source"}
    assert kinds(plan.diagnosis) == {"other_source": 4, "unstamped": 1}
    assert plan.diagnosis.verdict == "ordered"
    assert not plan.diagnosis.healthy


def test_a_position_that_can_neither_be_proved_nor_disproved_is_told_and_kept():
    # "One day." is at 0 and at 22; 22 is recorded, and the other lines are missing.
    chunks = stored(["One day."], [{"source": "days.txt", "start_index": 22}])

    diagnosis = diagnose(chunks, documents={"days.txt": DAYS})

    assert kinds(diagnosis) == {"unproved_position": 1}
    assert diagnosis.healthy
    (kept,) = applied(chunks, plan_repair(chunks, {"days.txt": DAYS}))
    assert kept.metadata["start_index"] == 22


def test_inputs_are_not_written_to():
    chunks = days(start_index=[0, 9, 0, 31])
    before = [dict(chunk.metadata) for chunk in chunks]

    plan_repair(chunks, {"days.txt": DAYS})

    assert [chunk.metadata for chunk in chunks] == before


def test_a_llamaindex_node_is_changed_where_llamaindex_reads_it():
    node = {
        "id_": "n",
        "metadata": {"file_path": "days.txt"},
        "excluded_embed_metadata_keys": [],
        "excluded_llm_metadata_keys": ["file_path"],
        "relationships": {"1": {"node_id": "D"}},
        "start_char_idx": None,
        "end_char_idx": None,
        "class_name": "TextNode",
    }
    chunk = StoredChunk(
        DAYS, {"file_path": "days.txt", "_node_content": json.dumps(node)}, "n"
    )

    (change,) = plan_repair([chunk], {"days.txt": DAYS}).changes
    written = json.loads(change.update["_node_content"])

    assert (written["start_char_idx"], written["end_char_idx"]) == (0, len(DAYS))
    assert written["metadata"]["chunk_index"] == change.update["chunk_index"] == 0
    assert "char_start" in written["excluded_llm_metadata_keys"]
    assert "char_start" in written["excluded_embed_metadata_keys"]
    assert written["relationships"] == node["relationships"]


def test_a_repair_removes_the_keys_of_results_from_stored_chunks():
    chunks = own(oprag=["0 - n1"] * 4, oprag_rank=[0, 1, 2, 3], oprag_hash=["0"] * 4)

    repaired = applied(chunks, plan_repair(chunks, {"days.txt": DAYS}))

    assert not [key for c in repaired for key in c.metadata if "oprag" in key]
