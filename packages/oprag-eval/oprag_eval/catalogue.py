"""Every system by name, and systems made from the specs of a command line.

A spec is a name, or a name and settings: `dos-rag`, `dos-rag:size=200,name=dos-200`.
A list is written with plus signs: `recommended:size=256+64`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

import pydantic

from oprag.context import Order
from oprag.errors import InvalidOptionError
from oprag_eval.system import System
from oprag_eval.systems.longrag import LongRag
from oprag_eval.systems.raptor import Raptor
from oprag_eval.systems.readagent import ReadAgent
from oprag_eval.systems.retrieved import Retrieved
from oprag_eval.systems.self_route import SelfRoute


class SystemEntry(NamedTuple):
    """One system of the catalogue."""

    kind: type[System]
    """A dataclass of its settings, and `name`."""
    description: str
    """Its description, in one line."""
    preset: Mapping[str, Any] = {}
    """Settings in which it differs from others of its kind."""

    def settings(self) -> str:
        """Return all settings with their defaults, as a spec has them."""
        fields: Any = dataclasses.fields(self.kind)  # type: ignore[arg-type]  # is one
        defaults = {each.name: each.default for each in fields} | dict(self.preset)
        return ", ".join(
            f"{key}={_written(v)}" for key, v in defaults.items() if key != "name"
        )


def _written(value: Any) -> str:
    if value is None:
        return "none"
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _retrieved(description: str, order: Order, **preset: Any) -> SystemEntry:
    return SystemEntry(Retrieved, description, {"order": order, **preset})


SYSTEMS: Mapping[str, SystemEntry] = {
    "vanilla-rag": _retrieved("the best chunks, best first: what is usual", "rank"),
    "op-rag": _retrieved(
        "the best windows of 128 tokens, in document order (arXiv 2409.01666)",
        "document",
        unit="tokens",
        size=(128,),
    ),
    "dos-rag": _retrieved(
        "the best chunks of whole sentences, in document order (arXiv 2506.03989)",
        "document",
    ),
    "full-document": SystemEntry(
        SelfRoute,
        "the whole documents, as far as the window goes",
        {"steps": ("full",)},
    ),
    "self-route": SystemEntry(
        SelfRoute,
        "chunks first, the full documents where the model declines (arXiv 2407.16833)",
    ),
    "longrag": SystemEntry(
        LongRag, "units of 4,000 tokens, read in two calls (arXiv 2406.15319)"
    ),
    "raptor": SystemEntry(
        Raptor, "chunks and a tree of summaries, best first (arXiv 2401.18059)"
    ),
    "readagent": SystemEntry(
        ReadAgent, "gists of all pages, and the pages it looks up (arXiv 2402.09727)"
    ),
    # As `docs/selection.md` prints it, and nothing but the store to read from.
    "recommended": _retrieved(
        "two sizes of chunks, BM25 beside vectors, selection='recall'",
        "document",
        size=(256, 64),
        search="hybrid",
        selection="recall",
    ),
    # As LangChain's guides have it, with the chunks of `as_retriever()`.
    "langchain-default": _retrieved(
        "LangChain untouched: the 4 best of 1,000 characters",
        "rank",
        unit="langchain",
        size=(1000,),
        top_n=4,
    ),
    # The nodes of `as_query_engine()`; without metadata, which it would count and send.
    "llamaindex-default": _retrieved(
        "LlamaIndex untouched: the 2 best of 1,024 tokens",
        "rank",
        unit="llamaindex",
        size=(1024,),
        top_n=2,
    ),
}
"""All systems, in the order in which they are listed."""


def make_system(spec: str) -> System:
    """Make a system from a spec.

    Returns:
        The system. If settings are given and no `name` is among them, it is
        named by the whole spec, so that it has a separate row beside the plain one.
    """
    name, _, listed = spec.partition(":")
    entry = SYSTEMS.get(name)
    if entry is None:
        message = f"There is no system {name!r}. Known systems: {', '.join(SYSTEMS)}."
        raise InvalidOptionError(message, option="system", value=spec)
    hints = get_type_hints(entry.kind, include_extras=True)
    known = {each.name for each in dataclasses.fields(entry.kind)}  # type: ignore[arg-type]  # is one
    given: dict[str, Any] = {}
    for pair in listed.split(",") if listed else ():
        key, equals, written = pair.partition("=")
        if not equals or key not in known or key in given:
            message = (
                f"{spec!r}: the system {name!r} has no setting {pair!r}, or it comes "
                "twice. Settings are written key=value; there are name, "
                f"{entry.settings()}."
            )
            raise InvalidOptionError(message, option="system", value=spec)
        given[key] = _read(spec, key, written, hints[key])
    return entry.kind(**{"name": spec, **entry.preset, **given})


def _read(spec: str, key: str, written: str, kind: Any) -> Any:
    value: Any = written
    if get_origin(kind) is tuple:
        value = written.split("+")
    elif written == "none" and type(None) in get_args(kind):
        value = None
    try:
        return pydantic.TypeAdapter(kind).validate_python(value)
    except pydantic.ValidationError as error:
        found = error.errors()[0]["msg"]
        message = f"{spec!r}: {key}={written} is not possible. {found}."
        raise InvalidOptionError(message, option=key, value=written) from error
