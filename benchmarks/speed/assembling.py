"""400 retrieved chunks through the frameworks' components, and many more."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any

from benchmarks.speed.retrieved import Retrieved
from benchmarks.speed.timing import Measured, Times, race, seconds, share
from oprag.errors import UnfilledBudgetWarning

_N_CHUNKS = 400
_BUDGET = 100_000
"""Tokens; all 400 fit, so that all are counted, and nothing is left out."""
_SMALL_BUDGET = 10_000
_TURNS = 31
_KINDS: dict[str, dict[str, Any]] = {
    "passed": {},
    "merged": {"merge": True},
    "rebuilt": {"rescore": "score"},
}


def kinds(framework: str, found: Retrieved) -> Iterator[Measured]:
    """Measure what is passed through, half merged and rebuilt.

    Args:
        framework: What the rows begin with.
        found: Its chunks.
    """
    # It says that a budget was not filled, which is the case here by design.
    warnings.simplefilter("ignore", UnfilledBudgetWarning)
    apart, pairs = _every_other(found.objects), _half_in_pairs(found.objects)
    functions: dict[str, Callable[[], object]] = {}
    for kind, options in _KINDS.items():
        component = found.component(token_budget=_BUDGET, **options)
        objects = pairs if kind == "merged" else apart
        functions[kind] = lambda c=component, o=objects: c(o)  # type: ignore[misc]
    # What the framework itself takes for as many objects, on this machine.
    bare = _alone(lambda: [found.copied(o, found.metadata(o)) for o in apart])
    yield seconds(f"{framework}.bare", bare, scale=1000)
    after = race({"query": found.query, **functions}, _TURNS)
    for kind, function in functions.items():
        key = f"{framework}.{kind}"
        yield seconds(f"{key}.time", _alone(function), scale=1000)
        yield share(f"{key}.query", after[kind], after["query"])


def _alone(function: Callable[[], object]) -> Times:
    """Time a function by itself, again and again."""
    return race({"it": function}, _TURNS)["it"]


def uncounted(framework: str, found: Retrieved) -> Measured:
    """Without stored counts: only what a budget holds has to be counted."""
    objects = []
    for each in _every_other(found.objects):
        kept = dict(found.metadata(each))
        del kept["token_count"], kept["token_counter"]
        objects.append(found.copied(each, kept))
    component = found.component(token_budget=_SMALL_BUDGET)
    times = race({"oprag": lambda: component(objects)}, _TURNS)
    return seconds(f"{framework}.uncounted", times["oprag"], scale=1000)


def shown(framework: str, found: Retrieved) -> Measured:
    """With metadata that the framework sends with the text, and the budget counts."""
    path = {"file_path": "files/a.txt"}
    objects = [
        found.copied(each, {**found.metadata(each), **path})
        for each in _every_other(found.objects)
    ]
    component = found.component(token_budget=_BUDGET)
    times = _alone(lambda: component(objects))
    return seconds(f"{framework}.shown", times, scale=1000)


def growth(framework: str, found: Retrieved, many: int) -> Measured:
    """How many times as long as a hundredth of the chunks all of them take."""
    component = found.component(token_budget=100 * many)
    copies = _copied(found, many)
    few = copies[: many // 100]
    times = race({"few": lambda: component(few), "many": lambda: component(copies)}, 5)
    turns = zip(times["few"].cpu, times["many"].cpu, strict=True)
    ratios = [b / a for a, b in turns]
    points = [
        (len(some), median(times[name].cpu))
        for name, some in (("few", few), ("many", copies))
    ]
    return Measured(
        f"{framework}.growth",
        median(ratios),
        min(ratios),
        max(ratios),
        {"points": points},
    )


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
