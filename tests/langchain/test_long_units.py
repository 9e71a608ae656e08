"""`LongUnitRetriever`: short chunks are searched, long units come back whole."""

from __future__ import annotations

from langchain_core.documents import Document

from langchain_oprag import LongUnitRetriever
from oprag.units import group_documents
from tests.langchain.corpus import QUERY, ListRetriever, RecordingStore, words

TEXTS = {
    "bridge.md": "Ann built the bridge over the Une in 1912. It is of stone.",
    "ann.md": "Ann was an engineer. She was born in 1880 in Ulm.",
    "mill.md": "The mill stands by the weir. It grinds no more.",
    "miller.md": "The last miller was Otto. He kept bees.",
    "chronicle.md": "\n".join(
        f"In the year {year} the village counted {year % 97} hearths."
        for year in range(1700, 1760)
    ),
}
LINKS = [("bridge.md", "ann.md"), ("miller.md", "mill.md")]
UNITS = group_documents(TEXTS, LINKS, 100, words)
"""Two pairs, and the chronicle in parts of eleven years."""


def of(document: Document) -> list[str]:
    return document.metadata["unit_documents"]


def listed(*documents: Document, **options) -> LongUnitRetriever:
    base = ListRetriever(documents=list(documents))
    settings = {"units": UNITS, "documents": TEXTS, **options}
    return LongUnitRetriever(base_retriever=base, **settings)


def piece(name: str, start: int = 0, length: int = 20) -> Document:
    text = TEXTS[name][start : start + length]
    return Document(text, metadata={"source": name, "start_index": start})


class TestHowMuchIsAsked:
    def test_more_until_there_are_enough_units(self):
        texts = {"many": "x", "few": "y"}
        chunks = [
            Document(f"chunk {n}", metadata={"source": "many" if n < 150 else "few"})
            for n in range(151)
        ]
        store = RecordingStore(chunks)
        units = group_documents(texts, [], 9, words)

        found = LongUnitRetriever(
            vectorstore=store, units=units, documents=texts, k=2
        ).invoke(QUERY)

        asked = [each["k"] for each in store.asked]
        # Eight for each unit and 16 at least; twice as many, until there are no more.
        assert asked == [16 * 2**n for n in range(len(asked))]
        ranked = RecordingStore(chunks).similarity_search(QUERY, k=200)
        sources = [document.metadata["source"] for document in ranked]
        needed = sources.index("few") + 1
        assert asked[-2] < needed <= asked[-1] or len(asked) == 1
        assert sorted(map(of, found)) == [["few"], ["many"]]

    def test_it_begins_with_the_k_of_search_kwargs_if_that_is_more(self):
        store = RecordingStore([piece("mill.md")])
        LongUnitRetriever(
            base_retriever=store.as_retriever(search_kwargs={"k": 50}),
            units=UNITS,
            documents=TEXTS,
            k=1,
        ).invoke(QUERY)
        LongUnitRetriever(
            base_retriever=store.as_retriever(search_kwargs={"k": 2}),
            units=UNITS,
            documents=TEXTS,
            k=1,
        ).invoke(QUERY)

        assert [asked["k"] for asked in store.asked] == [50, 16]

    def test_only_the_texts_of_the_returned_units_are_read(self):
        read = []
        retriever = listed(
            piece("mill.md"),
            piece("ann.md"),
            k=1,
            documents=lambda name: read.append(name) or TEXTS[name],
        )

        retriever.invoke(QUERY)

        assert read == ["mill.md", "miller.md"]


class TestOutput:
    def test_metadata_say_what_the_unit_is_and_where(self):
        scored = piece("chronicle.md", 700)
        scored.metadata["relevance_score"] = 0.25
        (part, pair) = listed(scored, piece("ann.md")).invoke(QUERY)

        assert part.metadata["doc_uri"] == "chronicle.md"
        assert part.metadata["unit_score"] == 0.25
        assert part.metadata["oprag_start"] <= 700 < part.metadata["oprag_end"]
        bridge, ann = len(TEXTS["bridge.md"]), len(TEXTS["ann.md"])
        assert pair.metadata["unit_spans"] == [[0, bridge], [0, ann]]
        assert (part.metadata["oprag_rank"], pair.metadata["oprag_rank"]) == (0, 1)
        assert pair.metadata["oprag_citation"] == (
            f"bridge.md, characters 0-{bridge}; ann.md, characters 0-{ann}"
        )
        assert "unit_score" not in pair.metadata
        assert part.id != pair.id
