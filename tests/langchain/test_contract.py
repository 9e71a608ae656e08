"""The contract of every component: one result in every way, by every copy, traced."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections import Counter
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler

from tests.kit.material import Material
from tests.langchain.compat import IS_1X
from tests.langchain.components import COMPONENTS, RUNNABLES

pytestmark = pytest.mark.filterwarnings("ignore::oprag.errors.UnfilledBudgetWarning")
LENGTH = 4_000
COPIES = {
    "pickle": lambda made: pickle.loads(pickle.dumps(made)),  # noqa: S301 -- ours
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "model_copy": lambda made: made.model_copy(),
}
UNCOPIED = {"index_documents", "create_retrieval_tool"}
"""A module, and a tool of LangChain's around a function of ours."""


def timeless(result: Any) -> Any:
    """A result without the seconds that it took."""
    if isinstance(result, dict):
        return {k: timeless(v) for k, v in result.items() if k != "seconds"}
    if isinstance(result, list | tuple):
        return [timeless(each) for each in result]
    return result


async def asked(way: Any, component: Any, material: Material) -> Any:
    result = way(component, material)
    return timeless(await result if inspect.isawaitable(result) else result)


def first_way(name: str) -> Any:
    return next(iter(COMPONENTS[name].ways.values()))


def material_for(name: str) -> Material:
    if name == "EvidenceMiddleware" and not IS_1X:
        pytest.skip("agents have no middleware in LangChain 0.3")
    return Material(LENGTH)


WAYS = [(name, way) for name, each in COMPONENTS.items() for way in [*each.ways][1:]]


@pytest.mark.parametrize(("name", "way"), WAYS)
async def test_every_way_of_asking_gives_the_same(name, way):
    material, component = material_for(name), COMPONENTS[name]

    expected = await asked(first_way(name), component.make(material), material)
    found = await asked(component.ways[way], component.make(material), material)

    assert found == expected
    assert expected or expected is None


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("name", [name for name in COMPONENTS if name not in UNCOPIED])
async def test_a_copy_gives_the_same(name, how):
    material = material_for(name)
    made = COMPONENTS[name].make(material)
    if how == "model_copy" and not hasattr(made, how):
        return

    twin = COPIES[how](made)

    expected = await asked(first_way(name), made, material)
    assert await asked(first_way(name), twin, material) == expected


class Traced(BaseCallbackHandler):
    """Remembers which runs begin, below which others, and end."""

    run_inline = True

    def __init__(self) -> None:
        self.begun: list[dict[str, Any]] = []
        self.ended: Counter[Any] = Counter()

    def on_chain_start(self, *_: Any, run_id, parent_run_id=None, **about: Any) -> None:
        self.begun.append({"id": run_id, "parent": parent_run_id, **about})

    def on_chain_end(self, *_: Any, run_id, **__: Any) -> None:
        self.ended[run_id] += 1

    on_retriever_start = on_chat_model_start = on_chain_start
    on_retriever_end = on_llm_end = on_chain_end


TRACED = [(name, way) for name in RUNNABLES for way in RUNNABLES[name].ways]


@pytest.mark.parametrize(("name", "way"), TRACED)
async def test_every_way_is_one_run_with_its_parts_below_it(name, way):
    traced, material = Traced(), Material(LENGTH)
    component = (
        RUNNABLES[name]
        .make(material)
        .with_config(callbacks=[traced], tags=["call"], metadata={"user": "u"})
    )

    await asked(RUNNABLES[name].ways[way], component, material)

    roots = [run for run in traced.begun if run["parent"] is None]
    assert {run["name"] for run in roots} == {name}
    assert len(roots) == (2 if way in {"batch", "abatch"} else 1)
    known = {run["id"] for run in traced.begun}
    assert {run["parent"] for run in traced.begun} - known == {None}
    assert traced.ended == Counter(known)
    for run in traced.begun:
        assert "call" in run["tags"]
        assert run["metadata"]["user"] == "u"
    assert len(traced.begun) > len(roots)
