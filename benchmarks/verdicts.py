"""`python -m benchmarks.verdicts`: how often verdicts are right.

Answers are simulated as in `benchmarks.sampling`, right or wrong, with the questions
and documents of the papers' sets; `oprag_eval` judges them beside the figures that the
papers print. Scripted systems of known accuracy go through the whole program as well.
It writes `verdicts.md` beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import NormalDist, fmean, median
from typing import Any, NamedTuple

import numpy as np
from langchain_core.embeddings import DeterministicFakeEmbedding

from benchmarks.sampling import SHAPES, SIZES, answers
from oprag_eval.artifacts import Vectors
from oprag_eval.bench import Bench
from oprag_eval.data import Dataset, Document, Question
from oprag_eval.readers.offline import OfflineReader
from oprag_eval.reports import write_reports
from oprag_eval.reports.comparison import MARGIN, Compared, comparisons, sweet_spot
from oprag_eval.reports.summary import arm_label
from oprag_eval.reproduction import (
    Claim,
    Recipe,
    claims,
    compare,
    judge,
    recipes,
    verdict_of,
)
from oprag_eval.running.run_directory import RunDirectory
from oprag_eval.running.runner import Plan, run
from oprag_eval.statistics import Sampling, adjusted
from oprag_eval.system import Attempt, System

SETS = {
    "infinitebench/en.mc": (229, 58),
    "infinitebench/en.qa": (351, 69),
    "infinitebench/passkey": (590, 590),
    "longbench/multifieldqa_en": (150, 150),
    "longrag/hotpot_qa/documents": (7405, 7405),
    "longrag/nq/documents": (3610, 3610),
    "narrativeqa": (10_391, 352),
    "quality": (2086, 115),
}
"""Questions that the papers asked, and the documents that they are on."""
OTHER = (200, 200)
"""Of the other sets: LongBench's, and those that are generated."""
SIXTY = 0.6
"""The accuracy of a reader that does not look at what it is given."""
TRUTHS = ("the paper's", "no effect", "60 % whatever is read")
VERDICTS = ("comes out", "does not come out", "too few to tell")

_SEED = 42
_DOUBT, _REACHED = 0.05, 0.8
_PROGRAMS = 200
_NOTHING: dict[str, Any] = {
    "arms": [],
    "comparisons": [],
    "measure": "",
    "settings": {"runs": 1},
}


class Judged(NamedTuple):
    """The verdicts of a table over all simulated runs."""

    table: str
    reader: str
    truth: str
    claims: Sequence[Mapping[str, float]]
    """Of each claim the share of each verdict, and of `best`: the best test."""
    whole: Mapping[str, float]
    """Share of each verdict of the table."""
    any_claim: float
    """Share of runs in which some claim comes out."""


def judged(recipe: Recipe, reader: str, truth: str, runs: int) -> Judged | None:
    """Judge simulated runs; None for a table without claims."""
    told = {
        arm: figure.value
        for arm, figure in recipe.rows(reader)
        if figure is not None and figure.measure == recipe.measure(reader)
    }
    rows = compare(recipe, reader, [_NOTHING] * len(recipe.sets))
    if not any(each.claims for each in claims(recipe, rows, [_NOTHING])):
        return None
    level = {"no effect": fmean(told.values()), TRUTHS[2]: SIXTY}.get(truth)
    accuracies = [level or value for value in told.values()]
    chance = np.random.default_rng(_SEED)
    sizes = [SETS.get(name, OTHER) for name in recipe.sets]
    groups = [np.arange(questions) % documents for questions, documents in sizes]
    samplings = [Sampling(each.tolist()) for each in groups]
    found: list[list[Claim]] = []
    for _ in range(runs):
        summaries = []
        for each, sampling in zip(groups, samplings, strict=True):
            made = answers(chance, each, accuracies)
            arms = [
                Compared(arm_label(*arm), *arm, 0.0, values.tolist())
                for arm, values in zip(told, made, strict=True)
            ]
            pairs = comparisons(arms, sampling, recipe.planned)
            summaries.append({**_NOTHING, "comparisons": list(map(vars, pairs))})
        found.append(claims(recipe, rows, summaries))
    made_claims = [[each for each in pairs if each.claims] for pairs in found]
    best = _best(made_claims)
    by_claim = []
    for place, share in enumerate(best):
        verdicts = [pairs[place].verdict for pairs in made_claims]
        by_claim.append({**_shares(verdicts), "best": share})
    return Judged(
        recipe.name,
        reader,
        truth,
        by_claim,
        _shares([verdict_of(pairs) for pairs in made_claims]),
        fmean(any(c.verdict == VERDICTS[0] for c in pairs) for pairs in made_claims),
    )


def _shares(verdicts: Sequence[str | None]) -> dict[str, float]:
    return {name: verdicts.count(name) / len(verdicts) for name in VERDICTS}


def _best(found: Sequence[Sequence[Claim]]) -> list[float]:
    """How often the best of tests finds each claim, with Holm's correction.

    It knows the true standard error of each difference, and on which side it is.
    """
    means = np.array([[c.ours.mean if c.ours else 0 for c in pairs] for pairs in found])
    sides = np.sign([each.paper or 0 for each in found[0]])
    scores = sides * means / means.std(axis=0)
    below = NormalDist().cdf
    shown = [adjusted([2 * below(-score) for score in row]) for row in scores.tolist()]
    return (np.array(shown) < _DOUBT).mean(axis=0).tolist()


class More(NamedTuple):
    """Whether as many more questions as the advice names decide."""

    shape: str
    questions: int
    documents: int
    asked: int
    """Runs that named a number."""
    more: float
    """The number, the median."""
    decided: float


def asked_more(shape: str, questions: int, documents: int, runs: int) -> More:
    """Ask, and where that tells nothing as many more as the advice names."""
    accuracies = [accuracy / 100 for accuracy in SHAPES[shape]]
    chance = np.random.default_rng(_SEED)
    groups = np.arange(questions) % documents
    named, decided = [], 0
    for _ in range(runs):
        first = answers(chance, groups, accuracies)
        spot = _spot(first, groups)
        if not spot.more_questions:
            continue
        named.append(spot.more_questions)
        per_document = questions // documents
        further = documents + np.arange(spot.more_questions) // per_document
        second = answers(chance, further, accuracies)
        both = [np.concatenate(pair) for pair in zip(first, second, strict=True)]
        spot = _spot(both, np.concatenate([groups, further]))
        decided += spot.chosen is not None
    share = decided / len(named) if named else 1.0
    most = median(named) if named else 0
    return More(shape, questions, documents, len(named), most, share)


def _spot(made: Sequence[Any], groups: Any) -> Any:
    arms = [
        Compared(str(place), "", None, 500 * 2**place, values.tolist())
        for place, values in enumerate(made)
    ]
    return sweet_spot(arms, Sampling(groups.tolist()))


ACCURACIES = {"order": (0.55, 0.75, 0.8), "score": (0.55, 0.6, 0.6)}
"""Of two scripted systems at three budgets."""
_BUDGETS = (500, 1000, 2000)
_ASKED, _BOOKS = 120, 40


class Scripted(System):
    """Answers as a list says, whatever is read."""

    def __init__(self, name: str, right: Mapping[tuple[int, str], float]) -> None:
        self.name = name
        self._right = right

    def settings(self) -> dict[str, Any]:
        """Nothing decides it but its name."""
        return {}

    async def attempt(
        self,
        question: Question,
        budget: int | None,
        bench: Bench,  # noqa: ARG002 -- nothing is looked up
    ) -> Attempt:
        """Give the right answer, or a wrong one."""
        said = "yes" if self._right[budget or 0, question.question_id] else "no"
        return Attempt(said, reply=said, pieces=(), context_tokens=budget or 0)


class Program(NamedTuple):
    """Shares of runs, or of what they tell, in which the program is right."""

    intervals: float
    """Means and differences whose interval holds the truth."""
    page: float
    """Runs whose page has the advice, and every score as the answers are."""
    advised: float
    """Runs that advise something."""
    too_low: float
    """Runs that advise something more than 2 points worse than the best."""
    shown: float
    """Differences that there are which come out."""
    nothing: float
    """Of those that there are not."""


def program(runs: int) -> Program:
    """Ask two scripted systems, and compare what the program says with the truth."""
    chance = np.random.default_rng(_SEED)
    told = [_told(chance) for _ in range(runs)]
    return Program(*(fmean(chain) for chain in map(_joined, zip(*told, strict=True))))


def _joined(column: Sequence[Sequence[float]]) -> list[float]:
    return [each for values in column for each in values]


def _told(chance: np.random.Generator) -> tuple[list[float], ...]:
    """Carry out one run; give what was right of it, in the order of `Program`."""
    groups = np.arange(_ASKED) % _BOOKS
    truth = {
        (name, budget): accuracy
        for name, accuracies in ACCURACIES.items()
        for budget, accuracy in zip(_BUDGETS, accuracies, strict=True)
    }
    made = dict(zip(truth, answers(chance, groups, [*truth.values()]), strict=True))
    questions = tuple(
        Question(str(n), (f"book {group}",), "Is it?", ("yes",))
        for n, group in enumerate(groups)
    )
    names = {f"book {n}": Document(f"book {n}", "", "It is.") for n in range(_BOOKS)}
    dataset = Dataset("scripted", questions, names, ("exact_match",))
    systems = [
        Scripted(
            name,
            {(b, str(n)): made[name, b][n] for b in _BUDGETS for n in range(_ASKED)},
        )
        for name in ACCURACIES
    ]
    vectors = Vectors(DeterministicFakeEmbedding(size=2), name="none")
    bench = Bench(dataset, OfflineReader(), vectors)
    with tempfile.TemporaryDirectory() as folder:
        directory = RunDirectory(Path(folder))
        directory.begin({"runs": 1})
        asyncio.run(run(Plan(systems, _BUDGETS, questions), bench, directory))
        summary = write_reports(directory, dataset, planned=[("order", "score")])
        page = (directory.path / "report.html").read_text("utf-8")
    held, shown, nothing, scores = [], [], [], []
    for arm in summary.arms:
        figure, label = arm.measures["exact_match"], (arm.system, arm.budget)
        right = float(made[label].mean())
        held.append(_holds(figure.low, truth[label], figure.high))
        cells = (arm.system, f"{arm.budget:,}", str(_ASKED), f"{100 * right:.2f} [")
        scores.append(r"</td>\s*<td[^>]*>".join(map(re.escape, cells)))
    pairs = []
    for budget, found in zip(_BUDGETS, summary.comparisons, strict=True):
        apart = truth["order", budget] - truth["score", budget]
        held.append(_holds(found.low, apart, found.high))
        claim = apart or 0.1  # a paper that claims what is not there
        pairs.append(Claim(found.first, found.second, "exact_match", found, claim))
    for budget, pair in zip(_BUDGETS, judge(pairs), strict=True):
        come = pair.verdict == VERDICTS[0]
        there = truth["order", budget] > truth["score", budget]
        (shown if there else nothing).append(come)
    spot = summary.sweet_spot
    chosen = [
        truth[a.system, a.budget]
        for a in summary.arms
        if spot and a.label == spot.chosen
    ]
    low = [max(truth.values()) - each > MARGIN for each in chosen]
    whole = all(re.search(score, page) for score in scores)
    return (
        held,
        [whole and summary.advice[0] in page],
        [bool(chosen)],
        low or [False],
        shown,
        nothing,
    )


def _holds(low: float | None, truth: float, high: float | None) -> bool:
    return low is not None and high is not None and low <= truth <= high


_TABLES = """\
The questions are as many as the paper's. *Come out*: the share of
its claims where its figures are true; then that of the best test with the same
correction (Holm), which knows the standard errors; then the share of tables. *No
effect*: all systems have the mean of the figures. *60 %*: the reader is right in 60 %,
whatever it reads. *Some*: runs in which some claim comes out."""
_HEAD = (
    "| table, reader | claims | come out | best test | do not | table | no effect: "
    "claims | some | table | 60 %: claims | some | table |"
)


def as_markdown(
    found: Sequence[Judged], more: Sequence[More], told: Program, runs: int
) -> str:
    """Write the tables."""
    paper = [each for each in found if each.truth == TRUTHS[0]]
    others = {(each.table, each.reader, each.truth): each for each in found}
    reached = [
        claim for each in paper for claim in each.claims if claim["best"] >= _REACHED
    ]
    least = min((claim[VERDICTS[0]] for claim in reached), default=1.0)
    enough = sum(claim[VERDICTS[0]] >= _REACHED for claim in reached)
    lines = [
        "# How often verdicts are right",
        "",
        f"Made by `python -m benchmarks.verdicts --runs {runs}`, seed {_SEED}; answers",
        "are drawn as in [sampling](sampling.md), each right or wrong, F1 too.",
        "",
        "## A paper's table",
        "",
        f"Of {runs:,} runs each. {_TABLES}",
        "",
        _HEAD,
        "|---" * 12 + "|",
    ]
    for each in paper:
        row = [f"{each.table}, {each.reader}", str(len(each.claims))]
        row += [_mean(each, name) for name in (VERDICTS[0], "best", VERDICTS[1])]
        row.append(f"{each.whole[VERDICTS[0]]:.0%}")
        for truth in TRUTHS[1:]:
            other = others[each.table, each.reader, truth]
            shares = (other.any_claim, other.whole[VERDICTS[0]])
            row += [_mean(other, VERDICTS[0]), *(f"{share:.1%}" for share in shares)]
        lines.append(f"| {' | '.join(row)} |")
    lines += [
        "",
        f"The best test finds {len(reached)} claims in 80 % of runs or more. Ours",
        f"finds {enough} of them as often, and each in {least:.0%} or more.",
        "",
        "## More questions",
        "",
        "Runs that cannot tell ask as many more questions as the advice names, on more",
        "documents of the same kind. *Decided*: something is advised then.",
        "",
        "| true accuracies | questions | documents | runs | median of more | decided |",
        "|---|---|---|---|---|---|",
    ]
    for one in more:
        lines.append(
            f"| {one.shape} | {one.questions:,} | {one.documents} | {one.asked} | "
            f"{one.more:,.0f} | {one.decided:.0%} |"
        )
    truth = "; ".join(
        f"{name} {', '.join(f'{100 * value:g}' for value in values)} %"
        for name, values in ACCURACIES.items()
    )
    lines += [
        "",
        "## The whole program",
        "",
        f"Scripted systems, {truth}, answer {_ASKED} questions on {_BOOKS}",
        f"documents at three budgets; all is asked, scored, written {_PROGRAMS} times.",
        "",
        "| the program | share |",
        "|---|---|",
        f"| 95 % intervals that hold the truth | {told.intervals:.1%} |",
        f"| the page has the scores and the advice | {told.page:.1%} |",
        f"| something is advised | {told.advised:.1%} |",
        f"| it is more than 2 points below the best | {told.too_low:.1%} |",
        f"| a difference of 15 or 20 points comes out | {told.shown:.1%} |",
        f"| one that is not there comes out | {told.nothing:.1%} |",
    ]
    return "\n".join([*lines, ""])


def _mean(each: Judged, name: str) -> str:
    return f"{fmean(claim[name] for claim in each.claims):.1%}"


def main() -> None:
    """Simulate, and write the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verdicts")
    parser.add_argument("--runs", type=int, default=400)
    here = Path(__file__).with_name("verdicts.md")
    parser.add_argument("--out", type=Path, default=here)
    given = parser.parse_args()
    told = program(_PROGRAMS)
    print(told, flush=True)
    more = [asked_more(s, *size, given.runs) for s in SHAPES for size in SIZES]
    print(*more, sep="\n", flush=True)
    found = []
    for recipe in recipes().values():
        for reader in recipe.readers:
            for truth in TRUTHS:
                if (one := judged(recipe, reader, truth, given.runs)) is not None:
                    found.append(one)
                    print(one.table, reader, truth, one.whole, flush=True)
    given.out.write_text(as_markdown(found, more, told, given.runs), "utf-8")


if __name__ == "__main__":
    main()
