"""Why results were chosen: the same in the core and in what both frameworks trace."""

from typing import Any

from langchain_core.tracers.context import collect_runs
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler

import llamaindex_oprag
from llamaindex_oprag.events import OrderedContextEvent
from oprag import order_context
from tests.parity.components import langchain_retriever, llamaindex_retriever, nodes

PLACES = [{"source": "a", "start_index": n} for n in (30, 0, 10, 20, 20)]
TEXTS = ["aaaa", "bbbb", "cccc", "dddd", "dddd"]
BUDGET = {"token_budget": 10, "token_counter": len}
WHY = {
    "kept": [0, 1],
    "dropped": {"duplicate": [4], "top_n": [3], "token_budget": [2]},
    "token_budget": 10,
    "tokens": 10,
    "left": 0,
    "token_counter": "len",
    "token_counter_is_fallback": False,
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
        "dropped": {"duplicate": [4], "seen": [1]},
    }


async def test_both_frameworks_trace_it():
    retriever = langchain_retriever(TEXTS, PLACES, k=3, **BUDGET)
    with collect_runs() as runs:
        retriever.invoke("?")
        await retriever.ainvoke("?")
    assert [run.extra["metadata"]["oprag_why"] for run in runs.traced_runs] == [WHY] * 2

    own = llamaindex_retriever(TEXTS, PLACES, similarity_top_k=3, **BUDGET)
    after = llamaindex_oprag.OrderPreservingPostprocessor(top_n=3, **BUDGET)
    events, dispatcher = Events(sent=[]), get_dispatcher()
    dispatcher.add_event_handler(events)
    try:
        own.retrieve("?")
        await own.aretrieve("?")
        after.postprocess_nodes(nodes(TEXTS, PLACES))
    finally:
        dispatcher.event_handlers.remove(events)
    assert events.sent == [WHY] * 3
