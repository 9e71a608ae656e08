"""The pages of reference: one for each public package, with the names it promises.

MkDocs calls `on_files`, which writes the pages. They name what is to be shown, and
griffe reads it off the code without running it. So `AsImported` adds what is known
when it is imported: docstrings with their options listed, the parameters of pydantic's
classes and of `**options`. Public names in backticks become links.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Annotated, Any, get_args, get_origin

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from oprag.context import DEFAULTS

DOORS = (
    "oprag",
    "langchain_oprag",
    "llamaindex_oprag",
    "oprag.errors",
    "oprag.testing",
    "oprag_eval.data",
    "oprag_eval.metrics",
    "oprag_eval.reports",
)
"""The packages whose names are promised."""

_NAME = re.compile(r"(?<![\[`])`(\w+)`(?![\]`])")
_UNPACKED = re.compile(r"Unpack\[(\w+)\]")
_EXAMPLE = re.compile(r"^Example:$", re.MULTILINE)
_MODULES = re.compile(r"\b(?:\w+\.)+(?=\w)")


def public_names(module: ModuleType) -> list[str]:
    """Return what a module promises: its `__all__`; of `oprag.errors` the errors."""
    if module.__name__ != "oprag.errors":
        return list(module.__all__)
    return [
        name
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Exception)
    ]


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add a page for each door."""
    for door in DOORS:
        content = _page(importlib.import_module(door))
        files.append(File.generated(config, f"reference/{door}.md", content=content))
    return files


def _page(module: ModuleType) -> str:
    """Its names with a line about each, and then all that is said of them."""
    door = module.__name__
    names = public_names(module)
    said = (inspect.getdoc(module) or "").split("\n\n")[0]
    lines = [f"- [`{n}`][{door}.{n}]: {_line(getattr(module, n))}" for n in names]
    # Pages that explain a word are found before those that only list it.
    head = f"---\nsearch:\n  boost: 0.5\n---\n# {door}"
    return "\n\n".join(
        [head, said, "\n".join(lines), *(f"::: {door}.{name}" for name in names)]
    )


def _line(value: object) -> str:
    return " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())


class AsImported(griffe.Extension):
    """Gives public names the docstrings and parameters that they have when imported."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Go through the public names of one of our packages."""
        for door in DOORS:
            if door.partition(".")[0] == pkg.name:
                module = importlib.import_module(door)
                for name in public_names(module):
                    _as_imported(pkg, getattr(module, name))


def _as_imported(pkg: griffe.Module, value: Any) -> None:
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return
    path = f"{value.__module__}.{value.__qualname__}".removeprefix(f"{pkg.name}.")
    found = pkg[path]
    if found.docstring is not None:
        found.docstring.value = inspect.getdoc(value) or ""
    if isinstance(found, griffe.Class):
        found.bases = list(dict.fromkeys(_public_bases(value)))
    of_pydantic = isinstance(found, griffe.Class) and hasattr(value, "model_fields")
    if of_pydantic and "__init__" not in found.members:
        made = griffe.Function("__init__", parent=found)
        made.parameters = griffe.Parameters(*_fields(value))
        found.set_member("__init__", made)
    call = found.members.get("__init__") if isinstance(found, griffe.Class) else found
    if isinstance(call, griffe.Function):
        call.parameters = griffe.Parameters(*_unpacked(call.parameters, value))
    documented = [found, *found.members.values()]
    for one in documented:
        if not one.is_alias and one.docstring is not None:
            one.docstring.value = _linked(one.docstring.value, pkg.name, value.__name__)


def _public_bases(value: Any) -> Iterator[str]:
    """What a class is to its user: what bases of ours that are not public stand for."""
    for base in value.__bases__:
        package = base.__module__.partition(".")[0]
        if package in DOORS and base.__name__ not in _DOORS_OF:
            yield from _public_bases(base)
        elif base is not object and package not in {"abc", "pydantic", "typing"}:
            yield base.__name__


def _fields(model: Any) -> Iterator[griffe.Parameter]:
    """The parameters of a pydantic class; each type as its field's line has it."""
    yield griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)
    for name, parameter in inspect.signature(model).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            written = [
                vars(c).get("__annotations__", {}).get(name) for c in model.__mro__
            ]
            kind = next(filter(None, written), parameter.annotation)
            yield griffe.Parameter(
                name,
                annotation=_type(kind),
                kind=griffe.ParameterKind.keyword_only,
                default=_default(parameter.default),
            )


def _type(annotation: Any) -> str:
    if isinstance(annotation, str):
        return annotation
    if get_origin(annotation) is Annotated:
        return _type(get_args(annotation)[0])
    written = getattr(annotation, "__forward_arg__", None)
    return written or _MODULES.sub("", inspect.formatannotation(annotation))


def _default(value: Any) -> str | None:
    if value is inspect.Parameter.empty:
        return None
    return repr(value) if isinstance(value, str | int | float | tuple | None) else "..."


def _unpacked(parameters: griffe.Parameters, value: Any) -> Iterator[griffe.Parameter]:
    """Parameters, with the options that `**options` stands for in its place."""
    module = inspect.getmodule(value)
    fields = getattr(value, "model_fields", {})
    defaults = {**DEFAULTS, **{name: field.default for name, field in fields.items()}}
    for parameter in parameters:
        options = _UNPACKED.fullmatch(str(parameter.annotation or ""))
        keywords = getattr(module, options[1], None) if options else None
        if keywords is None:
            yield parameter
            continue
        given = {one.name for one in parameters}
        for name, annotation in keywords.__annotations__.items():
            if name not in given:
                yield griffe.Parameter(
                    name,
                    annotation=_type(annotation),
                    kind=griffe.ParameterKind.keyword_only,
                    default=_default(defaults.get(name, ...)),
                )


def _names() -> Mapping[str, list[str]]:
    """The doors at which each public name stands."""
    doors: dict[str, list[str]] = {}
    for door in DOORS:
        for name in public_names(importlib.import_module(door)):
            doors.setdefault(name, []).append(door)
    return doors


_DOORS_OF = _names()


def _linked(text: str, package: str, own: str) -> str:
    def link(match: re.Match[str]) -> str:
        name = match[1]
        doors = _DOORS_OF.get(name, [])
        near = [door for door in doors if door.partition(".")[0] == package] or doors
        if name == own or len(near) != 1:
            return match[0]
        return f"[`{name}`][{near[0]}.{name}]"

    # So called, its lines are shown as code.
    return _NAME.sub(link, _EXAMPLE.sub("Examples:", text))
