"""The docstore of an index fails while documents are indexed."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from llama_index.core import Document, MockEmbedding
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import SimpleVectorStore
from pydantic import PrivateAttr

from llamaindex_oprag import chunk_store, document_source, index_documents
from oprag.errors import IndexingError
from oprag.indexing import IndexingReport
from tests.kit.effort import FAULT_STEP
from tests.kit.frameworks import InLlamaIndex
from tests.kit.interrupted import content

pytestmark = pytest.mark.filterwarnings("ignore::oprag.errors.OpragWarning")
BEFORE = {name: f"The old text of {name}. " * 3 for name in ("a", "b", "c", "d")}
AFTER = {"a": BEFORE["a"], "b": "A new text of b. " * 3, "c": "New.", "e": "Added."}


class Docstore(SimpleDocumentStore):
    """Fails some of its calls, before it does what is asked or after."""

    def __init__(self, *, afterwards: bool) -> None:
        super().__init__()
        self.afterwards = afterwards
        self.calls = 0
        self.failing = range(0)
        self.answers = False
        self.raised: type[BaseException] = TimeoutError
        self.away = False

    def _call(self, done: Any, *args: Any, **kwargs: Any) -> Any:
        number, self.calls = self.calls, self.calls + 1
        if number in self.failing and not self.afterwards:
            raise self.raised
        result = done(*args, **kwargs)
        if number in self.failing:
            raise self.raised
        return result

    def add_documents(self, *args: Any, **kwargs: Any) -> None:
        self._call(super().add_documents, *args, **kwargs)

    async def async_add_documents(self, *args: Any, **kwargs: Any) -> None:
        self._call(super().add_documents, *args, **kwargs)

    def delete_document(self, *args: Any, **kwargs: Any) -> None:
        self._call(super().delete_document, *args, **kwargs)

    @property
    def docs(self) -> dict[str, Any]:
        return {} if self.away else super().docs

    def document_exists(self, doc_id: str) -> bool:
        if self.away:
            return False
        found = super().document_exists
        return bool(found(doc_id) if self.answers else self._call(found, doc_id))


class Stored:
    """An index over such a docstore."""

    def __init__(
        self,
        *,
        afterwards: bool,
        awaited: bool,
        override: bool,
        vectors: SimpleVectorStore | None = None,
    ) -> None:
        self.docstore = Docstore(afterwards=afterwards)
        self.vectors = chroma() if override else None
        self.place = InLlamaIndex(
            self.vectors or vectors,
            docstore=self.docstore,
            embed_model=MockEmbedding(embed_dim=2),
            store_nodes_override=override,
        )
        self.index = self.place.documents
        self.awaited = awaited

    def run(self, texts: dict[str, str]) -> IndexingReport:
        options = self.place.splitting(4)
        return self.place.index(
            texts, awaited=self.awaited, remove_missing=True, **options
        )

    def state(self) -> tuple[Any, ...]:
        """All that is kept: chunks, names, nodes, vectors."""
        ids = {chunk.id for chunk in chunk_store(self.index).read()}
        if self.vectors is None:
            ids = {*self.index.vector_store.data.embedding_dict}
        names = {*self.index.index_struct.nodes_dict}
        return content(chunk_store(self.index)), names, {*self.docstore.docs}, ids

    def attempt(self) -> IndexingReport:
        try:
            return self.run(AFTER)
        except IndexingError as error:
            return error.report


def chroma() -> Any:
    chromadb = pytest.importorskip("chromadb")
    wrapper = pytest.importorskip("llama_index.vector_stores.chroma")
    client = chromadb.EphemeralClient()
    with suppress(Exception):  # it is the same in all of the process
        client.delete_collection("docstore-faults")
    return wrapper.ChromaVectorStore(client.create_collection("docstore-faults"))


def started(number: int, times: int, **options: Any) -> Stored:
    stored = Stored(**options)
    stored.run(BEFORE)
    docstore = stored.docstore
    docstore.calls, docstore.failing = 0, range(number, number + times)
    return stored


@pytest.mark.slow
@pytest.mark.parametrize("afterwards", [False, True], ids=["before", "afterwards"])
@pytest.mark.parametrize("awaited", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("override", [False, True], ids=["alone", "a second time"])
def test_from_whenever_on_the_docstore_fails_the_next_run_leaves_a_clean_index(
    afterwards, awaited, override
):
    """A fault that passes is tried once more: see the faults of both frameworks."""
    options = {"afterwards": afterwards, "awaited": awaited, "override": override}
    whole = started(0, 0, **options)
    whole.run(AFTER)
    assert whole.docstore.calls > 20
    state = whole.state()

    first = (2 * awaited + 3 * afterwards) % FAULT_STEP
    step = FAULT_STEP * (2 if override else 1)
    for number in range(first, whole.docstore.calls, step):
        stored = started(number, 10_000, **options)

        stored.attempt()

        stored.docstore.failing = range(0)
        read = document_source(stored.index)
        for name in BEFORE.keys() & AFTER.keys():
            assert read.get(name) in {BEFORE[name], AFTER[name]}
        stored.run(AFTER)
        assert stored.state() == state, number


def test_a_search_finds_its_nodes_while_new_ones_cannot_be_kept():
    stored = started(0, 10_000, afterwards=False, awaited=False, override=False)
    stored.docstore.answers = True

    with pytest.raises(IndexingError):
        stored.run({name: f"{text} Changed." for name, text in BEFORE.items()})

    found = stored.index.as_retriever(similarity_top_k=100).retrieve("x")
    assert {node.node.ref_doc_id for node in found} == {*BEFORE}


class Awaited(SimpleVectorStore):
    """Has an async client, by which its wrapper is told."""

    _aclient: object = PrivateAttr(default_factory=object)


@pytest.mark.parametrize("kind", [SimpleVectorStore, Awaited])
@pytest.mark.parametrize("awaited", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("raised", [KeyboardInterrupt, asyncio.CancelledError])
def test_a_search_finds_its_nodes_after_a_run_that_was_interrupted(
    kind, awaited, raised
):
    stored = started(
        0, 1, afterwards=False, awaited=awaited, override=False, vectors=kind()
    )
    before = stored.state()
    stored.docstore.raised = raised
    stored.docstore.answers = True

    with pytest.raises(raised):
        stored.run({**BEFORE, "z": "A new text."})

    found = stored.index.as_retriever(similarity_top_k=100).retrieve("x")
    assert {node.node.ref_doc_id for node in found} == {*BEFORE}
    assert stored.state() == before
    stored.run({**BEFORE, "z": "A new text."})
    assert len(stored.state()[0]) > len(before[0])


def test_under_a_docstore_that_holds_nothing_for_a_moment_the_vectors_stay():
    stored = started(0, 0, afterwards=False, awaited=False, override=False)
    before = stored.state()
    stored.docstore.away = True

    index_documents([Document(text="New.", id_="z")], stored.index)

    stored.docstore.away = False
    for then, now in zip(before[1:], stored.state()[1:], strict=True):
        assert then < now
    found = stored.index.as_retriever(similarity_top_k=100).retrieve("x")
    assert {node.node.ref_doc_id for node in found} == {*BEFORE, "z"}
