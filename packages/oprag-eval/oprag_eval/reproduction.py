"""A paper's table asked again: its figures and its conditions.

`published.csv` holds the papers' figures, in percent, with the papers' models,
embeddings and splitting: a reference, not a baseline for your run. Each file of
`recipes/` holds the conditions of one table: the sets, the readers, the options of the
run, the budgets, the arms, and which published figure each arm has.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from oprag.errors import did_you_mean, invalid_option
from oprag_eval.catalogue import make_system
from oprag_eval.data import Dataset
from oprag_eval.reports.summary import Difference, arm_label
from oprag_eval.statistics import Comparison, Figure, over_sets
from oprag_eval.system import System


@dataclass(frozen=True)
class Pair:
    """A planned pair: our difference, first minus second, beside the paper's."""

    first: str
    second: str
    measure: str
    ours: Comparison | None
    """None if it was not asked on every set."""
    paper: float | None
    """None if the paper does not print both figures."""


_FILE = Path(__file__).with_name("published.csv")
AVERAGE = "self-route/average"
"""The name of Self-Route's means over its nine sets; no set of this name is
loaded. Their measure is `average`: accuracy, F1 and ROUGE as each set has it. Those by
k (table 4) agree with the means over the seven sets of LongBench."""


@dataclass(frozen=True)
class Published:
    """One figure of a paper."""

    dataset: str
    """As `data.load` takes it; or `AVERAGE`."""
    measure: str
    """As `scores.jsonl` names it; or `token_share`, of all answers together."""
    model: str
    """The reader; `retrieval alone` if none was asked."""
    method: str
    tokens: int | None
    """The budget, or the mean tokens that were read; None if it is not given."""
    value: float
    """From 0 to 1, as our measures are."""
    source: str
    """The paper."""
    deviation: float | None = None
    """Standard deviation over the paper's runs, from 0 to 1. None: not given."""


@cache
def all_published() -> tuple[Published, ...]:
    """Return every figure: by set, measure and reader, in the order of the papers.

    ∞Bench En.QA and En.MC: the rows of whole contexts and Self-Route stand in OP-RAG's
    table as well; its text gives 34.32 for Llama's whole context, and Self-Route's
    paper 76.42 for GPT-4o's on En.MC. OP-RAG's score order was measured with 128
    chunks (En.QA) and 192 (En.MC) of 128 tokens. Self-Route's own tables have 5 chunks
    of Contriever's, unless the method says otherwise.
    """
    with _FILE.open(encoding="utf-8", newline="") as file:
        return tuple(
            Published(
                row["dataset"],
                row["measure"],
                row["model"],
                row["method"],
                int(row["tokens"]) if row["tokens"] else None,
                round(float(row["percent"]) / 100, 6),
                row["source"],
                round(float(row["deviation"]) / 100, 6) if row["deviation"] else None,
            )
            for row in csv.DictReader(file)
        )


def published_for(dataset: str) -> tuple[Published, ...]:
    """Find the figures of a set.

    Returns:
        In the order of `all_published`; empty if the papers have none for the set.
    """
    name = dataset.removesuffix("/documents")
    return tuple(figure for figure in all_published() if figure.dataset == name)


_FOLDER = Path(__file__).with_name("recipes")
_MEAN = "average"
_Arm: TypeAlias = tuple[str, int | None]


class RecipeArm(NamedTuple):
    """One row of a table."""

    system: System
    figures: Sequence[Mapping[str, Any]] = ()
    """Its published figures: the `method`, and the `model` and the `tokens` if they are
    not the reader's or the budget's."""


@dataclass(frozen=True)
class Recipe:
    """The conditions of one table."""

    name: str
    title: str
    source: str
    """The paper, as `Published.source` has it."""
    sets: Sequence[str]
    """As `data.load` takes them; of several the means are compared."""
    readers: Mapping[str, Mapping[str, Any]]
    """Options of each, `model` and `window`, by the name that the figures have; the
    paper's own first."""
    options: Mapping[str, Any]
    """Options of `oprag evaluate`, by name, as far as the paper decides them."""
    arms: Sequence[RecipeArm]
    budgets: Sequence[int] = ()
    planned: Sequence[tuple[str, str]] = ()
    """The systems that are compared at each budget, first minus second."""
    scored_by: Mapping[str, str] = field(default_factory=dict)
    """Our measure that is the authors', if it is not the one that is published."""
    notes: Sequence[str] = ()

    @property
    def dataset(self) -> str:
        """The name of the figures' data set."""
        return self.sets[0] if len(self.sets) == 1 else AVERAGE

    def rows(self, reader: str) -> Iterator[tuple[_Arm, Published | None]]:
        """Name arm and budget of each published figure; None for an arm without one."""
        published = [f for f in published_for(self.dataset) if f.source == self.source]
        for arm in self.arms:
            for budget in self.budgets if arm.system.budgeted else [None]:
                found: list[Published | None] = [
                    figure
                    for wanted in arm.figures
                    for figure in published
                    if figure.method == wanted["method"]
                    and figure.model == wanted.get("model", reader)
                    and wanted.get("tokens", budget) in {None, figure.tokens}
                ]
                for each in found or [None]:
                    yield (arm.system.name, budget), each

    def measure(self, reader: str) -> str:
        """Name the published measure to compare pairs by; empty for the set's."""
        return next((each.measure for _, each in self.rows(reader) if each), "")

    def scored(self, reader: str, dataset: Dataset) -> str:
        """Name our measure of a set that pairs are compared by."""
        name = self.measure(reader)
        name = dataset.metrics[0] if name in {"", _MEAN} else name
        return self.scored_by.get(name, name)

    def reader(self, wanted: str = "") -> str:
        """Choose the reader whose figures are compared; by default the first one."""
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
        read["arms"] = [
            RecipeArm(make_system(arm["system"]), arm.get("figures", ()))
            for arm in read["arms"]
        ]
        for name, sets in tables.items():
            found[name] = Recipe(name=name, sets=sets, **read)
    return MappingProxyType(dict(sorted(found.items())))


def recipe_named(name: str) -> Recipe:
    """Return one recipe."""
    if name not in recipes():
        takes = "`oprag reproduce --list` shows those there are."
        raise invalid_option("table", name, did_you_mean(name, recipes()) + takes)
    return recipes()[name]


@dataclass(frozen=True)
class Compared:
    """One figure of a table beside ours."""

    arm: str
    measure: str
    ours: Figure | None
    published: Published | None


def compare(
    recipe: Recipe, reader: str, summaries: Sequence[Mapping[str, Any]]
) -> list[Compared]:
    """Put our figures beside the paper's.

    Returns:
        Arm by arm; an arm without a figure has one row, of the table's first measure.
    """
    main = recipe.measure(reader) or summaries[0]["measure"]
    compared = []
    for arm, figure in recipe.rows(reader):
        measure = main if figure is None else figure.measure
        ours = _mean([_measured(s, arm, measure, recipe) for s in summaries])
        compared.append(Compared(arm_label(*arm), measure, ours, figure))
    return compared


def pairs_of(
    recipe: Recipe, rows: Sequence[Compared], summaries: Sequence[Mapping[str, Any]]
) -> list[Pair]:
    """Put planned differences beside those of the rows' published figures."""
    budgeted = {arm.system.name: arm.system.budgeted for arm in recipe.arms}
    measure = rows[0].measure
    known = {r.arm: r.published for r in rows if r.published and r.measure == measure}
    found = []
    for pair in recipe.planned:
        for budget in recipe.budgets if budgeted[pair[0]] else [None]:
            labels = [arm_label(n, budget if budgeted[n] else None) for n in pair]
            ours = [each for s in summaries for each in _differences(s, labels)]
            whole = over_sets(ours) if len(ours) == len(summaries) else None
            first, second = map(known.get, labels)
            paper = round(first.value - second.value, 6) if first and second else None
            found.append(Pair(labels[0], labels[1], measure, whole, paper))
    return found


def _differences(run: Mapping[str, Any], labels: list[str]) -> Iterator[Difference]:
    """Find a planned pair among the comparisons of a run; texts may have been cut."""
    for found in run["comparisons"]:
        pair = [found[name].removesuffix(", cut") for name in ("first", "second")]
        if pair == labels:
            yield Difference(**found)


def _measured(
    summary: Mapping[str, Any], arm: _Arm, measure: str, recipe: Recipe
) -> Figure | None:
    """Return the measurement of an arm; for `average` by the set's own measure."""
    name = summary["measure"] if measure == _MEAN else measure
    name = recipe.scored_by.get(name, name)
    for row in summary["arms"]:
        if (row["system"], row["budget"]) == arm:
            figure = row["measures"].get(name)
            return figure and Figure(**figure)
    return None


def _mean(found: Sequence[Figure | None]) -> Figure | None:
    """Return the mean over sets.

    Of several sets it has no interval. Their differences have one.
    """
    known = [each for each in found if each is not None]
    if len(known) < len(found) or len(known) == 1:
        return known[0] if len(found) == 1 and known else None
    count = sum(each.questions for each in known)
    return Figure(fmean(each.mean for each in known), None, None, count)
