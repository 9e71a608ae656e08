"""Builds a place, puts a question to it, and reads what the model was sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.query_engine import RetrieverQueryEngine

from tests.llamaindex.corpus import numbers
from tests.llamaindex.places.ingredients import ingredients
from tests.llamaindex.places.registry import Place

__all__ = [
    "Ask",
    "answering",
    "build",
    "each_mode",
    "each_place",
    "sent",
    "with_and_without",
]

each_mode = pytest.mark.parametrize("mode", ["query", "aquery"])

Ask: TypeAlias = Callable[[Any, dict[str, Any], str], Awaitable[str]]
"""Puts the question to what was built, in a mode; gives the text the model read."""


def each_place(places: Sequence[Place]) -> pytest.MarkDecorator:
    """Run a test once per place."""
    return pytest.mark.parametrize("place", places, ids=[place.id for place in places])


async def with_and_without(
    place: Place, mode: str, ask: Ask | None = None, /, **more: Any
) -> tuple[list[int], list[int]]:
    """Numbers of the clauses as the model read them, with oprag and without it.

    Args:
        place: What is built, twice.
        mode: The method that is called.
        ask: None for `answering`.
        **more: Names that the place uses beside the ingredients.
    """
    read = []
    for oprag in (True, False):
        names = {**ingredients(oprag=oprag), **more}
        text = await (ask or answering)(build(place.how, names), names, mode)
        read.append(numbers(text))
    return read[0], read[1]


def build(how: str, names: dict[str, Any]) -> Any:
    """What the expression of a place makes of the names."""
    return eval(how, dict(names))  # noqa: S307 -- the column of our own page


async def answering(built: Any, names: dict[str, Any], mode: str) -> str:
    """Ask an engine; a retriever or a list of postprocessors gets one around it."""
    engine = built
    if isinstance(built, BaseRetriever):
        engine = RetrieverQueryEngine.from_args(built, llm=names["llm"])
    elif isinstance(built, list):
        engine = RetrieverQueryEngine.from_args(
            names["retriever"], llm=names["llm"], node_postprocessors=built
        )
    question = names["question"]
    if mode == "query":
        engine.query(question)
    else:
        await engine.aquery(question)
    return sent(names)


def sent(names: dict[str, Any]) -> str:
    """All prompts of the answering model, one after another."""
    return "\n\n".join(names["llm"].prompts)
