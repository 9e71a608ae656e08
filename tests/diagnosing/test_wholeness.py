"""Damage, second versions and foreign chunks are reported, by kind and by number."""

import json
import os
import random
from collections import Counter

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from langchain_oprag import OffsetTokenSplitter, chunk_store, index_documents
from oprag.diagnosing import Diagnosis, diagnose, plan_repair
from oprag.documents import StoreSource, rebuild
from oprag.errors import OpragError
from oprag.metadata import NONSPACE_HASH, STAMP_KEYS, document_key
from oprag.stores import StoredChunk
from tests.diagnosing.test_doctor import kinds
from tests.diagnosing.test_repair import applied
from tests.documents.damages import by_another_splitter, by_ours, damaged, text_of
from tests.kit.effort import cases
from tests.kit.fake_store import FakeStore
from tests.locating.texts import reference

TEXT = reference(2_000)
NAME = "docs/lease.txt"
MANY = int(os.environ.get("OPRAG_DAMAGES", "0"))
"""How many damages to try; 0: as many as the profile has cases."""
OUTCOMES = ("refused", "inexact", "whole")
"""The worst first."""
SERIOUS = {"altered_text", "incomplete"}


def splitter(size: int = 40) -> OffsetTokenSplitter:
    return OffsetTokenSplitter(chunk_size=size)


def stored(text: str = TEXT, name: str = NAME, cut=None, **extra) -> list[StoredChunk]:
    """The rows of a store once the document was indexed."""
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=4))
    document = Document(text, metadata={"source": name, **extra})
    index_documents([document], store, splitter=cut or splitter())
    return list(chunk_store(store).read())


def other_splitter() -> RecursiveCharacterTextSplitter:
    return RecursiveCharacterTextSplitter(chunk_size=150, chunk_overlap=0)


def foreign(text: str = TEXT, name: str = NAME) -> list[StoredChunk]:
    split = RecursiveCharacterTextSplitter(
        chunk_size=300, chunk_overlap=0, add_start_index=True
    ).split_documents([Document(text, metadata={"source": name})])
    return [
        StoredChunk(chunk.page_content, chunk.metadata, f"foreign {number}")
        for number, chunk in enumerate(split)
    ]


def without(chunks: list[StoredChunk], *keys: str) -> list[StoredChunk]:
    return [
        chunk._replace(
            metadata={k: v for k, v in chunk.metadata.items() if k not in keys}
        )
        for chunk in chunks
    ]


def problem(diagnosis: Diagnosis, kind: str):
    (found,) = [problem for problem in diagnosis.problems if problem.kind == kind]
    return found


@pytest.mark.filterwarnings("ignore::oprag.errors.PositionWarning")
@pytest.mark.parametrize("foreign", [False, True])
def test_the_verdict_agrees_with_who_reads_the_document(foreign):
    rng = random.Random(f"verdicts {foreign}")  # noqa: S311 -- any will do
    outcomes: Counter[str] = Counter()

    for number in range(MANY or max(300, cases(300))):  # so many see every outcome
        name = f"{number}.pdf"
        case = damaged(name, rng, foreign=foreign, size_too=rng.random() < 0.3)
        if not case.chunks:
            continue
        found = diagnose(case.chunks)
        said = {problem.kind for problem in found.problems}
        rows = [chunk.metadata for chunk in case.chunks]
        named = {(str(row.get("doc_uri")), row.get("doc_key")) for row in rows}
        names = {uri for uri, key in named if document_key(uri) == key} or {name}
        outcome = min((read_by(n, case.chunks) for n in names), key=OUTCOMES.index)
        outcomes[outcome] += 1
        if outcome == "refused":
            damage = found.verdict == "damaged" and said & SERIOUS
            # Of chunks of others, nothing tells damage from what was dropped.
            others = foreign or "stamp_wrong" in case.damages
            unproved = others and "unproved_text" in said
            assert damage or unproved or "unstamped" in said, case
            continue
        assert found.verdict != "damaged", case
        if outcome == "inexact":
            assert "inexact" in said, case

    assert {*outcomes} == {*OUTCOMES} - (set() if foreign else {"inexact"})


def read_by(name: str, chunks: list[StoredChunk]) -> str:
    """The outcome of `document_source` over a store with these chunks."""
    store = FakeStore(chunks)
    try:
        StoreSource(store).get(name)
    except OpragError:
        pass
    else:
        return "whole"
    try:
        StoreSource(store, exact=False).get(name)
    except OpragError:
        return "refused"
    return "inexact"


def in_bytes(text: str, at: int) -> int:
    return len(text[:at].encode())


def in_utf_16(text: str, at: int) -> int:
    return len(text[:at].encode("utf-16-le")) // 2


def one_too_far(text: str, at: int) -> int:
    return at + bool(at)


@pytest.mark.parametrize("unit", [in_bytes, in_utf_16, one_too_far])
@pytest.mark.parametrize("make", [by_ours, by_another_splitter])
def test_offsets_that_the_joined_text_disproves_order_nothing(unit, make):
    rng = random.Random(f"units {unit.__name__}")  # noqa: S311 -- any will do
    disproved = 0
    for number in range(cases(100)):
        texts = [text_of(rng) for _ in range(rng.choice((1, 1, 3)))]
        chunks = make(f"{number}.pdf", texts, rng.randint(2, 9))
        wrong = []
        for chunk in chunks:
            text = texts[chunk.metadata.get("part_index", 0)]
            places = {
                key: unit(text, chunk.metadata[key])
                for key in ("char_start", "char_end")
                if key in chunk.metadata
            }
            wrong.append(chunk._replace(metadata={**chunk.metadata, **places}))

        assert "wrong_position" not in kinds(diagnose(chunks))
        outcome = read_by(f"{number}.pdf", wrong)
        if wrong == chunks or outcome == "refused":
            continue
        found = diagnose(wrong)
        if outcome == "whole" or any(
            chunk.metadata.get("char_end", 0)
            > len(texts[chunk.metadata.get("part_index", 0)])
            for chunk in wrong
        ):
            disproved += 1
            assert found.verdict == "not ordered", wrong
            assert "wrong_position" in kinds(found)
    # White space behind the last chunk may hide one character.
    assert disproved or unit is one_too_far


def test_the_true_place_is_told_and_a_repair_writes_it():
    text = "Über der Tür steht ein Wort. " * 9 + "Am Ende nicht."
    chunks = stored(text)
    wrong = [
        chunk._replace(
            metadata=chunk.metadata
            | {
                key: in_bytes(text, chunk.metadata[key])
                for key in ("char_start", "char_end")
            }
        )
        for chunk in chunks
    ]

    found = diagnose(wrong)
    place = chunks[-1].metadata["char_start"], chunks[-1].metadata["char_end"]
    assert problem(found, "wrong_position").examples[-1].detail == (
        f"it stands at {place[0]}-{place[1]}"
    )
    repaired = applied(wrong, plan_repair(wrong, {NAME: text}))
    assert diagnose(repaired).healthy
    assert [c.metadata["char_start"] for c in repaired] == [
        c.metadata["char_start"] for c in chunks
    ]


def test_a_character_behind_the_end_of_the_text_is_told():
    chunks = stored()
    last = chunks[-1].metadata["char_end"]
    chunks[-1] = chunks[-1]._replace(
        metadata={**chunks[-1].metadata, "char_end": last + 1}
    )

    assert read_by(NAME, chunks) == "whole"
    assert kinds(diagnose(chunks)) == {"wrong_position": 1}


def test_pages_that_were_indexed_one_by_one_are_told_with_the_reason():
    # As many chunks of each, so that every number of every page is there.
    pages = [stored(text, page=i) for i, text in enumerate(("One day.", "The end."))]

    diagnosis = diagnose([*pages[0], *pages[1]])

    assert diagnosis.verdict == "damaged"
    (example,) = problem(diagnosis, "altered_text").examples
    assert "several versions (doc_version), each of other parts" in example.detail


def test_what_is_left_of_an_old_version_is_told_and_the_new_one_is_no_damage():
    chunks = [*stored()[:-1], *stored(TEXT + " And more.")]

    diagnosis = diagnose(chunks)

    assert read_by(NAME, chunks) == "whole"
    assert diagnosis.verdict == "ordered"
    assert {"several_versions", "incomplete"} <= {*kinds(diagnosis)}
    assert not diagnosis.healthy


def stored_pages(*texts: str, cut=None) -> list[StoredChunk]:
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=4))
    pages = [
        Document(text, metadata={"source": NAME, "page": number})
        for number, text in enumerate(texts)
    ]
    index_documents(pages, store, splitter=cut or splitter())
    return list(chunk_store(store).read())


def test_chunks_of_another_splitter_are_inexact_and_that_is_no_damage():
    diagnosis = diagnose(stored(cut=other_splitter()))

    assert diagnosis.healthy
    assert diagnosis.verdict == "ordered"
    assert kinds(diagnosis) == {"inexact": 1}
    assert "exact=False" in diagnosis.problems[0].message


def test_foreign_chunks_beside_our_own_are_counted():
    others = foreign()

    diagnosis = diagnose([*stored(), *others])

    assert not diagnosis.healthy
    found = problem(diagnosis, "foreign_chunks")
    assert (found.chunks, found.documents) == (len(others), 1)
    assert found.examples[0].chunk == "foreign 0"
    assert diagnose(others).healthy


def test_two_sizes_of_one_text_are_healthy():
    assert diagnose([*stored(), *stored(cut=splitter(25))]).problems == ()


# --- indexes from before the length and hash of a text were written


def test_an_old_index_is_called_so_and_stamped_where_the_source_proves_it():
    new = stored()
    old = without(new, *STAMP_KEYS)

    diagnosis = diagnose(old)
    assert kinds(diagnosis) == {"unstamped": 1}
    assert diagnosis.healthy

    plan = plan_repair(old, {NAME: TEXT})
    assert [set(change.update) for change in plan.changes] == [
        {"text_length", "text_hash"}
    ]
    stamped = applied(old, plan)
    assert [c.metadata for c in stamped] == [c.metadata for c in new]
    assert plan_repair(stamped, {NAME: TEXT}).changes == ()
    assert rebuild(NAME, stamped).text == TEXT


def test_chunks_of_another_splitter_are_stamped_for_what_they_hold():
    old = without(stored(cut=other_splitter()), *STAMP_KEYS)

    stamped = applied(old, plan_repair(old, {NAME: TEXT}))

    assert NONSPACE_HASH in stamped[0].metadata
    assert kinds(diagnose(stamped)) == {"inexact": 1}
    assert "".join(rebuild(NAME, stamped, exact=False).text.split()) == "".join(
        TEXT.split()
    )


@pytest.mark.parametrize("damage", ["missing", "altered", "another source"])
def test_what_is_not_proved_whole_is_not_stamped(damage):
    old = without(stored(), *STAMP_KEYS)
    source = TEXT
    if damage == "missing":
        del old[3]
    elif damage == "altered":
        old[3] = old[3]._replace(text=old[3].text.swapcase())
    else:
        source = TEXT + " And more."

    stamped = applied(old, plan_repair(old, {NAME: source}))

    assert not any("text_length" in chunk.metadata for chunk in stamped)


def test_a_repair_leaves_foreign_chunks_beside_our_own_alone():
    chunks = [*stored(), *foreign()]

    assert plan_repair(chunks, {NAME: TEXT}).changes == ()


@pytest.mark.parametrize("edit", ["", " And more."])
@pytest.mark.parametrize("cut", [splitter, other_splitter])
@pytest.mark.parametrize("size", [600, 5_000])
def test_a_repair_leaves_what_is_proved_whole_by_its_hash(size, cut, edit):
    texts = [TEXT[at : at + size].strip() for at in range(0, len(TEXT), size)]
    chunks = stored_pages(*texts, cut=cut())
    before = rebuild(NAME, chunks, exact=False)
    source = "\n\n".join(texts).replace("\n", edit + "\n", 2)

    plan = plan_repair(chunks, {NAME: source})

    assert plan.changes == ()
    assert rebuild(NAME, applied(chunks, plan), exact=False) == before


def test_a_repair_takes_no_chunks_of_a_document_for_those_of_another():
    # The folder lacks a file that was indexed, and another one has the same text.
    kept, lost = stored(name="a/lease.txt"), stored(name="b/lease.txt")

    plan = plan_repair([*kept, *lost], {"a/lease.txt": TEXT + " And more."})

    assert plan.changes == ()
    assert len(plan.unproved) == len(lost)
    assert (
        "looked for 'b/lease.txt'"
        in problem(plan.diagnosis, "no_source").examples[0].detail
    )


def test_keys_are_judged_as_the_store_keeps_them():
    # What LlamaIndex keeps beside them is whole, and its filters ask for these.
    chunks = []
    for chunk in stored():
        node = {"metadata": dict(chunk.metadata), "relationships": {}}
        metadata = {**chunk.metadata, "_node_content": json.dumps(node)}
        chunks.append(chunk._replace(metadata=metadata))
    del chunks[2].metadata["char_start"]

    assert read_by(NAME, chunks) == "refused"
    assert diagnose(chunks).verdict == "damaged"
    repaired = applied(chunks, plan_repair(chunks, {NAME: TEXT}))
    assert read_by(NAME, repaired) == "whole"
    assert diagnose(repaired).healthy
