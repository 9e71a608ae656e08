"""LangChain's `Document` to the core's `Hit`, put in order, and back to `Document`.

The only place that builds documents for retrieved chunks. Each returned document is a
new object that names its place; no given document is ever written to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from numbers import Real
from operator import attrgetter
from typing import Any

from langchain_core.documents import Document

from langchain_oprag._options import CheckedOptions, option_field
from langchain_oprag.documents import SourceLike
from oprag.chunk import Hit, Passage
from oprag.context import (
    DEFAULTS,
    NO_NEIGHBOURS,
    CandidateTail,
    ContextOptions,
    OnProblem,
    Order,
    OrderedContext,
    Selection,
    arrange,
    result_id,
    result_metadata,
)
from oprag.documents import check_entries
from oprag.metadata import SCORE_KEYS
from oprag.ordering import SortDocuments
from oprag.positions import DocumentKey, PositionKeys
from oprag.stores import NODE_CONTENT, SearchFilter, StoredChunk, read_node
from oprag.tokens import TokenizerSpec

_ID = attrgetter("id")
_SHARED = tuple(name for name in DEFAULTS if name != "top_n")


def make_hits(documents: Iterable[Document], option: str = "documents") -> list[Hit]:
    """Make hits of documents, best first.

    For a chunk that LlamaIndex put into the store, source and offsets are those of
    the node that it keeps there as JSON.

    Args:
        documents: Any.
        option: The name of the documents in the error.

    Raises:
        InvalidOptionError: `documents` is no list of documents.
    """
    try:
        return [_make_hit(document) for document in documents]
    except (AttributeError, TypeError):
        check_entries(option, documents, Document)
        raise


def _make_hit(document: Document) -> Hit:
    metadata = document.metadata
    hit = Hit(
        document.page_content,
        metadata,
        source=document,
        subject=document,
        score=_score(metadata),
        id=read_stored_id(document) or None,
    )
    node = read_node(metadata) if NODE_CONTENT in metadata else None
    if node is None:
        return hit
    return hit._replace(document=node.document, offsets=node.offsets, frame=node.frame)


def arrange_documents(
    hits: Sequence[Hit],
    options: ContextOptions,
    neighbours: CandidateTail = NO_NEIGHBOURS,
) -> OrderedContext[Document]:
    """Select, order and join retrieved documents.

    Args:
        hits: From `make_hits`, best first.
        options: See `ContextOptions`.
        neighbours: See `oprag.context.arrange`.

    Returns:
        One new document per passage, with its place in the metadata. It is a copy if
        the passage is one whole document.
    """
    arranged = arrange(hits, options, neighbours=neighbours)
    return arranged.map(partial(make_document, options=options))


def restore_document(chunk: StoredChunk) -> Document:
    """Return a new document for a stored chunk."""
    return Document(chunk.text, id=chunk.id or None, metadata={**chunk.metadata})


def make_document(passage: Passage, options: ContextOptions | None = None) -> Document:
    """Return the document for a passage, whatever the passage was made of."""
    chunks = passage.chunks
    objects = [c.source for c in chunks if isinstance(c.source, Document)]
    if len(objects) < len(chunks):
        whole = len(chunks) == 1
        metadata = result_metadata(passage, options, whole=whole)
        return Document(passage.text, metadata=metadata)
    whole = len(objects) == 1 and passage.text == objects[0].page_content
    metadata = result_metadata(passage, options, whole=whole)
    if whole:
        # Of the same class, and in less time than a constructor takes.
        return objects[0].model_copy(update={"metadata": metadata})
    # All other fields of a user's class would be those of the first document.
    id_ = result_id(passage, _ID, attrgetter("page_content"))
    return Document(passage.text, id=id_, metadata=metadata)


def read_stored_id(document: Any) -> str:
    """Return the id by which a store knows a document; empty if it has none."""
    if not isinstance(document, Document):
        return ""
    # Qdrant's is in the metadata.
    return str(document.id or document.metadata.get("_id", ""))


def _score(metadata: Mapping[str, Any]) -> float | None:
    """Return the score as the retriever or reranker reported it."""
    for key in SCORE_KEYS:
        value = metadata.get(key)
        # Most have none, and asking for `Real` takes long.
        if value is None or type(value) is bool:
            continue
        if isinstance(value, Real):
            return float(value)
    return None


class SharedOptions(CheckedOptions):
    """The options of both components, without the number of documents."""

    token_budget: int | None = option_field("token_budget")
    selection: Selection = option_field("selection")
    order: Order = option_field("order")
    sort_documents: SortDocuments = option_field("sort_documents")
    merge: bool | None = option_field("merge")
    citations: bool = option_field("citations")
    on_problem: OnProblem = option_field("on_problem")
    position_keys: PositionKeys | None = option_field("position_keys")
    document_key: DocumentKey | None = option_field("document_key")
    token_counter: TokenizerSpec = option_field("token_counter")
    separator: str = option_field("separator")
    documents: SourceLike | None = option_field("documents")

    def _options_for(
        self, top_n: int | None, search: SearchFilter | None = None
    ) -> ContextOptions:
        """Return the options as the core takes them.

        Args:
            top_n: How many documents to keep at most; None for all.
            search: The filter of the search; None for `_known_filter`.
        """
        options = {name: getattr(self, name) for name in _SHARED}
        if self.documents is not None:
            options["documents"] = self._full_texts().within(
                search or self._known_filter
            )
        return ContextOptions(top_n=top_n, **options)
