"""The order of what is retrieved from LangChain stores, and what they leave out."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore

from langchain_oprag import (
    OffsetSentenceSplitter,
    OffsetTokenSplitter,
    OrderPreservingRetriever,
    document_source,
)
from oprag import place_of
from oprag.files import read_files
from tests.files.mixed_files import pdf
from tests.stores.langchain_places import (
    AWKWARD_NAMES,
    PLACES,
    SIZE,
    HashEmbeddings,
    Place,
    add,
    reference,
)

QUESTION = "In which order do the clauses of a try statement run?"


class Library(NamedTuple):
    """Documents, and their chunks."""

    texts: dict[str, str]
    """Full text by name; the pages of a PDF joined by a blank line."""
    pages: dict[str, list[str]]
    """The same, page by page."""
    chunks: list[Document]
    """All of them."""


class Filled(NamedTuple):
    """A store with the library in it."""

    place: Place
    store: VectorStore
    library: Library


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Two long texts, a PDF, and short texts under names that are traps."""
    folder = tmp_path_factory.mktemp("files")
    pdf(folder / "Bericht 3 'ü'.pdf", ("The roof leaks. " * 40, "", "It costs 4,000."))
    read = read_files([folder]).texts
    pages = [Document(page.text, metadata=page.metadata) for page in read]
    first, second, *others = AWKWARD_NAMES
    texts = {first: reference(), second: "日本語 🙂 e\u0301 ﬁn. \r\n" * 500}
    texts |= {name: f"The text of {name}. " * 9 for name in others}
    documents = [Document(text, metadata={"source": n}) for n, text in texts.items()]
    chunks = OffsetTokenSplitter(chunk_size=32, chunk_overlap=8).split_documents(
        documents
    )
    chunks += OffsetSentenceSplitter(chunk_size=20).split_documents(pages)
    rows = {name: [text] for name, text in texts.items()}
    for page in pages:
        rows.setdefault(page.metadata["source"], []).append(page.page_content)
    return Library({n: "\n\n".join(row) for n, row in rows.items()}, rows, chunks)


@pytest.fixture(
    scope="module",
    params=[place for place in PLACES if not place.slow],
    ids=lambda place: place.id,
)
def filled(
    request: pytest.FixtureRequest,
    library: Library,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Filled]:
    """Each store in turn, filled once; the tests only read from it."""
    place: Place = request.param
    folder = tmp_path_factory.mktemp("store")
    with place.make(folder, request.getfixturevalue) as store:
        add(store, library.chunks)
        yield Filled(place, store, library)


def slices(document: Document) -> list[tuple[int, int]]:
    place = place_of(document)
    return [] if place is None else [*place.spans]


@pytest.mark.parametrize("k", [1, 50, 2_000])
async def test_retrieved_chunks_stand_in_the_order_of_their_documents(filled, k):
    retriever = OrderPreservingRetriever(vectorstore=filled.store, k=k)

    found = retriever.invoke(QUESTION)

    assert len(found) == k < len(filled.library.chunks)
    places = [
        (d.metadata.get("doc_uri"), d.metadata.get("part_index", 0), *slices(d)[0])
        for d in found
    ]
    for _, group in itertools.groupby(places, key=lambda place: place[0]):
        rows = list(group)
        assert rows == sorted(set(rows))
    groups = [name for name, _ in itertools.groupby(place[0] for place in places)]
    assert len(groups) == len(set(groups))
    awaited = await retriever.ainvoke(QUESTION)
    assert sorted(d.page_content for d in awaited) == sorted(
        d.page_content for d in found
    )


@pytest.mark.parametrize("k", [50, 2_000])
def test_merged_passages_are_slices_of_their_documents(filled, k):
    retriever = OrderPreservingRetriever(vectorstore=filled.store, k=k, merge=True)

    for passage in retriever.invoke(QUESTION):
        pages = filled.library.pages[passage.metadata.get("doc_uri")]
        numbers = {
            d.metadata.get("part_index", 0)
            for d in filled.library.chunks
            if d.metadata.get("doc_uri") == passage.metadata.get("doc_uri")
        }
        page = sorted(numbers).index(passage.metadata.get("part_index", 0))
        text = " ".join(pages[page][a:b] for a, b in slices(passage))
        assert passage.page_content.split() == text.split()


async def test_a_store_that_is_only_async_is_awaited(database, library):
    from langchain_postgres import PGEngine, PGVectorStore
    from sqlalchemy.ext.asyncio import create_async_engine

    pool = create_async_engine(f"postgresql+psycopg://{database}")
    engine = PGEngine.from_engine(pool)
    await engine.ainit_vectorstore_table("chunks", SIZE)
    store = await PGVectorStore.create(engine, HashEmbeddings(), "chunks")
    names = AWKWARD_NAMES[2:]
    await store.aadd_documents(
        [c for c in library.chunks if c.metadata.get("doc_uri") in names]
    )

    source = document_source(store)
    for name in names:
        assert await source.aget(name) == library.texts[name]
    await pool.dispose()
