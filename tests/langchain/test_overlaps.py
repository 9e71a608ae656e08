"""The most common index: pages of PDF files, cut with overlaps, without positions."""

import random
import time
from itertools import pairwise
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from langchain_oprag import (
    OrderPreservingCompressor,
    OrderPreservingRetriever,
    OrderPreservingVectorStore,
    chunk_store,
    diagnose,
)
from oprag import place_of, plan_repair
from oprag.context import ContextOptions, Problems
from oprag.diagnosing import FirstLook
from oprag.errors import (
    ConflictingPositionsError,
    InvalidOptionError,
    PositionError,
    PositionWarning,
    UnfitIndexError,
    UnreadableFileError,
)
from tests.kit.pages import page_text
from tests.real_stores.langchain_places import HashEmbeddings

PAGES = [
    Document(page_text(n), metadata={"source": "report.pdf", "page": n})
    for n in range(5)
]
UNJOINED = Document(
    "\n\n".join(page_text(n, lines=12) for n in (20, 21, 22)),
    metadata={"source": "letters.pdf", "page": 0},
)
"""Paragraphs longer than the overlap: nothing joins its chunks."""


def cut(documents: list[Document]) -> list[Document]:
    splitter = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200)
    return splitter.split_documents(documents)


def stored(documents: list[Document]) -> InMemoryVectorStore:
    store = InMemoryVectorStore(HashEmbeddings())
    chunks = cut(documents)
    random.Random(3).shuffle(chunks)  # noqa: S311 -- an order, no secret
    store.add_documents(chunks)
    return store


def found_at(results: list[Document]) -> list[tuple[int, int]]:
    """Page and place of each result in the text that was cut."""
    texts = {each.metadata["page"]: each.page_content for each in PAGES}
    return [
        (d.metadata["page"], texts[d.metadata["page"]].index(d.page_content))
        for d in results
    ]


@pytest.fixture
def store() -> InMemoryVectorStore:
    return stored(PAGES)


@pytest.mark.parametrize("k", [2, 4, 8, 15])
def test_pages_without_positions_are_in_order(store, k):
    retriever = OrderPreservingRetriever(store, k=k)
    for question in range(10):
        results = retriever.invoke(f"question {question}")
        assert len(results) == k
        assert found_at(results) == sorted(found_at(results))


async def test_awaited_they_are_the_same(store):
    retriever = OrderPreservingRetriever(store, k=8)
    assert await retriever.ainvoke("question") == retriever.invoke("question")


def test_a_store_in_the_place_of_a_store_does_the_same(store):
    ordered = OrderPreservingVectorStore(store)
    results = ordered.similarity_search("question", k=10)
    assert found_at(results) == sorted(found_at(results))


def test_their_places_are_chained_and_not_exact(store):
    for result in OrderPreservingRetriever(store, k=15).invoke("question"):
        place = place_of(result)
        page = PAGES[result.metadata["page"]].page_content
        assert place.proof == "chained"
        assert not place.exact
        assert page[place.start : place.end] == result.page_content


def test_merged_they_are_the_page_without_an_overlap_twice(store):
    results = OrderPreservingRetriever(store, k=100, merge=True).invoke("question")
    assert [each.page_content for each in results] == [
        each.page_content for each in PAGES
    ]


def test_a_budget_holds_them_in_order(store):
    retriever = OrderPreservingRetriever(store, token_budget=3_000)
    results = retriever.invoke("question")
    assert len(results) > 2
    assert found_at(results) == sorted(found_at(results))


def test_what_nothing_joins_is_an_error_that_speaks_of_the_index():
    retriever = OrderPreservingRetriever(stored([*PAGES, UNJOINED]), k=100)
    with pytest.raises(ConflictingPositionsError, match=r"letters\.pdf") as raised:
        retriever.invoke("question")
    assert "documents=loader.load()" in str(raised.value)
    assert "overlaps of its chunks do not prove their order" in str(raised.value)


def test_the_way_out_that_the_error_names_is_one():
    documents = [*PAGES, UNJOINED]
    retriever = OrderPreservingRetriever(stored(documents), k=100, documents=documents)
    assert all(place_of(each).exact for each in retriever.invoke("question"))


def test_with_a_warning_each_page_keeps_the_order_that_is_proved():
    retriever = OrderPreservingRetriever(
        stored([*PAGES, UNJOINED]), k=100, on_problem="warn"
    )
    with pytest.warns(PositionWarning) as warned:
        results = retriever.invoke("question")
    looked, asked = (str(each.message) for each in warned)
    assert (
        "3 will stand in the order as retrieved (ambiguous_position 3: they say"
        in looked
    )
    assert "letters.pdf" in asked
    known = [each for each in results if each.metadata["source"] == "report.pdf"]
    others = [each for each in results if each.metadata["source"] == "letters.pdf"]
    assert found_at(known) == sorted(found_at(known))
    assert {place_of(each).problem for each in known} == {None}
    assert {place_of(each).problem for each in others} == {"ambiguous_position"}


def test_a_filter_keeps_what_it_hides_from_proving_anything():
    documents = [
        Document(page_text(n), metadata={**PAGES[0].metadata, "page": n})
        for n in range(3)
    ]
    chunks = cut(documents)
    for number, chunk in enumerate(chunks):
        chunk.metadata["hidden"] = chunk.metadata["page"] == 1 and number % 5 == 1
    store = InMemoryVectorStore(HashEmbeddings())
    store.add_documents(chunks)
    read: list[Any] = []

    def admits(document: Document) -> bool:
        read.append(document)
        return not document.metadata["hidden"]

    hidden = [chunk for chunk in chunks if chunk.metadata["hidden"]]
    assert hidden
    retriever = OrderPreservingRetriever(store, k=100, on_problem="warn")
    with pytest.warns(PositionWarning) as warned:
        results = retriever.invoke("question", filter=admits)
    assert "of 3 pages 2 are ordered" in str(warned[-1].message)
    assert read
    shown = {each.page_content for each in results}
    assert shown.isdisjoint(each.page_content for each in hidden)


def test_another_writer_is_seen(store):
    retriever = OrderPreservingRetriever(store, k=100)
    retriever.invoke("question")
    new = Document(page_text(9), metadata={"source": "report.pdf", "page": 9})
    store.add_documents(cut([new]))
    results = retriever.invoke("question")
    last = [each for each in results if each.metadata["page"] == 9]
    starts = [new.page_content.index(each.page_content) for each in last]
    assert len(starts) > 2
    assert starts == sorted(starts)


def test_what_is_proved_is_kept(store):
    retriever = OrderPreservingRetriever(store, k=8)
    retriever.invoke("question")
    kept = {**retriever._overlaps._known}
    retriever.invoke("question")
    assert kept
    assert all(retriever._overlaps._known[key] is known for key, known in kept.items())


def test_inputs_stay_as_they_are(store):
    before = {key: dict(each["metadata"]) for key, each in store.store.items()}
    OrderPreservingRetriever(store, k=8).invoke("question")
    assert {key: each["metadata"] for key, each in store.store.items()} == before


def said(diagnosis) -> list[str]:
    return [each.message for each in diagnosis.problems]


def test_verify_and_the_doctor_say_how_many_pages_are_ordered_by_overlaps(store):
    verified = OrderPreservingRetriever(store).verify()
    assert verified.verdict == "ordered"
    assert said(verified) == ["Ordered by overlaps: 5 of 5 pages."]
    assert diagnose(store).healthy
    assert said(diagnose(store)) == ["Ordered by overlaps: 5 of 5 pages."]


def test_verify_counts_the_pages_that_cannot_be_ordered():
    letter = {**UNJOINED.metadata, "source": "report.pdf", "page": 5}
    letter_page = Document(UNJOINED.page_content, metadata=letter)
    mixed = stored([*PAGES, letter_page])
    with pytest.raises(UnfitIndexError, match="of 6 pages 5 are ordered") as raised:
        OrderPreservingRetriever(mixed).verify()
    diagnosis = raised.value.diagnosis
    assert "Ordered by overlaps: 5 of 6 pages." in said(diagnosis)
    (problem,) = [p for p in diagnosis.problems if p.kind == "ambiguous_position"]
    assert problem.chunks == len(cut([letter_page]))


def test_verify_says_what_a_question_says():
    mixed = OrderPreservingRetriever(stored([*PAGES, UNJOINED]), k=100)
    with pytest.raises(PositionError) as asked:
        mixed.invoke("question")
    with pytest.raises(UnfitIndexError) as raised:
        mixed.verify()
    assert asked.value.message in raised.value.message


def test_verify_says_once_of_several_documents_how_to_mend_them():
    letters = [
        Document(UNJOINED.page_content, metadata={"source": f"{n}.pdf", "page": 0})
        for n in range(3)
    ]
    with pytest.raises(UnfitIndexError) as raised:
        OrderPreservingRetriever(stored(letters)).verify()
    message = raised.value.message
    assert message.count("loader.load()") == 1
    assert all(f"'{number}.pdf'" in message for number in range(3))


def test_with_documents_verify_names_no_problem_that_they_solve():
    pages = [*PAGES, UNJOINED]
    verified = OrderPreservingRetriever(stored(pages), documents=pages).verify()
    assert verified.verdict == "ordered"
    assert not [each for each in verified.problems if each.kind.endswith("_position")]


def test_what_is_given_chunks_asks_where_they_are_from():
    with pytest.raises(InvalidOptionError, match=r"verify\(store\)"):
        OrderPreservingCompressor().verify()


def test_a_folder_of_pdf_files_is_refused_with_the_line_that_fits(tmp_path):
    (tmp_path / "letters.pdf").write_bytes(b"%PDF-1.4 \n%%EOF")
    retriever = OrderPreservingRetriever(
        stored([UNJOINED]), k=100, documents=str(tmp_path)
    )
    with pytest.raises(UnreadableFileError, match=r"documents=loader\.load\(\)"):
        retriever.invoke("question")


def test_repair_reports_pages_and_writes_no_chained_place(store):
    plan = plan_repair(chunk_store(store).read(), {})
    assert plan.changes == ()
    assert "Ordered by overlaps: 5 of 5 pages." in said(plan.diagnosis)


def test_the_first_question_warns_once_of_what_will_fail():
    retriever = OrderPreservingRetriever(stored([*PAGES, UNJOINED]), k=1)
    with pytest.warns(PositionWarning, match="of 23 chunks .* 3 will fail") as warned:
        retriever.invoke("question")
    assert len(warned) == 1
    assert "ambiguous_position 3" in str(warned[0].message)
    assert "documents=loader.load()" in str(warned[0].message)
    retriever.invoke("another question")


async def test_awaited_it_warns_as_well():
    retriever = OrderPreservingRetriever(stored([*PAGES, UNJOINED]), k=1)
    with pytest.warns(PositionWarning, match="3 will fail"):
        await retriever.ainvoke("question")


def test_nobody_looks_where_that_is_turned_off():
    store = stored([*PAGES, UNJOINED])
    OrderPreservingRetriever(store, k=1, verify_index=False).invoke("question")
    everything = [*PAGES, UNJOINED]
    OrderPreservingRetriever(store, k=1, documents=everything).invoke("question")


def test_what_the_filter_of_the_first_question_hides_is_not_counted():
    retriever = OrderPreservingRetriever(stored([*PAGES, UNJOINED]), k=1)
    retriever.invoke("question", filter=lambda d: d.metadata["source"] == "report.pdf")


def test_a_look_that_fails_is_not_the_questions():
    look = FirstLook()
    look.begin(lambda: 1 / 0, ContextOptions())
    look.tell(Problems("It"))


def test_a_store_on_disk_is_looked_at_beside_the_question(tmp_path):
    chroma = pytest.importorskip("langchain_chroma")
    store = chroma.Chroma(
        "chunks", HashEmbeddings(), persist_directory=str(tmp_path / "store")
    )
    store.add_documents(cut([*PAGES, UNJOINED]))
    retriever = OrderPreservingRetriever(store, k=1)

    def ask() -> None:
        for question in range(100):  # it warns as soon as it has found something
            retriever.invoke(f"question {question}")
            time.sleep(0.01)

    with pytest.warns(PositionWarning, match="of 23 chunks .* 3 will fail"):
        ask()


def in_pieces(number: int) -> Document:
    """A page of two parts: overlaps join the chunks of each, and not the two."""
    halves = [page_text(number), page_text(number + 50)]
    metadata = {"source": "report.pdf", "page": number}
    return Document("\n\n".join(halves), metadata=metadata)


def test_with_a_warning_each_chain_of_a_page_keeps_its_order():
    pages = [*PAGES, in_pieces(5), in_pieces(6)]
    texts = {each.metadata["page"]: each.page_content for each in pages}
    retriever = OrderPreservingRetriever(
        stored(pages), k=100, on_problem="warn", verify_index=False
    )
    with pytest.warns(PositionWarning, match="of 7 pages 5 are ordered") as warned:
        results = retriever.invoke("question")
    assert 'on_problem="warn"' not in str(warned[0].message)

    shown = [each.metadata["page"] for each in results]
    assert shown == sorted(shown)
    for page in (5, 6):
        on_page = [each for each in results if each.metadata["page"] == page]
        assert {place_of(each).problem for each in on_page} == {"ambiguous_position"}
        starts = [texts[page].index(each.page_content) for each in on_page]
        assert sum(b < a for a, b in pairwise(starts)) <= 1  # where one chain ends
    again = OrderPreservingCompressor(on_problem="warn")
    twice = again.compress_documents(results, "question")
    assert [each.page_content for each in twice] == [e.page_content for e in results]
    assert [place_of(each) for each in twice] == [place_of(each) for each in results]
