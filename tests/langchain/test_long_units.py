"""`LongUnitRetriever`: short chunks are searched, long units come back whole."""

from __future__ import annotations

import pytest
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from langchain_oprag import (
    LongUnitRetriever,
    OffsetTokenSplitter,
    OrderPreservingCompressor,
    document_source,
)
from oprag.cli.embedding_models import load_embedding_model, packaged_weights
from oprag.errors import InvalidOptionError
from oprag.units import LongUnit, group_documents
from tests.langchain.corpus import (
    EMBEDDING,
    QUERY,
    ListRetriever,
    RecordingStore,
    words,
)

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


def pieces(names=tuple(TEXTS), size: int = 12) -> list[Document]:
    documents = [Document(TEXTS[name], metadata={"source": name}) for name in names]
    splitter = OffsetTokenSplitter(chunk_size=size)
    return splitter.split_documents(documents)


def of(document: Document) -> list[str]:
    return document.metadata["unit_documents"]


def listed(*documents: Document, **options) -> LongUnitRetriever:
    base = ListRetriever(documents=list(documents))
    settings = {"units": UNITS, "documents": TEXTS, **options}
    return LongUnitRetriever(base_retriever=base, **settings)


def piece(name: str, start: int = 0, length: int = 20) -> Document:
    text = TEXTS[name][start : start + length]
    return Document(text, metadata={"source": name, "start_index": start})


@pytest.fixture(scope="module")
def minilm():
    pytest.importorskip("sentence_transformers")  # not among the lowest versions
    return load_embedding_model(packaged=packaged_weights())


@pytest.fixture(scope="module", params=["in memory", "chroma"])
def village(request, minilm, tmp_path_factory):
    """The texts in a real store, found by a real embedding model."""
    if request.param == "in memory":
        store = InMemoryVectorStore(minilm)
    else:
        store = Chroma("village", minilm, str(tmp_path_factory.mktemp("chroma")))
    store.add_documents(pieces())
    return store


class TestOverRealStores:
    @pytest.mark.slow
    async def test_the_units_of_the_best_chunks_come_whole(self, village):
        retriever = LongUnitRetriever(
            vectorstore=village, units=UNITS, documents=TEXTS, k=2
        )

        found = retriever.invoke("Who built the bridge, and where was she born?")

        assert of(found[0]) == ["bridge.md", "ann.md"]
        assert found[0].page_content == f"{TEXTS['bridge.md']}\n\n{TEXTS['ann.md']}"
        assert len(found) == 2
        assert found == await retriever.ainvoke(
            "Who built the bridge, and where was she born?"
        )

    async def test_parts_of_one_document_follow_one_another(self, village):
        retriever = LongUnitRetriever(
            vectorstore=village, units=UNITS, documents=TEXTS, k=4
        )

        found = await retriever.ainvoke("How many hearths in the year 1755, or 1702?")

        starts = [d.metadata["oprag_start"] for d in found if of(d) == ["chronicle.md"]]
        assert len(starts) > 1
        assert starts == sorted(starts)
        for document in found:
            if of(document) == ["chronicle.md"]:
                start, end = (document.metadata[f"oprag_{e}"] for e in ("start", "end"))
                text = TEXTS["chronicle.md"][start:end]
                assert document.page_content == text
                assert words(text) <= 100

    def test_filters_pass_through(self, village):
        only = {"source": "mill.md"}
        if isinstance(village, InMemoryVectorStore):
            only = lambda document: document.metadata["source"] == "mill.md"  # noqa: E731 -- what this store takes
        built = LongUnitRetriever(
            vectorstore=village,
            units=UNITS,
            documents=TEXTS,
            search_kwargs={"filter": only},
        )
        given = LongUnitRetriever(vectorstore=village, units=UNITS, documents=TEXTS)

        for found in (built.invoke("bridge"), given.invoke("bridge", filter=only)):
            assert [of(document) for document in found] == [["mill.md", "miller.md"]]


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

    async def test_no_more_once_the_store_is_exhausted(self):
        store = RecordingStore([piece("mill.md")])
        retriever = LongUnitRetriever(
            vectorstore=store, units=UNITS, documents=TEXTS, k=3
        )

        assert [of(d) for d in await retriever.ainvoke(QUERY)] == [
            ["mill.md", "miller.md"]
        ]
        assert store.asked == [{"k": 24}]

    def test_it_begins_with_the_k_of_search_kwargs_if_that_is_more(self):
        store = RecordingStore([piece("mill.md")])
        LongUnitRetriever(
            vectorstore=store,
            units=UNITS,
            documents=TEXTS,
            k=1,
            search_kwargs={"k": 50},
        ).invoke(QUERY)
        LongUnitRetriever(
            vectorstore=store, units=UNITS, documents=TEXTS, k=1, search_kwargs={"k": 2}
        ).invoke(QUERY)

        assert [asked["k"] for asked in store.asked] == [50, 16]

    def test_an_opaque_retriever_is_asked_once(self):
        retriever = listed(piece("mill.md"), k=4)

        assert len(retriever.invoke(QUERY)) == 1
        assert retriever.base_retriever.queries == [QUERY]

    def test_k_of_one_call(self):
        retriever = listed(piece("mill.md"), piece("ann.md"), k=1)

        assert len(retriever.invoke(QUERY)) == 1
        assert len(retriever.invoke(QUERY, k=2)) == 2

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

    def test_an_order_preserving_compressor_after_it_leaves_the_units_as_they_are(self):
        found = listed(
            piece("chronicle.md", 1500), piece("ann.md"), piece("chronicle.md")
        ).invoke(QUERY)

        assert OrderPreservingCompressor().compress_documents(found, QUERY) == found

    def test_documents_may_be_anything_that_gives_full_texts(self, tmp_path):
        for name, text in TEXTS.items():
            (tmp_path / name).write_text(text, encoding="utf-8")

        async def coroutine(name):
            return TEXTS[name]

        expected = listed(piece("mill.md")).invoke(QUERY)
        for documents in (str(tmp_path), TEXTS.get, document_source(TEXTS)):
            assert listed(piece("mill.md"), documents=documents).invoke(QUERY) == (
                expected
            )
        with pytest.raises(InvalidOptionError, match="async"):
            listed(piece("mill.md"), documents=coroutine).invoke(QUERY)

    async def test_async_documents_are_awaited(self):
        async def coroutine(name):
            return TEXTS[name]

        retriever = listed(piece("mill.md"), documents=coroutine)

        assert await retriever.ainvoke(QUERY) == listed(piece("mill.md")).invoke(QUERY)

    def test_what_the_store_has_can_be_used(self):
        store = InMemoryVectorStore(EMBEDDING)
        retriever = LongUnitRetriever(vectorstore=store, units=UNITS, documents=TEXTS)

        retriever.add_documents([piece("mill.md")])

        assert retriever.vectorstore is store
        assert len(retriever.invoke(QUERY)) == 1

    def test_any_runnable_can_be_wrapped(self):
        base = RunnableLambda(lambda query: [piece("mill.md")])
        retriever = LongUnitRetriever(base_retriever=base, units=UNITS, documents=TEXTS)

        assert len(retriever.invoke(QUERY)) == 1


class TestBadInput:
    def test_nothing_found_is_nothing(self):
        assert listed().invoke(QUERY) == []

    @pytest.mark.parametrize(
        "options",
        [
            {"k": 0},
            {"k": None},
            {"order": "random"},
            {"separator": None},
            {"document_order": ""},
            {"documents": 5},
            {"merge": True},
        ],
    )
    def test_impossible_options(self, options):
        with pytest.raises(InvalidOptionError):
            listed(**options)

    def test_units_that_cannot_be_used(self):
        with pytest.raises(InvalidOptionError, match="units="):
            listed(units=[])
        with pytest.raises(InvalidOptionError):
            listed(units=[LongUnit(("a",), 1), LongUnit(("a", "b"), 2)])

    def test_neither_or_both_to_search_in(self):
        with pytest.raises(InvalidOptionError, match="nothing was given"):
            LongUnitRetriever(units=UNITS, documents=TEXTS)

    def test_an_option_of_the_retriever_in_a_call(self):
        with pytest.raises(InvalidOptionError, match="order"):
            listed(piece("mill.md")).invoke(QUERY, order="score")
