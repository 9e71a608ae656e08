"""No public async method blocks its event loop; those not in every run are in `stores`.

The components and the ways of asking are those of the contract suites. The texts are of
a million characters, and were never counted before.
"""

import asyncio
import importlib
import inspect
import time
from typing import Any

import pytest

from tests.kit.heartbeat import LIMIT, longest_block, shortest_block
from tests.langchain.components import COMPONENTS as LANGCHAIN
from tests.llamaindex.components import COMPONENTS as LLAMAINDEX

TABLES = {"langchain_oprag": LANGCHAIN, "llamaindex_oprag": LLAMAINDEX}
CASES = {
    f"{package.partition('_')[0]} {name}.{way}": (component, way)
    for package, table in TABLES.items()
    for name, component in table.items()
    for way in component.ways
    if way.startswith("a") and not way.startswith("add_")
}
IN_EVERY_RUN = (
    "langchain OrderPreservingVectorStore, similarity_search.asimilarity_search",
    "langchain EvidenceMiddleware.awrap_model_call",
    "langchain OrderPreservingRetriever.ainvoke",
    "langchain OrderPreservingRetriever, words of a store.ainvoke",
    "langchain LongUnitRetriever.ainvoke",
    "langchain OrderPreservingCompressor.ainvoke",
    "langchain SelfRouteChain, in a window.ainvoke",
    "langchain SelfRouteChain, cut in order.ainvoke",
    "langchain LongReader.ainvoke",
    "llamaindex OrderPreservingRetrieverTool.acall",
    "llamaindex OrderPreservingRetriever.aretrieve",
    "llamaindex OrderPreservingRetriever, words of an index.aretrieve",
    "llamaindex OrderPreservingPostprocessor.apostprocess_nodes",
    "llamaindex SelfRouteQueryEngine, in a window.aquery",
    "llamaindex SelfRouteQueryEngine, cut in order.aquery",
    "llamaindex LongReaderSynthesizer.asynthesize",
    "llamaindex OffsetSentenceNodeParser.acall",
    "llamaindex PositionAnnotator.acall",
)
"""Those that `make test` awaits; all others take another minute."""
NOT_OURS = {
    "acited",  # works in a thread; its conversation is a running agent's
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
"""Which do nothing, or refuse what they are asked; LangChain gives up `astream_log`."""


@pytest.mark.once
@pytest.mark.parametrize("name", IN_EVERY_RUN)
async def test_no_async_method_blocks_its_event_loop(name):
    assert await shortest_block(*CASES[name]) < LIMIT


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
    return {name for name in found if not name.endswith(".astream_log")}


def is_async(value: Any) -> bool:
    while hasattr(value, "__wrapped__"):
        value = value.__wrapped__
    return inspect.iscoroutinefunction(value) or inspect.isasyncgenfunction(value)


@pytest.mark.parametrize("package", TABLES)
def test_every_public_async_method_is_in_the_table(package):
    listed = {
        f"{name.partition(',')[0]}.{way.partition(',')[0]}"
        for name, component in TABLES[package].items()
        for way in component.ways
    }

    found = async_names(importlib.import_module(package))

    functions = {name for each in listed for name in [each.partition(".")[2]]}
    assert {name for name in found if "." in name} - listed - NOT_OURS == set()
    assert {name for name in found if "." not in name} - NOT_OURS <= functions


@pytest.mark.once
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
