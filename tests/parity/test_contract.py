"""The contract of every component: one result in every way, by every copy, traced."""

import asyncio
import copy
import inspect
import pickle
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableLambda
from llama_index.core import Document as Source
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.span_handlers import SimpleSpanHandler
from llama_index.core.llms import MockLLM
from llama_index.core.workflow import Context

import langchain_oprag
from llamaindex_oprag import OrderPreservingRetrieverTool
from oprag.errors import MissingPositionError
from tests.kit.material import Component, Material
from tests.langchain.compat import needs_1x
from tests.langchain.components import COMPONENTS as OF_LANGCHAIN
from tests.langchain.components import RUNNABLES
from tests.langchain.corpus import RecordingStore, book
from tests.llamaindex.components import COMPONENTS as OF_LLAMAINDEX

pytestmark = pytest.mark.filterwarnings("ignore::oprag.errors.UnfilledBudgetWarning")
LENGTH = 4_000
COPIES = {
    "pickle": lambda made: pickle.loads(pickle.dumps(made)),  # noqa: S301 -- ours
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "model_copy": lambda made: made.model_copy(),
    "from_dict": lambda made: type(made).from_dict(made.to_dict()),
}
UNCOPIED = {"index_documents", "create_retrieval_tool"}
"""A module, and a tool of LangChain's around a function of ours."""
IN_FULL = ("Offset", "OrderPreservingPostprocessor", "PositionAnnotator")
"""Of LlamaIndex what is made of options alone; engines hold others."""
UNTRACED = ("Offset", "index_documents", "PositionAnnotator")


def timeless(result: Any) -> Any:
    """A result without the seconds that it took."""
    if isinstance(result, dict):
        return {k: timeless(v) for k, v in result.items() if k != "seconds"}
    if isinstance(result, list | tuple):
        return [timeless(each) for each in result]
    return result


async def asked(component: Component, material: Material, made: Any, way="") -> Any:
    """Its result in one way; by default in the first."""
    result = component.ways[way or next(iter(component.ways))](made, material)
    return timeless(await result if inspect.isawaitable(result) else result)


def case(name: str, *given: Any) -> Any:
    marks = [needs_1x] if name == "EvidenceMiddleware" else []
    return pytest.param(*given, id="-".join([name, *map(str, given[1:])]), marks=marks)


def each_way() -> Iterator[Any]:
    for components in (OF_LANGCHAIN, OF_LLAMAINDEX):
        for name, component in components.items():
            for way in [*component.ways][1:]:
                yield case(name, component, way)


def each_copy() -> Iterator[Any]:
    for name, component in OF_LANGCHAIN.items():
        for how in [*COPIES][:-1] if name not in UNCOPIED else ():
            yield case(name, component, how)
    for name, component in OF_LLAMAINDEX.items():
        hows = COPIES.keys() - {"model_copy"} if name.startswith(IN_FULL) else ()
        if name == "OrderPreservingRetriever":
            hows = ("copy", "deepcopy", "pickle")
        for how in sorted(hows):
            yield case(name, component, how)


@pytest.mark.parametrize(("component", "way"), [*each_way()])
async def test_every_way_of_asking_gives_the_same(component, way):
    material = Material(LENGTH)

    expected = await asked(component, material, component.make(material))
    found = await asked(component, material, component.make(material), way)

    assert found == expected
    assert expected or expected is None


@pytest.mark.parametrize(("component", "how"), [*each_copy()])
async def test_a_copy_gives_the_same(component, how):
    material = Material(LENGTH)
    made = component.make(material)
    if how == "model_copy" and not hasattr(made, how):
        return

    twin = COPIES[how](made)

    if how == "from_dict":  # LlamaIndex finds the class by its name
        assert made.class_name() == type(made).__name__
    expected = await asked(component, material, made)
    assert await asked(component, material, twin) == expected


class Traced(BaseCallbackHandler):
    """Remembers which runs begin, below which others, and end."""

    run_inline = True

    def __init__(self) -> None:
        self.begun: list[dict[str, Any]] = []
        self.ended: Counter[Any] = Counter()
        self.failed: list[Any] = []

    def on_chain_start(self, *_: Any, run_id, parent_run_id=None, **about: Any) -> None:
        self.begun.append({"id": run_id, "parent": parent_run_id, **about})

    def on_chain_end(self, *_: Any, run_id, **__: Any) -> None:
        self.ended[run_id] += 1

    def on_retriever_error(self, error: Exception, *, run_id, **_: Any) -> None:
        self.failed.append((run_id, type(error).__name__))

    on_retriever_start = on_chat_model_start = on_tool_start = on_chain_start
    on_retriever_end = on_llm_end = on_chain_end


@pytest.mark.parametrize(
    ("name", "way"), [(name, way) for name in RUNNABLES for way in RUNNABLES[name].ways]
)
async def test_every_way_is_one_run_of_langchain_with_its_parts_below_it(name, way):
    traced, material, component = Traced(), Material(LENGTH), RUNNABLES[name]
    config = {"callbacks": [traced], "tags": ["call"], "metadata": {"user": "u"}}
    made = component.make(material).with_config(**config)

    await asked(component, material, made, way)

    roots = [run for run in traced.begun if run["parent"] is None]
    assert {run["name"] for run in roots} == {name}
    assert len(roots) == (2 if way in {"batch", "abatch"} else 1)
    known = {run["id"] for run in traced.begun}
    assert {run["parent"] for run in traced.begun} - known == {None}
    assert traced.ended == Counter(known)
    for run in traced.begun:
        assert "call" in run["tags"]
        assert run["metadata"]["user"] == "u"
    asks = name != "OrderPreservingCompressor"  # which is given what was found
    assert (len(traced.begun) > len(roots)) is asks


def test_an_error_of_ours_ends_our_run_alone():
    traced, store = Traced(), RecordingStore(book())
    retriever = langchain_oprag.OrderPreservingRetriever(vectorstore=store, k=2)
    retriever.position_keys = "nowhere"

    with pytest.raises(MissingPositionError, match="nowhere"):
        retriever.invoke("?", {"callbacks": [traced]})

    outer, inner = traced.begun
    assert (traced.ended, traced.failed) == (
        Counter([inner["id"]]),
        [(outer["id"], "MissingPositionError")],
    )
    named = {k: v for k, v in outer["metadata"].items() if k.startswith("ls_")}
    assert named == {
        "ls_retriever_name": "orderpreserving",
        "ls_vector_store_provider": "RecordingStore",
        "ls_embedding_provider": "DeterministicFakeEmbedding",
    }


async def test_the_run_of_a_compressor_in_a_chain_has_its_name():
    compressor = langchain_oprag.OrderPreservingCompressor()
    step = RunnableLambda(lambda found: found)
    for chain in (step | compressor, compressor | step):
        events = chain.astream_events(book(2), version="v2")
        names = {event["name"] async for event in events}

        assert "OrderPreservingCompressor" in names


@pytest.mark.parametrize("awaited", [False, True])
async def test_what_a_tool_of_langchain_searches_is_a_run_within_its_own(awaited):
    traced = Traced()
    made = langchain_oprag.create_retrieval_tool(RecordingStore(book()), k=2)
    asked = {"query": "?"}, {"callbacks": [traced]}
    await made.ainvoke(*asked) if awaited else made.invoke(*asked)

    tool, ours, inner = traced.begun
    assert (ours["parent"], inner["parent"]) == (tool["id"], ours["id"])


@pytest.fixture
def spans():
    root, handler = get_dispatcher(), SimpleSpanHandler()
    before = list(root.span_handlers)
    root.add_span_handler(handler)
    yield handler.completed_spans
    root.span_handlers = before


@pytest.mark.parametrize(
    ("name", "way"),
    [
        (name, way)
        for name, component in OF_LLAMAINDEX.items()
        for way in component.ways
        if not name.startswith(UNTRACED) and "," not in name
    ],
)
async def test_every_way_is_a_span_of_llamaindex(name, way, spans):
    material, component = Material(LENGTH), OF_LLAMAINDEX[name]

    await asked(component, material, component.make(material), way)

    assert name in {span.id_.split(".")[0] for span in spans}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("show", ["all", "unseen"])
async def test_the_search_of_a_tool_of_llamaindex_is_its_child(show, spans):
    index = VectorStoreIndex.from_documents(
        [Source(text="To begin.", id_="a")], embed_model=MockEmbedding(embed_dim=8)
    )
    tool = OrderPreservingRetrieverTool.from_defaults(index, show=show)
    given = {"input": "begin"}
    if show == "unseen":
        given["ctx"] = Context(FunctionAgent(tools=[tool], llm=MockLLM()))
    spans.clear()
    await tool.acall(**given)
    await asyncio.to_thread(tool.call, **given)

    begun = {span.id_: span for span in spans}
    roots = [span.id_ for span in begun.values() if span.parent_id is None]
    assert sorted(each.split("-")[0] for each in roots) == [
        "OrderPreservingRetrieverTool.acall",
        "OrderPreservingRetrieverTool.call",
    ]
    assert {span.parent_id for span in begun.values()} <= {None, *begun}
    searches = [each for each in begun if ".aretrieve" in each or ".retrieve" in each]
    assert len(searches) == 4
