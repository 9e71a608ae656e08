"""Why results were chosen: the same in the core and in what both frameworks trace."""

from __future__ import annotations

from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers.context import collect_runs
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.schema import NodeWithScore, TextNode

import langchain_oprag
import llamaindex_oprag
from llamaindex_oprag.events import OrderedContextEvent
from oprag import order_context
from tests.llamaindex.components import Retrieved

PLACES = [{"source": "a", "start_index": n} for n in (30, 0, 10, 20, 20)]
TEXTS = ["aaaa", "bbbb", "cccc", "dddd", "dddd"]
BUDGET = {"token_budget": 10, "token_counter": len}
WHY = {
    "kept": [0, 1],
    "dropped": {"top_n": [3], "token_budget": [2]},
    "token_budget": 10,
    "tokens": 10,
    "left": 0,
    "duplicates": 1,
}


class Events(BaseEventHandler):
    """Keeps what is sent."""

    sent: list[Any]

    def handle(self, event: Any, **kwargs: Any) -> None:
        if isinstance(event, OrderedContextEvent):
            self.sent.append(event.why)


def test_the_core_says_what_was_kept_and_dropped_and_why():
    assert order_context(TEXTS, PLACES, top_n=3, **BUDGET).why == WHY
    seen = [["a", None, 0, 4]]
    assert order_context(TEXTS, PLACES, seen=seen).why == {
        "kept": [0, 2, 3],
        "dropped": {"seen": [1]},
        "duplicates": 1,
    }


async def test_langchain_says_it_in_the_metadata_of_the_run():
    pairs = zip(TEXTS, PLACES, strict=True)
    found = [Document(text, metadata=place) for text, place in pairs]
    retriever = langchain_oprag.OrderPreservingRetriever(
        base_retriever=RunnableLambda(lambda _: found), k=3, **BUDGET
    )

    with collect_runs() as runs:
        retriever.invoke("?")
        await retriever.ainvoke("?")

    assert [run.extra["metadata"]["oprag_why"] for run in runs.traced_runs] == [WHY] * 2


async def test_llamaindex_says_it_in_an_event():
    pairs = zip(TEXTS, PLACES, strict=True)
    hidden = {"excluded_llm_metadata_keys": ["source", "start_index"]}
    found = [
        NodeWithScore(node=TextNode(text=text, metadata=place, **hidden))
        for text, place in pairs
    ]
    own = llamaindex_oprag.OrderPreservingRetriever(
        Retrieved(found), similarity_top_k=3, **BUDGET
    )
    after = llamaindex_oprag.OrderPreservingPostprocessor(top_n=3, **BUDGET)
    events, dispatcher = Events(sent=[]), get_dispatcher()
    dispatcher.add_event_handler(events)
    try:
        own.retrieve("?")
        await own.aretrieve("?")
        after.postprocess_nodes(found)
    finally:
        dispatcher.event_handlers.remove(events)

    assert events.sent == [WHY] * 3
