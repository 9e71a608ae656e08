"""400 retrieved chunks through the frameworks' components, and many more."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from benchmarks.speed.retrieved import Retrieved
from benchmarks.speed.setup import Setup
from benchmarks.speed.timing import Measured, as_long, race, seconds, share
from oprag.tokens import DEFAULT_COUNTER, NamedTokenCounter, resolve_token_counter

_N_CHUNKS = 400
_BUDGET = 100_000
"""Tokens; all 400 fit, so that all are counted, and nothing is left out."""
_SMALL_BUDGET = 10_000
_TURNS = 31
_KINDS: dict[str, dict[str, Any]] = {"passed": {}, "merged": {"merge": True}}


def kinds(found: Retrieved) -> dict[str, Callable[[], object]]:
    """What oprag does with 400 chunks: passed through, half merged.

    Args:
        found: The chunks of a framework.
    """
    # It says that a budget was not filled, which is the case here by design.
    warnings.simplefilter("ignore", UserWarning)
    apart, pairs = _every_other(found.objects), _half_in_pairs(found.objects)
    functions: dict[str, Callable[[], object]] = {}
    for kind, options in _KINDS.items():
        objects = pairs if kind == "merged" else apart
        functions[kind] = _asking_first(found, objects, _BUDGET, **options)
    return functions


def _asking_first(
    found: Retrieved, objects: list[Any], budget: int, **options: Any
) -> Callable[[], object]:
    """Put chunks in order as for a first question: no text of them was counted yet.

    A counter keeps what it counted lately, and another question finds other chunks.
    """
    known = resolve_token_counter(DEFAULT_COUNTER)

    def ask() -> object:
        unused = NamedTokenCounter(known.count, known.name, known.tokenizer)
        ordering = found.component(token_budget=budget, token_counter=unused, **options)
        return ordering(objects)

    return ask


def uncounted(found: Retrieved) -> Callable[[], object]:
    """Without stored counts: only what a budget holds has to be counted."""
    objects = []
    for each in _every_other(found.objects):
        kept = dict(found.metadata(each))
        del kept["token_count"], kept["token_counter"]
        objects.append(found.copied(each, kept))
    return _asking_first(found, objects, _SMALL_BUDGET)


def shown(found: Retrieved) -> Callable[[], object]:
    """With metadata that the framework sends with the text, and the budget counts."""
    path = {"file_path": "files/a.txt"}
    objects = [
        found.copied(each, {**found.metadata(each), **path})
        for each in _every_other(found.objects)
    ]
    return _asking_first(found, objects, _BUDGET)


def against_objects(
    framework: str,
    found: Retrieved,
    more: Mapping[str, Callable[[], object]],
    setup: Setup,
) -> Iterator[Measured]:
    """Measure all kinds in turns with the framework's own objects and with a query.

    Args:
        framework: What the rows begin with.
        found: Its chunks.
        more: What is compared with the objects alone, by the ends of the rows.
        setup: How many turns are measured at most.
    """
    apart = _every_other(found.objects)

    def bare() -> object:
        """What the framework itself takes for as many objects, on this machine."""
        return [found.copied(each, found.metadata(each)) for each in apart]

    functions = kinds(found)
    after = race({"query": found.query, **functions}, setup, repeats=_TURNS)
    for kind, function in functions.items():
        times = race({"peer": bare, "oprag": function}, setup, repeats=_TURNS)
        key = f"{framework}.{kind}"
        yield as_long(f"{key}.objects", times["oprag"], times["peer"])
        yield share(f"{key}.query", after[kind], after["query"])
    yield seconds(f"{framework}.bare", times["peer"], scale=1000)
    for name, function in more.items():
        times = race({"peer": bare, "oprag": function}, setup, repeats=_TURNS)
        yield as_long(f"{framework}.{name}", times["oprag"], times["peer"])


def growth(framework: str, found: Retrieved, setup: Setup) -> Measured:
    """How many times as long as a hundredth of the chunks all of them take."""
    many = setup.n_many
    component = found.component(token_budget=100 * many)
    copies = _copied(found, many)
    few = copies[: many // 100]
    times = race(
        {"few": lambda: component(few), "many": lambda: component(copies)},
        setup,
        repeats=5,
    )
    row = as_long(f"{framework}.growth", times["many"], times["few"])
    points = [
        (len(some), median(times[name].cpu))
        for name, some in (("few", few), ("many", copies))
    ]
    return row._replace(facts={"points": points})


def _copied(found: Retrieved, many: int) -> list[Any]:
    """As many chunks, of as many documents as it takes."""
    own = found.objects
    copies = []
    for number in range(many):
        each = own[number % len(own)]
        metadata = found.metadata(each)
        key = f"{metadata['doc_key']}-{number // len(own)}"
        copies.append(found.copied(each, {**metadata, "doc_key": key}))
    return copies


def _every_other(objects: Sequence[Any]) -> list[Any]:
    """Chunks of which none touches another, in the order of a ranking."""
    return _ranked(objects[::2])


def _half_in_pairs(objects: Sequence[Any]) -> list[Any]:
    """Of eight chunks two neighbours and two alone."""
    kept = {0, 1, 3, 5}
    return _ranked([each for i, each in enumerate(objects) if i % 8 in kept])


def _ranked(objects: Sequence[Any]) -> list[Any]:
    chosen = list(objects[:_N_CHUNKS])
    random.Random(0).shuffle(chosen)  # noqa: S311 -- not for security
    return chosen
