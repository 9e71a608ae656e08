"""`LongUnitRetriever`: short chunks are searched, long units come back whole."""

from __future__ import annotations

from langchain_core.documents import Document

from langchain_oprag import LongUnitRetriever
from oprag.units import group_documents
from tests.kit.words import words
from tests.langchain.corpus import QUERY, RecordingStore

TEXTS = {"many": "x", "few": "y"}
UNITS = group_documents(TEXTS, [], 9, words)


def of(document: Document) -> list[str]:
    return document.metadata["unit_documents"]


def test_more_until_there_are_enough_units():
    chunks = [
        Document(f"chunk {n}", metadata={"source": "many" if n < 150 else "few"})
        for n in range(151)
    ]
    store = RecordingStore(chunks)

    found = LongUnitRetriever(
        vectorstore=store, units=UNITS, documents=TEXTS, k=2
    ).invoke(QUERY)

    asked = [each["k"] for each in store.asked]
    # Eight for each unit and 16 at least; twice as many, until there are no more.
    assert asked == [16 * 2**n for n in range(len(asked))]
    ranked = RecordingStore(chunks).similarity_search(QUERY, k=200)
    sources = [document.metadata["source"] for document in ranked]
    needed = sources.index("few") + 1
    assert asked[-2] < needed <= asked[-1] or len(asked) == 1
    assert sorted(map(of, found)) == [["few"], ["many"]]


def test_it_begins_with_the_k_of_search_kwargs_if_that_is_more():
    store = RecordingStore([Document("x", metadata={"source": "many"})])
    for own in (50, 2):
        base = store.as_retriever(search_kwargs={"k": own})
        given = {"units": UNITS, "documents": TEXTS, "k": 1}
        LongUnitRetriever(base_retriever=base, **given).invoke(QUERY)

    assert [asked["k"] for asked in store.asked] == [50, 16]
