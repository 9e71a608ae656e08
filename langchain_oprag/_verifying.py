"""What `verify()` looks at: the stores that a retriever searches."""

from __future__ import annotations

from typing import Any

from langchain_core.vectorstores import VectorStoreRetriever

from langchain_oprag._wrapping import search_filter, searched_with, unwrapped
from langchain_oprag.stores import chunk_store
from oprag.diagnosing import unseen_store
from oprag.documents import ChunkStore
from oprag.errors import InvalidOptionError

_INSTEAD = (
    "Give the vector store itself or its own retriever, or examine what is returned: "
    "langchain_oprag.diagnose(retriever.invoke(question))."
)


def searched_stores(component: str, retriever: Any) -> list[ChunkStore]:
    """Return the stores that a retriever searches, read as its filter admits.

    Args:
        component: Class name of what is verified.
        retriever: What it asks. Of a store that cannot be read through the filter all
            chunks are looked at.
    """
    retriever, _, bound = unwrapped(retriever, {})
    if inner := searched_with(retriever):
        return [store for each in inner for store in searched_stores(component, each)]
    if not isinstance(retriever, VectorStoreRetriever):
        raise unseen_store(component, retriever, _INSTEAD)
    try:
        store = chunk_store(retriever.vectorstore)
    except InvalidOptionError as error:
        raise unseen_store(component, retriever.vectorstore, _INSTEAD) from error
    where = search_filter(retriever, {}, bound).where
    readable = where is not None and store.takes_filter(where)
    return [store.within(where) if readable else store]
