"""Options for one call: the same as of a component that is made with them."""

import asyncio
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from langchain_oprag import OrderPreservingCompressor, OrderPreservingVectorStore
from llamaindex_oprag import OrderPreservingPostprocessor
from oprag.errors import InvalidOptionError
from tests.langchain.corpus import QUERY, RecordingStore, book
from tests.parity.components import (
    documents,
    langchain_retriever,
    llamaindex_retriever,
    nodes,
)

TEXTS = [f"{n:02}. " for n in (7, 2, 8, 1, 9, 0)]
PLACES = [{"source": "a", "start_index": 4 * int(text[:2])} for text in TEXTS]
COUNTED = {"token_counter": len, "separator": ""}


def texts(found: Any) -> list[str]:
    of_langchain = [each for each in found if isinstance(each, Document)]
    return [each.page_content for each in of_langchain] or [n.text for n in found]


def asked(component: Any, call: dict[str, Any], *, awaited: bool) -> list[str]:
    """The texts that a component gives for one call."""
    if isinstance(component, OrderPreservingPostprocessor):
        method, given = "postprocess_nodes", nodes(TEXTS, PLACES)
    elif isinstance(component, OrderPreservingCompressor):
        method, given = "invoke", documents(TEXTS, PLACES)
    else:
        langchain = isinstance(component, BaseRetriever)
        method, given = "invoke" if langchain else "retrieve", "?"
    if awaited:
        return texts(asyncio.run(getattr(component, f"a{method}")(given, **call)))
    return texts(getattr(component, method)(given, **call))


MADE = {
    "langchain retriever": lambda **o: langchain_retriever(TEXTS, PLACES, **o),
    "compressor": OrderPreservingCompressor,
    "llamaindex retriever": lambda **o: llamaindex_retriever(TEXTS, PLACES, **o),
    "postprocessor": OrderPreservingPostprocessor,
}


@pytest.mark.parametrize("awaited", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
@pytest.mark.parametrize(
    "call", [{"token_budget": 12}, {"merge": True}, {"token_budget": 16, "merge": True}]
)
def test_options_of_a_call_hold_for_it_alone(make, call, awaited):
    component = make(**COUNTED)
    plain = asked(component, {}, awaited=awaited)
    made_with_them = asked(make(**COUNTED, **call), {}, awaited=awaited)

    assert asked(component, call, awaited=awaited) == made_with_them != plain
    assert asked(component, {}, awaited=awaited) == plain


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_other_options_are_not_for_one_call(make):
    for call, said in (
        ({"order": "rank"}, "Set it on OrderPreserving"),
        ({"token_budget": "12"}, "whole number"),
        ({"max_tokens": 12}, "Did you mean 'token_budget'"),
        ({"top_k": 2}, "Did you mean '(k|top_n|similarity_top_k)'"),
    ):
        with pytest.raises(InvalidOptionError, match=said):
            asked(make(), call, awaited=False)


async def test_a_store_in_order_takes_them_with_each_search():
    store = OrderPreservingVectorStore(RecordingStore(book()), token_counter=len)
    whole = store.similarity_search(QUERY, k=6)

    fewer = store.similarity_search(QUERY, k=6, token_budget=60)
    assert 0 < len(fewer) < len(whole)
    assert await store.asimilarity_search(QUERY, k=6, token_budget=60) == fewer
    search = {"k": 6, "token_budget": 60}
    assert store.as_retriever(search_kwargs=search).invoke(QUERY) == fewer
    (merged,) = store.similarity_search(QUERY, k=12, merge=True)
    assert merged.page_content == "".join(each.page_content for each in book())
