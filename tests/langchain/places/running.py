"""Builds a place, puts a question to it, and reads what the model was sent."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import pytest
from langchain_core.documents import BaseDocumentCompressor
from langchain_core.runnables import Runnable, RunnablePassthrough

from tests.langchain.compat import ContextualCompressionRetriever
from tests.langchain.places.ingredients import ingredients
from tests.langchain.places.registry import Place

__all__ = [
    "Application",
    "Mode",
    "answering",
    "chunks_in",
    "each_mode",
    "each_place",
    "with_and_without",
]

Mode: TypeAlias = Literal["invoke", "ainvoke"]

each_mode = pytest.mark.parametrize("mode", ["invoke", "ainvoke"])


class Application(NamedTuple):
    """A place in an application that calls a model, and what it is called with."""

    runnable: Runnable[Any, Any]
    question: Any


Finish: TypeAlias = Callable[[Place, Any, dict[str, Any]], Application]
"""Makes an application out of a place, what was built there, and the names."""


def each_place(places: Sequence[Place]) -> pytest.MarkDecorator:
    """Run a test once per place."""
    return pytest.mark.parametrize("place", places, ids=[place.id for place in places])


async def with_and_without(
    place: Place, mode: Mode, finish: Finish
) -> tuple[list[int], list[int]]:
    """Numbers of the chunks as the model read them, with oprag and without it."""
    return (
        await _read(place, mode, finish, oprag=True),
        await _read(place, mode, finish, oprag=False),
    )


async def _read(place: Place, mode: Mode, finish: Finish, *, oprag: bool) -> list[int]:
    names = ingredients(oprag=oprag)
    built = eval(place.how, names)  # noqa: S307 -- the column of our own page
    runnable, question = finish(place, built, names)
    if mode == "invoke":
        runnable.invoke(question)
    else:
        await runnable.ainvoke(question)
    return chunks_in(names["model"].sent)


def chunks_in(text: str) -> list[int]:
    """Numbers of the chunks in a text, as they follow one another."""
    return [int(number) for number in re.findall(r"chunk (\d+) says", text)]


def answering(place: Place, built: Any, names: dict[str, Any]) -> Application:
    """A chain around what gives documents: a retriever, a runnable, a compressor."""
    if isinstance(built, BaseDocumentCompressor):
        built = ContextualCompressionRetriever(
            base_compressor=built, base_retriever=names["retriever"]
        )
    chain = {"context": built, "input": RunnablePassthrough()} | names["stuff"]
    return Application(chain, names["question"])
