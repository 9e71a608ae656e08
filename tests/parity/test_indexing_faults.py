"""The embedding or the store fails at any call, through both frameworks."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from langchain_core.documents import Document as LangChainDocument
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import Document as LlamaIndexDocument
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.node_parser import NodeParser
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import SimpleVectorStore
from pydantic import Field

import langchain_oprag
import llamaindex_oprag
from oprag.documents import rebuild
from oprag.errors import DocumentNotFoundError, IncompleteDocumentError, IndexingError
from oprag.indexing import IndexingReport, WantedChunk, WantedDocument, update_index
from oprag.metadata import document_key
from oprag.stores import ChunkStore, StoredChunk
from tests.kit.effort import FAULT_STEP
from tests.kit.fake_store import FakeStore, FakeWriter, Stopped
from tests.kit.frameworks import Held, InLangChain, InLlamaIndex
from tests.kit.interrupted import content
from tests.real_stores.langchain_places import HashEmbeddings
from tests.real_stores.llamaindex_fakes import ChecksumEmbedding

pytestmark = pytest.mark.filterwarnings("ignore::oprag.errors.OpragWarning")


class Outages:
    """Counts calls of the store and the embedding, and fails some."""

    def __init__(self) -> None:
        self.calls = 0
        self.failing: range | None = None

    def called(self, *_: object) -> None:
        self.calls += 1
        if self.failing is not None and self.calls - 1 in self.failing:
            raise TimeoutError("no answer")


class Watched(ChunkStore):
    """Reads a store whose reading may fail as well."""

    is_queried = True

    def __init__(self, store: ChunkStore, outages: Outages) -> None:
        self.name = store.name
        self._store = store
        self._outages = outages

    def read(self, wanted=None, ids=None):
        if wanted is not None:
            self._outages.called()
        return self._store.read(wanted, ids)


def langchain(outages: Outages) -> tuple[Callable[..., IndexingReport], ChunkStore]:
    class Model(HashEmbeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            outages.called()
            return super().embed_documents(texts)

    class Store(InMemoryVectorStore):
        def add_documents(self, documents: Any, ids: Any = None, **kwargs: Any) -> Any:
            given = super().add_documents(documents, ids=ids, **kwargs)
            outages.called()  # it was done, and nobody hears of it
            return given

        async def aadd_documents(
            self, documents: Any, ids: Any = None, **kwargs: Any
        ) -> Any:
            given = await super().aadd_documents(documents, ids=ids, **kwargs)
            outages.called()
            return given

        def delete(self, ids: Any = None, **kwargs: Any) -> None:
            outages.called()
            super().delete(ids, **kwargs)

    return indexing(InLangChain(Store(Model())), outages)


class NodeModel(ChecksumEmbedding):
    """Embeds nodes, and counts each time it is asked."""

    asked: Any = Field(exclude=True)

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        self.asked.called()
        return super()._get_text_embeddings(texts)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._get_text_embeddings(texts)


def llamaindex(outages: Outages) -> tuple[Callable[..., IndexingReport], ChunkStore]:
    class Store(SimpleVectorStore):
        def add(self, nodes: Any, **kwargs: Any) -> Any:
            outages.called()
            return super().add(nodes, **kwargs)

        def delete_nodes(self, *args: Any, **kwargs: Any) -> None:
            outages.called()
            super().delete_nodes(*args, **kwargs)

    class Nodes(SimpleDocumentStore):
        def add_documents(self, *args: Any, **kwargs: Any) -> None:
            super().add_documents(*args, **kwargs)
            outages.called()

        async def async_add_documents(self, *args: Any, **kwargs: Any) -> None:
            self.add_documents(*args, **kwargs)

    model = NodeModel(asked=outages)
    place = InLlamaIndex(Store(), docstore=Nodes(), embed_model=model)
    return indexing(place, outages)


def indexing(place: Held, outages: Outages) -> tuple[Any, ChunkStore]:
    """A function that indexes texts in small chunks, and what reads them."""
    chunks = Watched(place.chunks, outages)

    def index(texts: dict[str, str], *, awaited: bool | None, **options: Any) -> Any:
        options |= {**place.splitting(3), "chunks": chunks}
        if awaited is None:
            return place.aindex(texts, **options)
        return place.index(texts, awaited=awaited, **options)

    return index, chunks


BEFORE = {name: f"The old text of {name}. " * 4 for name in ("a", "b", "c", "d", "e")}
AFTER = {
    "a": BEFORE["a"],
    "b": "A new text of b. " * 6,
    "c": "New: c.",
    "e": BEFORE["e"] + "More.",
    "f": "A new document. " * 3,
}


GOES, COMES = "d", "f"
"""Of these a half may be there: nobody had the new one, and the other one goes."""


def readable(chunks: ChunkStore) -> dict[str, str]:
    texts = {}
    for name in sorted({*BEFORE, *AFTER}):
        own = list(chunks.read({document_key(name): None}))
        try:
            texts[name] = rebuild(name, own).text
        except (DocumentNotFoundError, IncompleteDocumentError):
            assert name in {GOES, COMES}
    return texts


def attempt(index: Callable[..., IndexingReport], **options: Any) -> IndexingReport:
    try:
        return index(AFTER, batch_size=4, remove_missing=True, **options)
    except IndexingError as error:
        return error.report


@pytest.mark.slow
@pytest.mark.parametrize("awaited", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("make", [langchain, llamaindex])
@pytest.mark.parametrize("times", [1, 1_000], ids=["once", "for ever"])
def test_at_every_call_every_document_stays_readable_and_the_next_run_mends(
    make, awaited, times
):
    clean_index, clean = make(Outages())
    clean_index(AFTER, awaited=awaited, batch_size=4)
    counted = Outages()
    index, _ = make(counted)
    index(BEFORE, awaited=awaited)
    counted.calls = 0
    attempt(index, awaited=awaited)
    assert counted.calls > 20

    named, first = 0, 2 * awaited + (times == 1)
    for number in range(first % FAULT_STEP, counted.calls, FAULT_STEP):
        outages = Outages()
        index, chunks = make(outages)
        index(BEFORE, awaited=awaited)
        outages.calls, outages.failing = 0, range(number, number + times)

        report = attempt(index, awaited=awaited)

        outages.failing = None
        texts = readable(chunks)
        failed = {name for name, *_ in report.failed}
        named += len(failed)
        for name in BEFORE.keys() - {GOES}:
            assert texts[name] in {BEFORE[name], AFTER.get(name)}, (number, name)
        for name in (*report.added, *report.updated, *report.unchanged):
            assert texts[name] == AFTER[name]
        if times == 1:
            assert failed <= {GOES}  # the others are tried once more
            assert texts.keys() >= AFTER.keys()
        index(AFTER, awaited=awaited, remove_missing=True)
        assert content(chunks) == content(clean)
    assert named or times == 1


@pytest.mark.parametrize("make", [langchain, llamaindex])
async def test_a_run_that_is_cancelled_leaves_every_document_and_no_lock(make):
    outages = Outages()
    index, chunks = make(outages)
    await asyncio.to_thread(index, BEFORE, awaited=False)
    for moment in (0.0, 0.003, 0.01, 0.03, 0.1):
        running = asyncio.create_task(index(AFTER, awaited=None, batch_size=2))
        await asyncio.sleep(moment)
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        texts = readable(chunks)
        for name, text in BEFORE.items():
            assert texts[name] in {text, AFTER.get(name)}
    report = await index(AFTER, awaited=None, remove_missing=True)

    assert report.removed == (GOES,)
    assert readable(chunks) == AFTER


@pytest.mark.parametrize(
    ("old", "new"),
    [
        *[((0, 1), (0, 1, 2)), ((1, 2), (0, 1, 2)), ((0,), (0, 1))],
        *[((0, 1, 2), (0, 1)), ((0, 1, 2), (1, 2)), ((0, 1), (1, 2))],
    ],
)
@pytest.mark.parametrize("changed", [True, False], ids=["changed", "as they were"])
def test_pages_that_come_or_go_leave_one_whole_version_at_every_row(old, new, changed):
    def rows(pages: tuple[int, ...], words: str) -> list[StoredChunk]:
        store = InMemoryVectorStore(DeterministicFakeEmbedding(size=2))
        documents = [
            LangChainDocument(f"Page {n} {words}. " * 3, metadata=NAMED | {"page": n})
            for n in pages
        ]
        langchain_oprag.index_documents(
            documents, store, splitter=langchain_oprag.OffsetTokenSplitter(chunk_size=4)
        )
        return list(langchain_oprag.chunk_store(store).read())

    before, after = rows(old, "says"), rows(new, "now says" if changed else "says")
    texts = {rebuild("a.pdf", whole).parts for whole in (before, after)}
    wanted = WantedDocument(
        "a.pdf", [WantedChunk(row.id, row.text, row.metadata) for row in after]
    )
    for number in range(len(before) + len(after)):
        store = FakeStore(before)
        with suppress(Stopped):
            writer = FakeWriter(store, rows=number)
            update_index([wanted], store, writer, batch_size=1)
        assert rebuild("a.pdf", store.rows).parts in texts


NAMED = {"source": "a.pdf"}


class Tags(NodeParser):
    """Makes nodes of the text in tags, as those of HTML do."""

    def _parse_nodes(self, nodes, show_progress=False, **kwargs):
        return []


def test_a_splitter_that_makes_nothing_of_a_text_empties_no_index():
    index = VectorStoreIndex([], embed_model=MockEmbedding(embed_dim=4))
    documents = [
        LlamaIndexDocument(text=f"Text {number}.", metadata={"file_path": f"{number}"})
        for number in range(3)
    ]
    llamaindex_oprag.index_documents(documents, index)
    before = content(llamaindex_oprag.chunk_store(index))

    with pytest.raises(IndexingError, match="that Tags made no chunk of"):
        llamaindex_oprag.index_documents(documents, index, node_parser=Tags())

    assert content(llamaindex_oprag.chunk_store(index)) == before
