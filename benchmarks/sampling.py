"""`python -m benchmarks.sampling`: how often intervals and advice are right.

Answers are simulated. Each question has a difficulty that all arms share, each
document one that its questions share; chance is added for each answer, and for each
arm on each document. An answer is right where the sum is below a bound that gives the
arm its true accuracy. `oprag_eval` is asked what it makes of such answers. It
writes `sampling.md` beside it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import NormalDist, fmean
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from oprag_eval.reports.comparison import MARGIN, Compared, sweet_spot
from oprag_eval.statistics import Comparison, Figure, Sampling

Numbers = npt.NDArray[np.float64]

SHAPES = {
    "rising": (62, 68, 73, 77, 79, 80),
    "a peak in the middle": (70, 76, 80, 78, 74, 69),
    "a plateau": (62, 71, 79, 80, 80, 80),
    "flat": (75, 75, 75, 75, 75, 75),
    "one alone is best": (77.9, 77.9, 77.9, 80, 77.9, 77.9),
}
"""True accuracies, in percent, of six budgets that double."""
SIZES = ((30, 10), (100, 20), (300, 50), (1000, 100))
"""Questions, and the documents that they are on."""
DOCUMENTS = (3, 5, 8, 10, 15, 20, 30, 50, 100)
PER_DOCUMENT = {"10 each": (10, False), "30 each": (30, False), "1 to 40": (10, True)}
"""Mean questions on a document, and whether documents differ in it."""

_DOCUMENT, _ANSWER, _ARM = 0.5, 0.4, 0.15
"""Standard deviations; that of a question's difficulty is 1."""
_ALL = (1 + _DOCUMENT**2 + _ANSWER**2 + _ARM**2) ** 0.5
_PAIR = (0.73, 0.62)
_HOW = (
    "Each question has a difficulty that all arms share, each document one that its "
    "questions share;\nchance is added for each answer, and for each arm on each "
    "document."
)
_COLUMNS = (
    "*Decided*: an arm was advised; the others end with *cannot tell*.\n*Too low*: the "
    "advised arm is more than 2 points worse than the best. *Loss*: mean points below\n"
    "the best, where something was advised."
)
_EQUAL = """\
Where all six are equal the advice says *cannot tell* in two thirds of the runs of
1,000 questions. That is the price of being right elsewhere: such a run looks much like
one in which a single arm is 2.1 points better. The best rule there could be, which
knows how much these means vary by chance, and that all are equal or one is better,
decides for equal arms this often, if it is wrong so often where one is better (by
Neyman and Pearson's lemma). Ours knows neither, and is wrong there as often as the last
line above says. No rule decides for equal arms in 80 % of the runs without being wrong
in nearly every tenth run elsewhere.
"""
_WRONG = (0.04, 0.05, 0.06, 0.08, 0.1)
_SEED = 42


class Outcome(NamedTuple):
    """What the advice was worth, over all simulated runs."""

    shape: str
    questions: int
    documents: int
    decided: float
    too_low: float
    """Advice that is more than 2 points worse than the best."""
    loss: float | None
    """Mean points below the best, where something was advised."""


def answers(
    chance: np.random.Generator,
    groups: npt.NDArray[np.intp],
    accuracies: Sequence[float],
) -> list[Numbers]:
    """Simulate the answers of some arms; accuracies from 0 to 1."""
    documents, questions = int(groups.max()) + 1, len(groups)
    shared = chance.normal(0, 1, questions)
    shared += chance.normal(0, _DOCUMENT, documents)[groups]
    made = []
    for accuracy in accuracies:
        own = chance.normal(0, _ANSWER, questions)
        own += chance.normal(0, _ARM, documents)[groups]
        bound = NormalDist().inv_cdf(accuracy) * _ALL
        made.append((shared + own < bound).astype(float))
    return made


def advised(shape: str, questions: int, documents: int, runs: int) -> Outcome:
    """Ask for the sweet spot of simulated runs."""
    truth = SHAPES[shape]
    chance = np.random.default_rng(_SEED)
    groups = np.arange(questions) % documents
    losses: list[float] = []
    for _ in range(runs):
        made = answers(chance, groups, [accuracy / 100 for accuracy in truth])
        arms = [
            Compared(str(place), "", None, 500 * 2**place, values.tolist())
            for place, values in enumerate(made)
        ]
        found = sweet_spot(arms, Sampling(groups.tolist()))
        assert found is not None
        if found.chosen is not None:
            losses.append(max(truth) - truth[int(found.chosen)])
    return Outcome(
        shape,
        questions,
        documents,
        len(losses) / runs,
        sum(loss > 100 * MARGIN for loss in losses) / runs,
        fmean(losses) if losses else None,
    )


def covered(documents: int, per_document: str, runs: int) -> Iterator[float]:
    """Share of intervals that hold the truth: three means, two differences.

    The means are of 50, 75 and 90 %; the differences of arms with 79 and 80 %, and
    with 73 and 62 %.
    """
    mean, differ = PER_DOCUMENT[per_document]
    accuracies = (0.5, 0.75, 0.9, 0.79, 0.8, *_PAIR)
    chance = np.random.default_rng(_SEED)
    held = np.zeros(5)
    for _ in range(runs):
        sizes = np.full(documents, mean)
        if differ:
            drawn = mean * chance.lognormal(-0.32, 0.8, documents)
            sizes = np.clip(np.round(drawn), 1, 40).astype(int)
        groups = np.repeat(np.arange(documents), sizes)
        made = [values.tolist() for values in answers(chance, groups, accuracies)]
        sampling = Sampling(groups.tolist())
        for place, truth in enumerate(accuracies[:3]):
            held[place] += _holds(sampling.estimate(made[place]), truth)
        for place, (a, b) in enumerate(((3, 4), (5, 6)), start=3):
            found = sampling.compare(made[a], made[b])
            held[place] += _holds(found, accuracies[a] - accuracies[b])
    yield from held / runs


def _holds(found: Figure | Comparison | None, truth: float) -> bool:
    if found is None or found.low is None or found.high is None:
        return False
    return found.low <= truth <= found.high


def most_decided(runs: int, draws: int = 400_000) -> list[float]:
    """How often the best of rules decides for equal arms, for each of `_WRONG`."""
    chance = np.random.default_rng(_SEED)
    groups = np.arange(1000) % 100
    flat, (*_, one) = SHAPES["flat"], sorted(SHAPES["one alone is best"])
    accuracies = [accuracy / 100 for accuracy in flat]
    apart = (one - min(SHAPES["one alone is best"])) / 100
    means = np.array(
        [np.mean(answers(chance, groups, accuracies), axis=1) for _ in range(runs)]
    )
    own = means - means.mean(axis=1, keepdims=True)
    varies = float((own**2).sum()) / (runs * (len(flat) - 1))
    equal = chance.normal(0, varies**0.5, (draws, len(flat)))
    better = equal + np.eye(len(flat))[0] * apart

    def doubts(drawn: Numbers) -> tuple[Numbers, npt.NDArray[np.intp]]:
        """How likely it is that another than the highest is better, and that one."""
        middle = drawn - drawn.mean(axis=1, keepdims=True)
        likely = np.exp(middle * apart / varies)
        highest = middle.argmax(axis=1)
        return likely.sum(axis=1) - likely.max(axis=1), highest

    (of_equal, _), (of_better, highest) = doubts(equal), doubts(better)
    wrong = np.sort(of_better[highest != 0])
    bounds = [wrong[min(int(draws * share), len(wrong) - 1)] for share in _WRONG]
    return [float((of_equal <= bound).mean()) for bound in bounds]


def as_markdown(
    outcomes: Sequence[Outcome],
    most: Sequence[float],
    coverage: Sequence[tuple[int, str, Sequence[float]]],
    runs: int,
) -> str:
    """Write the tables."""
    lines = [
        "# How often intervals and advice are right",
        "",
        f"Made by `python -m benchmarks.sampling --runs {runs}`, seed {_SEED}.",
        _HOW,
        "",
        "## The advice",
        "",
        f"Of {runs:,} runs each.",
        _COLUMNS,
        "",
        "| true accuracies | questions | documents | decided | too low | loss |",
        "|---|---|---|---|---|---|",
    ]
    for each in outcomes:
        truth = ", ".join(f"{value:g}" for value in SHAPES[each.shape])
        loss = "–" if each.loss is None else f"{each.loss:.2f}"
        lines.append(
            f"| {each.shape}: {truth} | {each.questions:,} | {each.documents} | "
            f"{each.decided:.1%} | {each.too_low:.1%} | {loss} |"
        )
    lines += [
        "",
        _EQUAL,
        f"| wrong where one is better | {' | '.join(f'{w:.0%}' for w in _WRONG)} |",
        f"|---{'|---' * len(_WRONG)}|",
        f"| decided where all are equal | {' | '.join(f'{m:.0%}' for m in most)} |",
        "",
        "## The intervals",
        "",
        f"Share of 95 % intervals that hold the truth, of {runs:,} simulated runs.",
        "",
        "| documents | questions on one | 50 % | 75 % | 90 % | 79 − 80 | 73 − 62 |",
        "|---|---|---|---|---|---|---|",
    ]
    for documents, per_document, shares in coverage:
        told = " | ".join(f"{100 * share:.1f}" for share in shares)
        lines.append(f"| {documents} | {per_document} | {told} |")
    return "\n".join([*lines, ""])


def main() -> None:
    """Simulate, and write the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sampling")
    parser.add_argument("--runs", type=int, default=2000)
    here = Path(__file__).with_name("sampling.md")
    parser.add_argument("--out", type=Path, default=here)
    given = parser.parse_args()
    outcomes = []
    for shape in SHAPES:
        for questions, documents in SIZES:
            outcomes.append(advised(shape, questions, documents, given.runs))
            print(outcomes[-1], flush=True)
    most = most_decided(given.runs)
    print(most, flush=True)
    coverage = []
    for documents in DOCUMENTS:
        for per_document in PER_DOCUMENT:
            shares = list(covered(documents, per_document, given.runs))
            coverage.append((documents, per_document, shares))
            print(documents, per_document, shares, flush=True)
    given.out.write_text(as_markdown(outcomes, most, coverage, given.runs), "utf-8")


if __name__ == "__main__":
    main()
