"""How much there may be: lines in a file, names in a door, options.

Anyone who needs more for a feature raises the limit here, in the same commit, and says
why.
"""

import importlib
import inspect
from dataclasses import fields
from pathlib import Path

import pytest

from langchain_oprag import SelfRouteChain
from langchain_oprag._answers import DrivenRunnable
from llamaindex_oprag import SelfRouteQueryEngine
from oprag.context import ContextOptions
from tests.test_packaging import PACKAGES

ROOT = Path(__file__).parents[1]
PARTS = (*PACKAGES, "packages/oprag-eval")
NAMES = {"context": 40, "calls": 41}
"""Of doors that may be larger than `OTHER_NAMES`."""
OTHER_NAMES = 35
OPTIONS = 13
SELF_ROUTE_OPTIONS = 15
OF_LLAMAINDEX = {"callback_manager", "node_postprocessors", "streaming"}
"""Options that every query engine of LlamaIndex has."""
LONGEST_FILE = 450


def test_no_file_is_too_long_to_be_read_at_once():
    files = [path for part in PARTS for path in (ROOT / part).rglob("*.py")]
    assert files
    for path in files:
        assert path.read_bytes().count(b"\n") <= LONGEST_FILE, path


@pytest.mark.parametrize(
    "room", sorted(path.parent.name for path in ROOT.glob("oprag/*/__init__.py"))
)
def test_a_door_has_no_more_names_than_its_limit(room):
    door = importlib.import_module(f"oprag.{room}")
    assert len(getattr(door, "__all__", ())) <= NAMES.get(room, OTHER_NAMES)


def test_components_share_few_options():
    assert len(fields(ContextOptions)) <= OPTIONS


def test_self_route_has_few_options():
    chain = SelfRouteChain.model_fields.keys() - DrivenRunnable.model_fields.keys()
    parameters = inspect.signature(SelfRouteQueryEngine.from_args).parameters
    refused = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    engine = {name for name, each in parameters.items() if each.kind not in refused}
    assert len(chain) <= SELF_ROUTE_OPTIONS, sorted(chain)
    assert len(engine - OF_LLAMAINDEX) <= SELF_ROUTE_OPTIONS, sorted(engine)
