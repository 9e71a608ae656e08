"""No public async method blocks its event loop: one of each kind; all in `stores`."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import time
from typing import Any

import pytest

from tests import heartbeats
from tests.heartbeats import IN_EVERY_RUN, LANGCHAIN, LIMIT, LLAMAINDEX, shortest_block
from tests.support.heartbeat import longest_block

NOT_OURS = {
    "LongReaderSynthesizer.aget_response_from_messages",  # LlamaIndex has it refuse
    "OrderPreservingVectorStore.afrom_documents",  # refuses
    "OrderPreservingVectorStore.afrom_texts",
    # as the search with scores; LangChain's store in memory has none
    "OrderPreservingVectorStore.asimilarity_search_with_relevance_scores",
    *(
        f"EvidenceMiddleware.{hook}"
        for hook in (
            *("abefore_agent", "abefore_model", "aafter_model", "aafter_agent"),
            "awrap_tool_call",
        )
    ),
}
"""Which do nothing, or refuse what they are asked."""


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_EVERY_RUN)
async def test_no_async_method_blocks_its_event_loop(name):
    assert await shortest_block(name) < LIMIT


def async_names(package: Any) -> set[str]:
    """Every async function of a package's door, and method of the classes there."""
    found = set()
    for name in package.__all__:
        value = getattr(package, name)
        if inspect.isclass(value):
            found |= {
                f"{name}.{method}"
                for method in dir(value)
                if not method.startswith("_") and is_async(getattr(value, method, None))
            }
        elif is_async(value):
            found.add(name)
    return found


def is_async(value: Any) -> bool:
    while hasattr(value, "__wrapped__"):
        value = value.__wrapped__
    return inspect.iscoroutinefunction(value) or inspect.isasyncgenfunction(value)


@pytest.mark.parametrize(
    ("package", "table"),
    [("langchain_oprag", LANGCHAIN), ("llamaindex_oprag", LLAMAINDEX)],
)
def test_every_public_async_method_is_in_the_table(package, table):
    listed = {name.partition(",")[0] for name in table} | NOT_OURS

    assert async_names(importlib.import_module(package)) - listed == set()


def test_one_method_of_each_class_is_in_every_run():
    of = {name.partition(".")[0] for name in heartbeats.CASES if "." in name}

    assert {name.partition(".")[0] for name in IN_EVERY_RUN if "." in name} >= of - {
        "langchain OffsetTokenSplitter",  # cut by LangChain in a thread
        "langchain OffsetSentenceSplitter",
        "llamaindex OffsetTokenNodeParser",  # as the other one
        "llamaindex LongUnitRetriever",
    }


@pytest.mark.slow
async def test_a_block_is_seen():
    async def computes() -> None:
        until = time.process_time() + 0.08
        while time.process_time() < until:
            pass

    async def holds_the_interpreter() -> None:
        await asyncio.to_thread(sorted, range(3_000_000), key=None)
        await asyncio.to_thread(lambda: "a" * 10**7 + "b" in "a" * 10**8)

    async def waits() -> None:
        await asyncio.sleep(0.1)

    assert await longest_block(computes) > 0.05
    assert await longest_block(holds_the_interpreter) > 0.02
    assert await longest_block(waits) < 0.05
