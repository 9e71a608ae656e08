"""`index_documents`: a vector store that follows a folder or a list of documents."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Unpack

from langchain_core.documents import BaseDocumentTransformer, Document
from langchain_core.vectorstores import VectorStore

from langchain_oprag._checked_embeddings import check_embeddings, measure_vectors
from langchain_oprag.splitters import OffsetSentenceSplitter, OffsetSplitter, source_of
from langchain_oprag.stores import chunk_store
from oprag.errors import IndexingError, InvalidOptionError, wrong_object
from oprag.indexing import (
    ChunkWriter,
    Documents,
    Framework,
    IndexingKeywords,
    IndexingReport,
    IndexTarget,
    VectorCheck,
    WantedChunk,
    aindex_target,
    index_target,
)
from oprag.splitting import SourceText
from oprag.stores import ChunkStore


def index_documents(
    documents: Documents[Document],
    vectorstore: VectorStore,
    *,
    splitter: BaseDocumentTransformer | None = None,
    chunks: ChunkStore | None = None,
    **options: Unpack[IndexingKeywords],
) -> IndexingReport:
    """Bring the documents in a vector store up to date.

    Run it again whenever documents may have changed, or after a crash: unchanged
    documents are skipped. The old chunks of a document are deleted only when all its
    new ones are stored. So whatever fails, its old version or its new one is there,
    whole. Documents that fail are listed in the report; the others go on. A second run
    on the same machine waits for the first.

    Chunks get the metadata of their document and oprag's own (`oprag.metadata`), all
    flat. Their ids are the same every time and cover text and metadata. LlamaIndex's
    `index_documents` gives the same ids: a store that both write to is one index.

    Args:
        documents: A folder, whose text files are all read, named by their path
            inside it (see `oprag.documents.read_folder`); or LangChain Documents, read
            one at a time. Those of one name (`doc_uri`, `file_path`, `source`, ids,
            `url`; see `oprag.positions`) that follow one another are the parts of
            one document, such as the pages that a loader gives. Without any such
            name the `id` is the name.
        vectorstore: Any store that `langchain_oprag.chunk_store` reads; others with
            `chunks=`.
        splitter: A splitter of oprag, whose positions are exact, or any other text
            splitter, whose chunks are found in their document. None for
            `OffsetSentenceSplitter()`.
        scope: Name of the source of the documents, such as `"handbook"`. A run removes
            and replaces only documents of its own scope, so that several sources live
            in one store. Names of a folder's files begin with it (`handbook/a.txt`).
            None: the path of a folder is its scope, and documents without a folder are
            all of one scope.
        remove_missing: Also delete the documents of this scope that are not among
            `documents`, or are empty now; none if another document failed, and more
            than half of them only with `"all"`.
        replace: `"document"`: all stored chunks of a document. `"same_settings"`: only
            its chunks of the same splitter with the same settings, so that chunks of
            several sizes live side by side. `"all"`: also chunks of the same file that
            LangChain or LlamaIndex put into the store, and a document of that name from
            another scope.
        unsupported_metadata: `"error"`, or `"drop"`: leave out values that not every
            store keeps (lists, mappings, dates, numbers that are not finite, strings
            with a NUL character). None is always left out. With `"error"` the document
            fails.
        batch_size: Chunks that are embedded and written at once, 256 by default.
        chunks: A reader of the store's chunks; None for the stores that are known.
        show_progress: Draw a bar with tqdm on standard error, if that is a terminal. A
            function is called instead, with the documents that are done, their number
            (None if it is not known) and the chunks written.

    Returns:
        A report with the names of the added, updated, removed and failed documents.

    Raises:
        MissingDocumentError: A document has no name.
        InvalidOptionError: A document comes twice, an option or the store cannot be
            used, or `remove_missing` would delete more than half.
        PositionError: A given document is itself a chunk.
        UnreadableFileError: A folder inside the folder cannot be opened.
        IndexingError: No document could be indexed, or five in a row failed; its
            `report` lists the documents. Or another run was still writing after a
            minute.

    Warns:
        OpragWarning: Some documents failed or are kept, or the store also holds chunks
            of them that something else wrote; the report has the facts.
        PositionWarning: Chunks of another splitter were not found in their
            document; they keep their order.

    Example:
        >>> from langchain_core.embeddings import DeterministicFakeEmbedding
        >>> from langchain_core.vectorstores import InMemoryVectorStore
        >>> store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
        >>> letter = Document("Dear Sir.", metadata={"source": "letter.txt"})
        >>> index_documents([letter], store).added
        ('letter.txt',)
        >>> index_documents([letter], store).unchanged
        ('letter.txt',)
    """
    return index_target(
        make_target(vectorstore, splitter, chunks), documents, **options
    )


async def aindex_documents(
    documents: Documents[Document],
    vectorstore: VectorStore,
    *,
    splitter: BaseDocumentTransformer | None = None,
    chunks: ChunkStore | None = None,
    **options: Unpack[IndexingKeywords],
) -> IndexingReport:
    """Async version of `index_documents`, by the store's async methods.

    Documents are read and split in a thread.
    """
    return await aindex_target(
        make_target(vectorstore, splitter, chunks), documents, **options
    )


def make_target(
    vectorstore: VectorStore,
    splitter: BaseDocumentTransformer | None,
    chunks: ChunkStore | None = None,
) -> IndexTarget:
    """Return the target of a run; the arguments are those of `index_documents`.

    Raises:
        InvalidOptionError: The store or the splitter cannot be used.
    """
    if not isinstance(vectorstore, VectorStore):
        takes = "a VectorStore of LangChain, after the documents"
        raise wrong_object("vectorstore", vectorstore, takes)
    if type(vectorstore).delete is VectorStore.delete:
        message = (
            f"{type(vectorstore).__name__} has no delete, so that documents in it "
            "cannot be replaced. Take another vector store."
        )
        raise InvalidOptionError(message, option="vectorstore", value=vectorstore)
    splitter = OffsetSentenceSplitter() if splitter is None else splitter
    if not isinstance(splitter, BaseDocumentTransformer):
        takes = "oprag's splitters or any TextSplitter of LangChain"
        raise wrong_object("splitter", splitter, takes)
    store = chunk_store(vectorstore) if chunks is None else chunks
    return IndexTarget(_LangChain(splitter), store, _Writer(vectorstore))


class _LangChain(Framework[Document]):
    """Reads, makes and splits LangChain's documents.

    Args:
        splitter: Any; for splitters other than oprag's, the positions are found.
    """

    document_type = Document
    reserved = frozenset({"_collection_name", "_id"})  # Qdrant's wrapper writes them

    def __init__(self, splitter: BaseDocumentTransformer) -> None:
        self.splitter: BaseDocumentTransformer = splitter
        self.exact = isinstance(splitter, OffsetSplitter)

    @property
    def is_estimated(self) -> bool:
        return isinstance(self.splitter, OffsetSplitter) and self.splitter.is_estimated

    def read_source(self, document: Document) -> SourceText:
        return source_of(document)

    def replace_text(self, document: Document, text: str) -> Document:
        return document.model_copy(update={"page_content": text})

    def make(
        self, text: str, own_id: str, metadata: dict[str, Any], like: Document | None
    ) -> Document:
        if like is None:
            return Document(text, metadata=metadata)
        # A subclass may hold values that its splitter asks for.
        changes = {"id": None, "page_content": text, "metadata": metadata}
        return like.model_copy(update=changes)

    def split(self, documents: Sequence[Document]) -> list[WantedChunk]:
        chunks = self.splitter.transform_documents(documents)
        return [WantedChunk("", chunk.page_content, chunk.metadata) for chunk in chunks]


class _Writer(ChunkWriter):
    """Writes through the vector store's own methods.

    Args:
        vectorstore: The store.
    """

    def __init__(self, vectorstore: VectorStore) -> None:
        self.written = self._vectorstore = vectorstore
        length = measure_vectors(vectorstore)
        self._vectors = VectorCheck(vectorstore.embeddings, length)

    def add(self, chunks: Sequence[WantedChunk]) -> None:
        ids = [chunk.id for chunk in chunks]
        with check_embeddings(self._vectorstore, partial(self._vectors.check, chunks)):
            given = self._vectorstore.add_documents(_make_documents(chunks), ids=ids)
        self._check_added(ids, given)

    def delete(self, ids: Sequence[str]) -> None:
        self._check_deleted(self._vectorstore.delete(list(ids)))

    async def aadd(self, chunks: Sequence[WantedChunk]) -> None:
        ids = [chunk.id for chunk in chunks]
        with check_embeddings(self._vectorstore, partial(self._vectors.check, chunks)):
            given = await self._vectorstore.aadd_documents(
                _make_documents(chunks), ids=ids
            )
        self._check_added(ids, given)

    async def adelete(self, ids: Sequence[str]) -> None:
        self._check_deleted(await self._vectorstore.adelete(list(ids)))

    def _check_added(self, ids: Sequence[str], given: object) -> None:
        if isinstance(given, list) and [str(own) for own in given] != ids:
            name = type(self._vectorstore).__name__
            message = (
                f"{name} gave chunks ids of its own, so that indexing them again would "
                "double them. Take another vector store."
            )
            raise IndexingError(message, store=name)

    def _check_deleted(self, done: bool | None) -> None:
        if done is False:  # reported for each document: its new chunks are in the store
            name = type(self._vectorstore).__name__
            message = f"{name} did not delete the chunks that are to be replaced."
            raise RuntimeError(message)


def _make_documents(chunks: Sequence[WantedChunk]) -> list[Document]:
    return [
        Document(chunk.text, id=chunk.id, metadata=dict(chunk.metadata))
        for chunk in chunks
    ]
