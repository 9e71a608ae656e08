"""The contract of every component: one result in every way, by every copy, traced."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import pytest
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.span_handlers import SimpleSpanHandler

from tests.kit.material import Material
from tests.llamaindex.components import COMPONENTS

pytestmark = pytest.mark.filterwarnings("ignore::oprag.errors.UnfilledBudgetWarning")
LENGTH = 4_000
COPIES = {
    "pickle": lambda made: pickle.loads(pickle.dumps(made)),  # noqa: S301 -- ours
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "from_dict": lambda made: type(made).from_dict(made.to_dict()),
}
IN_FULL = ("Offset", "OrderPreservingPostprocessor", "PositionAnnotator")
"""What is made of options alone; LlamaIndex's retrievers and engines hold others."""


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


WAYS = [(name, way) for name, each in COMPONENTS.items() for way in [*each.ways][1:]]


@pytest.mark.parametrize(("name", "way"), WAYS)
async def test_every_way_of_asking_gives_the_same(name, way):
    material, component = Material(LENGTH), COMPONENTS[name]

    expected = await asked(first_way(name), component.make(material), material)
    found = await asked(component.ways[way], component.make(material), material)

    assert found == expected
    assert expected


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize(
    "name", [name for name in COMPONENTS if name.startswith(IN_FULL)]
)
async def test_a_copy_gives_the_same(name, how):
    material = Material(LENGTH)
    made = COMPONENTS[name].make(material)

    twin = COPIES[how](made)

    expected = await asked(first_way(name), made, material)
    assert await asked(first_way(name), twin, material) == expected


@pytest.fixture
def spans():
    root, handler = get_dispatcher(), SimpleSpanHandler()
    before = list(root.span_handlers)
    root.add_span_handler(handler)
    yield lambda: {span.id_.split(".")[0] for span in handler.completed_spans}
    root.span_handlers = before


UNTRACED = ("Offset", "index_documents", "PositionAnnotator")


@pytest.mark.parametrize(
    ("name", "way"),
    [
        (name, way)
        for name, each in COMPONENTS.items()
        for way in each.ways
        if not name.startswith(UNTRACED) and "," not in name
    ],
)
async def test_every_way_is_a_span_of_its_own(name, way, spans):
    material = Material(LENGTH)

    await asked(COMPONENTS[name].ways[way], COMPONENTS[name].make(material), material)

    assert name in spans()
