"""A paper's table asked again: its conditions, and whether it came out.

Each file of `recipes/` holds the conditions of one table: the sets, the readers, the
options of the run, the budgets, the arms, and which published figure each arm has.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

from oprag.errors import invalid_option
from oprag_eval.catalogue import make_system
from oprag_eval.published import AVERAGE, Published, published_for
from oprag_eval.reports.summary import arm_label
from oprag_eval.statistics import Figure
from oprag_eval.system import System

Verdict: TypeAlias = Literal["pass", "fail", "not measured", "no figure"]

DEVIATIONS = 2
"""The standard deviations, ours and the paper's together, that a figure may be off."""
POINTS = 0.02
"""The most that a figure without deviation and interval may be off."""

_DIGITS = 9
_FOLDER = Path(__file__).with_name("recipes")
_OF_ROUTING = ("answerable", "token_share")


class ReaderModel(NamedTuple):
    """The model that a paper's reader was."""

    model: str
    """As `--model` takes it."""
    window: int
    """Tokens of its context window."""


class RecipeArm(NamedTuple):
    """One row of a table."""

    system: System
    figures: Sequence[Mapping[str, Any]] = ()
    """Its published figures: the `method`, and where they are not the reader's or the
    budget's the `model` and the `tokens`."""


@dataclass(frozen=True)
class Recipe:
    """The conditions of one table."""

    name: str
    title: str
    source: str
    """The paper, as `Published.source` has it."""
    sets: tuple[str, ...]
    """As `data.load` takes them; of several the means are compared."""
    readers: Mapping[str, ReaderModel]
    """By the name that the figures have, the paper's own first."""
    options: Mapping[str, Any]
    """Of `oprag evaluate`, by name, as far as the paper decides them."""
    arms: tuple[RecipeArm, ...]
    budgets: tuple[int, ...] = ()
    scored_by: Mapping[str, str] = field(default_factory=dict)
    """Our measure that is the authors', where it is not the one that is published."""
    notes: tuple[str, ...] = ()

    def figures(self, reader: str, dataset: str) -> tuple[Published, ...]:
        """Find the figures that arms have on a set, of all that the paper has."""
        named = [figure for arm in self.arms for figure in arm.figures]
        wanted = {(each.get("model", reader), each["method"]) for each in named}
        return tuple(
            figure
            for figure in published_for(dataset)
            if figure.source == self.source and (figure.model, figure.method) in wanted
        )

    @property
    def dataset(self) -> str:
        """The name of the figures' data set."""
        return self.sets[0] if len(self.sets) == 1 else AVERAGE

    def reader(self, wanted: str = "") -> str:
        """Choose whose figures are compared; the paper's first where none is named."""
        if wanted and wanted not in self.readers:
            takes = f"{self.name} has figures of {', '.join(self.readers)}."
            raise invalid_option("reader", wanted, takes)
        return wanted or next(iter(self.readers))


@cache
def recipes() -> Mapping[str, Recipe]:
    """Return every recipe by name, sorted; tables may share their conditions."""
    found = {}
    for path in _FOLDER.glob("*.json"):
        read = json.loads(path.read_text("utf-8"))
        tables = read.pop("tables")
        readers = {name: ReaderModel(**one) for name, one in read["readers"].items()}
        arms = [
            RecipeArm(make_system(arm["system"]), arm.get("figures", ()))
            for arm in read["arms"]
        ]
        lists = {key: tuple(read.get(key, ())) for key in ("budgets", "notes")}
        read |= {**lists, "readers": readers, "arms": tuple(arms)}
        for name, sets in tables.items():
            found[name] = Recipe(name=name, sets=tuple(sets), **read)
    return MappingProxyType(dict(sorted(found.items())))


def recipe_named(name: str) -> Recipe:
    """Return one recipe."""
    if name not in recipes():
        takes = f"There are {', '.join(recipes())}."
        raise invalid_option("table", name, takes)
    return recipes()[name]


@dataclass(frozen=True)
class Compared:
    """One figure of a table beside ours."""

    arm: str
    measure: str
    ours: Figure | None
    published: Published | None

    @property
    def verdict(self) -> Verdict:
        """Say whether the paper's figure came out; the rule is `agree`."""
        if self.published is None:
            return "no figure"
        if self.ours is None:
            return "not measured"
        return "pass" if agree(self.ours, self.published) else "fail"


def agree(ours: Figure, published: Published) -> bool:
    """Say whether a published figure came out.

    It did if it lies in the 95 % interval of our run, or if the two are no more than
    `DEVIATIONS` standard deviations apart, the paper's over its runs and ours over
    ours taken together. A figure that has neither may be off by `POINTS`.
    """
    apart = round(abs(ours.mean - published.value), _DIGITS)
    known = False
    if ours.low is not None and ours.high is not None:
        known = True
        if ours.low <= published.value <= ours.high:
            return True
    if published.deviation is not None:
        known = True
        spread = math.hypot(published.deviation, ours.deviation or 0)
        if apart <= round(DEVIATIONS * spread, _DIGITS):
            return True
    return not known and apart <= POINTS


def verdict_of(rows: Sequence[Compared]) -> Verdict:
    """Say of a whole table: it passes when each of its figures does."""
    verdicts = {row.verdict for row in rows} - {"no figure"}
    for worst in ("fail", "not measured", "pass"):
        if worst in verdicts:
            return worst
    return "no figure"


def compare(
    recipe: Recipe, reader: str, summaries: Sequence[Mapping[str, Any]]
) -> list[Compared]:
    """Put our figures beside the paper's.

    Returns:
        Arm by arm; an arm without a figure has one row, of the table's first measure.
    """
    figures = recipe.figures(reader, recipe.dataset)
    rows: list[tuple[str, int | None, Published | None]] = []
    for arm in recipe.arms:
        for budget in recipe.budgets if arm.system.budgeted else [None]:
            found: list[Published | None] = [*_of_arm(figures, arm, budget, reader)]
            rows += [(arm.system.name, budget, each) for each in found or [None]]
    measures = [figure.measure for _, _, figure in rows if figure is not None]
    main = next(iter([*measures, summaries[0]["measure"]]))
    compared = []
    for system, budget, figure in rows:
        measure = main if figure is None else figure.measure
        ours = [_measured(s, system, budget, measure, recipe) for s in summaries]
        label = arm_label(system, budget)
        compared.append(Compared(label, measure, _mean(ours), figure))
    return compared


def _of_arm(
    figures: Sequence[Published], arm: RecipeArm, budget: int | None, reader: str
) -> Iterator[Published]:
    for wanted in arm.figures:
        model, tokens = wanted.get("model", reader), wanted.get("tokens", budget)
        for figure in figures:
            if (figure.method, figure.model) == (wanted["method"], model) and (
                tokens is None or figure.tokens == tokens
            ):
                yield figure


def _measured(
    summary: Mapping[str, Any],
    system: str,
    budget: int | None,
    measure: str,
    recipe: Recipe,
) -> Figure | None:
    """Return the measurement of an arm; for `average` by the set's own measure."""
    if measure in _OF_ROUTING:
        labels = [arm_label(system, budget, cut=cut) for cut in (False, True)]
        found = [row for row in summary["routing"] if row["arm"] in labels]
        value = found[0][measure] if found else None
        return None if value is None else Figure(value, None, None, 0, 0)
    name = summary["measure"] if measure == "average" else measure
    name = recipe.scored_by.get(name, name)
    for arm in summary["arms"]:
        if (arm["system"], arm["budget"]) == (system, budget):
            figure = arm["measures"].get(name)
            return figure and Figure(**figure)
    return None


def as_figure(published: Published) -> Figure:
    """Return a published figure as ours are; it has no interval."""
    return Figure(published.value, None, None, 0, 0, published.deviation)


def _mean(found: Sequence[Figure | None]) -> Figure | None:
    """The mean over sets, whose runs have nothing to do with one another."""
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return None
    if len(known) == 1:
        return known[0]
    mean = fmean(each.mean for each in known)
    below = _hypot([_apart(each.mean, each.low) for each in known])
    above = _hypot([_apart(each.mean, each.high) for each in known])
    return Figure(
        mean,
        None if below is None else mean - below,
        None if above is None else mean + above,
        sum(each.questions for each in known),
        sum(each.documents for each in known),
        _hypot([each.deviation for each in known]),
    )


def _apart(mean: float, end: float | None) -> float | None:
    return None if end is None else abs(end - mean)


def _hypot(errors: Sequence[float | None]) -> float | None:
    """Return the error of a mean; None where one of them is not known."""
    known = [error for error in errors if error is not None]
    return math.hypot(*known) / len(known) if len(known) == len(errors) else None


def as_json(
    recipe: Recipe, reader: str, rows: Sequence[Compared], differs: Sequence[str]
) -> dict[str, Any]:
    """Return a comparison as plain JSON values."""
    return {
        "table": recipe.name,
        "title": recipe.title,
        "source": recipe.source,
        "reader": reader,
        "verdict": verdict_of(rows),
        "not_as_in_the_paper": list(differs),
        "notes": list(recipe.notes),
        "rows": [{**asdict(row), "verdict": row.verdict} for row in rows],
    }
