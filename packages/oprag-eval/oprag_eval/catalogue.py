"""Every system by name, and systems made from what a user writes on a command line.

A spec is a name, or a name and settings: `dos-rag`, `dos-rag:size=200,name=dos-200`.
A list is written with plus signs: `recommended:sizes=256+64`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import starmap
from types import MappingProxyType
from typing import Any, get_args, get_origin, get_type_hints

import pydantic

from oprag.errors import InvalidOptionError
from oprag_eval.system import System
from oprag_eval.systems.full_document import FullDocuments
from oprag_eval.systems.longrag import LongRag
from oprag_eval.systems.raptor import Raptor
from oprag_eval.systems.readagent import ReadAgent
from oprag_eval.systems.retrieved import (
    dos_rag,
    langchain_default,
    llamaindex_default,
    op_rag,
    recommended,
    vanilla_rag,
)
from oprag_eval.systems.self_route import SelfRoute


@dataclass(frozen=True)
class SystemEntry:
    """One system of the catalogue."""

    make: Callable[..., System]
    """Makes it from keyword arguments: the settings, and `name`."""
    description: str
    """Its description, in one line."""

    @property
    def name(self) -> str:
        """The beginning of a spec, and the system's name unless the spec names it."""
        return str(inspect.signature(self.make).parameters["name"].default)

    @property
    def settings(self) -> dict[str, Any]:
        """Defaults by setting; every system also takes `name`."""
        parameters = inspect.signature(self.make).parameters.items()
        return {key: each.default for key, each in parameters if key != "name"}


_DESCRIBED: tuple[tuple[Callable[..., System], str], ...] = (
    (vanilla_rag, "the best chunks, best first: what most applications do"),
    (op_rag, "the best windows of 128 tokens, in document order (arXiv 2409.01666)"),
    (
        dos_rag,
        "the best chunks of whole sentences, in document order (arXiv 2506.03989)",
    ),
    (
        FullDocuments,
        "the whole documents, or as much of them as the model's window takes",
    ),
    (
        SelfRoute,
        "chunks first, the full documents where the model declines (arXiv 2407.16833)",
    ),
    (LongRag, "units of 4,000 tokens, read in two calls (arXiv 2406.15319)"),
    (Raptor, "chunks and a tree of summaries, best first (arXiv 2401.18059)"),
    (ReadAgent, "gists of all pages, and the pages it looks up (arXiv 2402.09727)"),
    (recommended, "two sizes of chunks, BM25 beside vectors, selection='recall'"),
    (langchain_default, "LangChain untouched: the 4 best of 1,000 characters"),
    (llamaindex_default, "LlamaIndex untouched: the 2 best of 1,024 tokens"),
)

SYSTEMS: Mapping[str, SystemEntry] = MappingProxyType(
    {entry.name: entry for entry in starmap(SystemEntry, _DESCRIBED)}
)
"""All systems, in the order in which they are listed."""


def make_system(spec: str) -> System:
    """Make a system from what a user wrote.

    Returns:
        The system. Where settings are given and no `name` is among them, it is
        named by the whole spec, so that it has a row of its own beside the plain one.
    """
    name, _, listed = spec.partition(":")
    entry = SYSTEMS.get(name)
    if entry is None:
        message = f"There is no system {name!r}. Known systems: {', '.join(SYSTEMS)}."
        raise InvalidOptionError(message, option="system", value=spec)
    hints = get_type_hints(entry.make, include_extras=True)
    settings: dict[str, Any] = {"name": spec if listed else name}
    given: set[str] = set()
    for pair in listed.split(",") if listed else ():
        key, equals, written = pair.partition("=")
        if not equals or key not in {"name", *entry.settings} or key in given:
            known = ", ".join(f"{k}={v!r}" for k, v in entry.settings.items())
            message = (
                f"{spec!r}: the system {name!r} has no setting {pair!r}, or it comes "
                f"twice. Settings are written key=value; there are name, {known}."
            )
            raise InvalidOptionError(message, option="system", value=spec)
        given.add(key)
        settings[key] = _read(spec, key, written, hints[key])
    return entry.make(**settings)


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
