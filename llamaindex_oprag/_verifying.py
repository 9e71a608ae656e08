"""What `verify()` looks at: the stores that a retriever searches."""

from __future__ import annotations

from typing import Any

from llama_index.core.indices.vector_store.retrievers import VectorIndexRetriever

from llamaindex_oprag._wrapping import search_filter, searched_with
from llamaindex_oprag.stores import chunk_store
from oprag.diagnosing import unseen_store
from oprag.documents import ChunkStore
from oprag.errors import InvalidOptionError

_INSTEAD = (
    "Give index.as_retriever(), or examine what is returned: "
    "llamaindex_oprag.diagnose(retriever.retrieve(question))."
)


def searched_stores(component: str, retriever: Any) -> list[ChunkStore]:
    """Return the stores that a retriever searches, read as its filter admits.

    Args:
        component: Class name of what is verified.
        retriever: What it asks. Of a store that cannot be read through the filter all
            chunks are looked at.
    """
    if inner := searched_with(retriever):
        return [store for each in inner for store in searched_stores(component, each)]
    if not isinstance(retriever, VectorIndexRetriever):
        raise unseen_store(component, retriever, _INSTEAD)
    index = retriever._index  # noqa: SLF001 -- nothing public tells
    try:
        store = chunk_store(index)
    except InvalidOptionError as error:
        raise unseen_store(component, index.vector_store, _INSTEAD) from error
    where = search_filter(retriever).where
    readable = where is not None and store.takes_filter(where)
    return [store.within(where) if readable else store]
