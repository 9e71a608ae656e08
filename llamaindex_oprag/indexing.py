"""`index_documents`: an index that follows a folder or a list of documents."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, Unpack

from llama_index.core import VectorStoreIndex
from llama_index.core.node_parser import NodeParser
from llama_index.core.schema import (
    BaseNode,
    Document,
    NodeRelationship,
    ObjectType,
    RelatedNodeInfo,
    TextNode,
)
from llama_index.core.vector_stores.types import BasePydanticVectorStore

from llamaindex_oprag._chunk_stores.docstore import DocstoreChunks
from llamaindex_oprag._index_writer import IndexWriter, OwnNodes, is_faiss
from llamaindex_oprag._nodes import text_of
from llamaindex_oprag.node_parsers import (
    OffsetNodeParser,
    OffsetSentenceNodeParser,
    hidden_keys,
)
from llamaindex_oprag.stores import chunk_store
from oprag.errors import InvalidOptionError, wrong_object
from oprag.indexing import (
    Documents,
    Framework,
    IndexingKeywords,
    IndexingReport,
    IndexTarget,
    WantedChunk,
    aindex_target,
    index_target,
)
from oprag.metadata import CHAR_END, CHAR_START
from oprag.splitting import SourceText
from oprag.stores import ChunkStore
from oprag.tokens import is_fallback

_LEVELS = (NodeRelationship.PARENT, NodeRelationship.CHILD)
_RANDOM = 4
"""The version of the UUIDs that LlamaIndex gives to documents without an id."""


def index_documents(
    documents: Documents[Document],
    index: VectorStoreIndex,
    *,
    node_parser: NodeParser | None = None,
    chunks: ChunkStore | None = None,
    **options: Unpack[IndexingKeywords],
) -> IndexingReport:
    """Bring the documents in an index up to date.

    Run it again whenever documents may have changed, or after a crash: unchanged
    documents are skipped. The old nodes of a document are deleted only when all its new
    ones are stored. So whatever fails, its old version or its new one is there,
    whole. Documents that fail are listed in the report; the others go on. A second run
    on the same machine waits for the first.

    Nodes get the metadata of their document and oprag's own (`oprag.metadata`), all
    flat. Their ids are the same every time and cover text and metadata, whatever the
    parser's `id_func`. LangChain's `index_documents` gives the same ids: a store that
    both write to is one index. Nodes are embedded by the index's own model.

    Args:
        documents: A folder, whose text files are all read, named by their path
            inside it (see `oprag.documents.read_folder`); or LlamaIndex Documents, read
            one at a time. Those of one name (`doc_uri`, `file_path`, `source`, ids,
            `url`; see `oprag.positions`) that follow one another are the parts of
            one document, such as the pages that a reader gives. Without any such
            name the document's id is the name, unless the id is random.
        index: Over any store that `llamaindex_oprag.chunk_store` reads; over
            others with `chunks=`. FAISS takes new documents and cannot replace any.
            An index in memory is kept by `index.storage_context.persist()`.
        node_parser: A parser of oprag, whose positions are exact, or any other that
            makes one level of nodes, which are found in their document. None for
            `OffsetSentenceNodeParser()`.
        scope: Name of the source of the documents, such as `"handbook"`. A run removes
            and replaces only documents of its own scope, so that several sources live
            in one store. Names of a folder's files begin with it (`handbook/a.txt`).
            None: the path of a folder is its scope, and documents without a folder are
            all of one scope.
        remove_missing: Also delete the documents of this scope that are not among
            `documents`, or are empty now; none if another document failed, and more
            than half of them only with `"all"`.
        replace: `"document"`: all stored nodes of a document. `"same_settings"`: only
            its nodes of the same parser with the same settings, so that nodes of
            several sizes live side by side. `"all"`: also nodes of the same file that
            LlamaIndex or LangChain put into the store, and a document of that name from
            another scope.
        unsupported_metadata: `"error"`, or `"drop"`: leave out values that not every
            store keeps (lists, mappings, dates, numbers that are not finite, strings
            with a NUL character) and the names that LlamaIndex overwrites (`doc_id`,
            `document_id`, `ref_doc_id`). None is always left out. With `"error"` the
            document fails.
        batch_size: Nodes that are embedded and written at once, 256 by default.
        chunks: A reader of the store's chunks; None for the stores that are known.
        show_progress: Draw a bar with tqdm on standard error, if that is a terminal. A
            function is called instead, with the documents that are done, their number
            (None if it is not known) and the chunks written.

    Returns:
        A report with the names of the added, updated, removed and failed documents.

    Raises:
        MissingDocumentError: A document has no name that stays the same.
        InvalidOptionError: A document comes twice, an option or the store cannot be
            used, or `remove_missing` would delete more than half.
        PositionError: A given document is itself a chunk.
        UnreadableFileError: A folder inside the folder cannot be opened.
        IndexingError: No document could be indexed, or five in a row failed; its
            `report` lists the documents. Or the index is over FAISS, and a document
            changed; or another run was still writing after a minute.

    Warns:
        OpragWarning: Some documents failed or are kept, or the store also holds chunks
            of them that something else wrote; the report has the facts.
        PositionWarning: Nodes of another parser were not found in their
            document; they keep their order.
    """
    return index_target(make_target(index, node_parser, chunks), documents, **options)


async def aindex_documents(
    documents: Documents[Document],
    index: VectorStoreIndex,
    *,
    node_parser: NodeParser | None = None,
    chunks: ChunkStore | None = None,
    **options: Unpack[IndexingKeywords],
) -> IndexingReport:
    """Async version of `index_documents`, embedding by the model's async methods.

    Documents are read and parsed in a thread, and the store is written to in a
    thread unless it has an async client.
    """
    return await aindex_target(
        make_target(index, node_parser, chunks), documents, **options
    )


def make_target(
    index: VectorStoreIndex,
    node_parser: NodeParser | None,
    chunks: ChunkStore | None = None,
) -> IndexTarget:
    """Return the target of a run; the arguments are those of `index_documents`.

    Raises:
        InvalidOptionError: The index or the parser cannot be used.
    """
    if not isinstance(index, VectorStoreIndex):
        takes = (
            "a VectorStoreIndex, after the documents; over a vector store that is "
            "VectorStoreIndex.from_vector_store(vector_store)"
        )
        raise wrong_object("index", index, takes)
    vector_store = index.vector_store
    lacks = type(vector_store).delete_nodes is BasePydanticVectorStore.delete_nodes
    if lacks and not is_faiss(vector_store):
        message = (
            f"{type(vector_store).__name__} has no delete_nodes, so that documents in "
            "it cannot be replaced. Take another vector store."
        )
        raise InvalidOptionError(message, option="index", value=index)
    node_parser = OffsetSentenceNodeParser() if node_parser is None else node_parser
    if not isinstance(node_parser, NodeParser):
        takes = "oprag's node parsers or any NodeParser of one level"
        raise wrong_object("node_parser", node_parser, takes)
    store = chunk_store(index) if chunks is None else chunks
    if isinstance(store, DocstoreChunks):
        store = OwnNodes(index)
    return IndexTarget(_LlamaIndex(node_parser), store, IndexWriter(index, store))


class _LlamaIndex(Framework[Document]):
    """Reads, makes and parses LlamaIndex's documents.

    Args:
        node_parser: Any parser of one level; for parsers other than oprag's, the
            positions are found.
    """

    document_type = Document
    # LlamaIndex writes them into every store.
    reserved = frozenset(
        {"_node_content", "_node_type", "doc_id", "document_id", "ref_doc_id"}
    )

    def __init__(self, node_parser: NodeParser) -> None:
        self.splitter: NodeParser = node_parser
        self.exact = isinstance(node_parser, OffsetNodeParser)

    @property
    def is_estimated(self) -> bool:
        own = self.splitter if isinstance(self.splitter, OffsetNodeParser) else None
        return own is not None and is_fallback(own.tokenizer)

    def read_source(self, document: Document) -> SourceText:
        random = _is_random(document.node_id)
        return SourceText(
            text_of(document), document.metadata, None if random else document.node_id
        )

    def replace_text(self, document: Document, text: str) -> Document:
        copy = document.model_copy()
        copy.set_content(text)  # gives the copy its own text
        return copy

    def make(
        self, text: str, own_id: str, metadata: dict[str, Any], like: Document | None
    ) -> Document:
        like = Document(text=text, id_=own_id) if like is None else like
        changes: dict[str, Any] = {
            "id_": own_id if _is_random(like.node_id) else like.node_id,
            "metadata": metadata,
            "relationships": {},
            # Parsers would count the metadata that they show.
            **hidden_keys(like, metadata),
        }
        return like.model_copy(update=changes)

    def split(self, documents: Sequence[Document]) -> list[WantedChunk]:
        nodes = self.splitter.get_nodes_from_documents(documents)
        for node in nodes:
            self._refuse_levels(node)
        return [WantedChunk("", text_of(node), node.metadata, node) for node in nodes]

    def finish_chunks(self, chunks: list[WantedChunk]) -> list[WantedChunk]:
        """Give the nodes their ids, links and hidden metadata keys."""
        ids = [None, *(chunk.id for chunk in chunks), None]
        if not self.splitter.include_prev_next_rel:
            ids = [None] * len(ids)
        return [
            chunk._replace(source=_node(chunk, *around))
            for chunk, *around in zip(chunks, ids, ids[2:], strict=False)
        ]

    def _refuse_levels(self, node: BaseNode) -> None:
        related = node.relationships
        if isinstance(node, TextNode) and not any(kind in related for kind in _LEVELS):
            return
        name = type(self.splitter).__name__
        message = (
            f"{name} makes nodes of several levels, or nodes that are no texts; here "
            "every node is one piece of its document. Take another parser, or build "
            "such an index with PositionAnnotator."
        )
        raise InvalidOptionError(message, option="node_parser", value=name)


def _node(chunk: WantedChunk, previous: str | None, following: str | None) -> BaseNode:
    """Return a node for the store; LlamaIndex would add its neighbours' metadata."""
    node: BaseNode = chunk.source
    source = None if node.source_node is None else node.source_node.node_id
    related = [
        (NodeRelationship.PREVIOUS, previous, ObjectType.TEXT),
        (NodeRelationship.NEXT, following, ObjectType.TEXT),
        (NodeRelationship.SOURCE, source, ObjectType.DOCUMENT),
    ]
    metadata = dict(chunk.metadata)
    changes: dict[str, Any] = {
        "id_": chunk.id,
        "embedding": None,
        "metadata": metadata,
        "relationships": {
            kind: RelatedNodeInfo(node_id=other, node_type=what)
            for kind, other, what in related
            if other is not None
        },
        "start_char_idx": metadata.get(CHAR_START),
        "end_char_idx": metadata.get(CHAR_END),
        **hidden_keys(node, metadata),
    }
    return node.model_copy(update=changes)


def _is_random(document_id: str) -> bool:
    try:
        known = uuid.UUID(document_id)
    except ValueError:
        return False
    return known.version == _RANDOM and str(known) == document_id
