"""`python -m benchmarks.sampling`: how often intervals, advice and the gate are right.

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
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from oprag_eval.reports.comparison import Compared
from oprag_eval.reports.sweet_spot import sweet_spot
from oprag_eval.statistics import FEWEST_PAIRS, Comparison, Figure, Sampling

Numbers = npt.NDArray[np.float64]

SHAPES = {
    "rising": (62, 68, 73, 77, 79, 80),
    "a peak in the middle": (70, 76, 80, 78, 74, 69),
    "a plateau": (62, 71, 79, 80, 80, 80),
    "flat": (75, 75, 75, 75, 75, 75),
}
"""True accuracies, in percent, of six budgets that double."""
DOCUMENTS = (3, 10, 30)
QUESTIONS = (12, 40, 200)
NOISE = {"answers of a model": (0.4, 0.15), "what passages hold": (0.1, 0.05)}
"""Standard deviations of chance for each answer, and for each arm on each document."""
_DOCUMENT = 0.5
"""That of documents; that of a question's difficulty is 1."""
_SEED = 42


class Simulated(NamedTuple):
    """Answers of some arms to the same questions."""

    right: Numbers
    """1 or 0, a row for each arm."""
    groups: list[int]
    """Document of each question."""
    here: Numbers
    """True accuracies on these documents, of questions like these."""


class World:
    """Documents with their difficulties, of which questions are asked."""

    def __init__(
        self,
        chance: np.random.Generator,
        documents: int,
        accuracies: Sequence[float],
        noise: tuple[float, float],
    ) -> None:
        answer, arm = noise
        all_together = (1 + _DOCUMENT**2 + answer**2 + arm**2) ** 0.5
        self._chance, self._answer = chance, answer
        self._bounds = special.ndtri(np.array(accuracies))[:, None] * all_together
        self._documents = chance.normal(0, _DOCUMENT, documents)
        self._arms = chance.normal(0, arm, (len(accuracies), documents))

    def ask(self, questions: int) -> Simulated:
        """Ask as many questions, the same number about each document."""
        arms, documents = self._arms.shape
        groups = np.arange(questions) % documents
        shared = self._chance.normal(0, 1, questions) + self._documents[groups]
        own = self._chance.normal(0, self._answer, (arms, questions))
        right = shared + own + self._arms[:, groups] < self._bounds
        left = self._bounds - self._documents - self._arms
        likely = special.ndtr(left / (1 + self._answer**2) ** 0.5)
        here = likely[:, groups].mean(axis=1)
        return Simulated(right.astype(float), groups.tolist(), here)


class Advised(NamedTuple):
    """What the advice was worth, over all simulated runs."""

    decided: float
    right: float | None
    """Of what was advised, the share that keeps the stated margin."""
    loss: float | None
    """Mean points below the best, where something was advised."""
    margins: tuple[float, ...]
    """Stated margins: shares of 2, 5 and 10 points."""
    needed: float | None
    """Where nothing was: the questions that are asked for, the median."""
    followed: float | None
    """Share of these that advise something when they are asked."""


def advised(
    shape: str, questions: int, documents: int, noise: tuple[float, float], runs: int
) -> Advised:
    """Ask for advice on simulated runs, and follow it where it cannot tell."""
    chance = np.random.default_rng(_SEED)
    truth = [accuracy / 100 for accuracy in SHAPES[shape]]
    losses: list[float] = []
    margins: list[float] = []
    wanted: list[int] = []
    followed: list[bool] = []
    for _ in range(runs):
        world = World(chance, min(documents, questions), truth, noise)
        made = world.ask(questions)
        found = sweet_spot(_arms(made))
        assert found is not None
        if found.chosen is not None and found.margin is not None:
            losses.append(float(made.here.max() - made.here[int(found.chosen)]))
            margins.append(found.margin)
        elif found.needed is not None:
            wanted.append(found.needed)
            again = sweet_spot(_arms(world.ask(found.needed)))
            followed.append(again is not None and again.chosen is not None)
    kept = np.array(losses) <= np.array(margins)
    stated = tuple(margins.count(each) / runs for each in (0.02, 0.05, 0.1))
    return Advised(
        len(losses) / runs,
        float(kept.mean()) if losses else None,
        100 * float(np.mean(losses)) if losses else None,
        stated,
        float(np.median(wanted)) if wanted else None,
        float(np.mean(followed)) if followed else None,
    )


def _arms(made: Simulated) -> list[Compared]:
    return [
        Compared(str(place), "", None, 500 * 2**place, values.tolist())
        for place, values in enumerate(made.right)
    ]


class Covered(NamedTuple):
    """Shares of 95 % intervals that hold the truth."""

    scores_here: float | None
    """Of scores over questions, on these documents; None where over documents."""
    scores: float | None
    """Of scores over documents; None where they are over questions."""
    differences: float | None
    """Of differences; None where none is shown."""
    alike: float | None
    """Of differences of two arms that differ by chance as passages do."""


def covered(questions: int, documents: int, runs: int) -> Covered:
    """Draw true accuracies from 50 to 95 %, and differences of them with 8 points."""
    chance = np.random.default_rng(_SEED)
    held = np.zeros(3)
    unit = ""
    for _ in range(runs):
        first = chance.uniform(0.5, 0.95)
        second = float(np.clip(first + chance.normal(0, 0.08), 0.3, 0.98))
        for place, noise in enumerate(NOISE.values()):
            world = World(chance, min(documents, questions), (first, second), noise)
            made = world.ask(questions)
            sampling = Sampling(made.groups)
            unit = sampling.unit
            truth = (first, second) if unit == "documents" else made.here
            one, other = made.right.tolist()
            if not place:
                held[0] += _holds(sampling.estimate(one), float(truth[0]))
            found = sampling.compare(one, other)
            held[1 + place] += _holds(found, float(truth[0] - truth[1]))
    scores, differences, alike = (float(each) for each in held / runs)
    shown = questions >= FEWEST_PAIRS
    return Covered(
        scores if unit == "questions" else None,
        scores if unit == "documents" else None,
        differences if shown else None,
        alike if shown else None,
    )


def _holds(found: Figure | Comparison | None, truth: float) -> bool:
    if found is None or found.low is None or found.high is None:
        return False
    return found.low <= truth <= found.high


_ADVICE = """\
*Decided*: a setting was advised; the others end with *cannot tell*. *Right*: of those,
it is no more points below the best on these documents than the advice says (2, 5 or
10). *Loss*: mean points below the best. *Asks for*: where it cannot tell, the median
of the questions that it asks for, and how often these then gave advice. With fewer than
30 questions nothing is ever advised.
"""
_INTERVALS = """\
Share of 95 % intervals that hold the truth. True accuracies are drawn from 50 to 95 %,
differences with a standard deviation of 8 points. With fewer than 10 documents
intervals are over questions, on these documents. With fewer than 30 questions none is
shown of differences: nearly all of them hold the truth, because they hold nearly
everything.
"""


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def _advice_rows(runs: int) -> Iterator[str]:
    yield (
        "| true accuracies | chance | questions | documents | decided | right | loss | "
        "2, 5, 10 points | asks for | then advised |"
    )
    yield f"|{'---|' * 10}"
    for shape in SHAPES:
        for kind, noise in NOISE.items():
            for questions in QUESTIONS:
                for documents in DOCUMENTS:
                    found = advised(shape, questions, documents, noise, runs)
                    print(shape, kind, questions, documents, found, flush=True)
                    stated = ", ".join(f"{100 * each:.0f}" for each in found.margins)
                    loss = "–" if found.loss is None else f"{found.loss:.1f}"
                    wanted = "–" if found.needed is None else f"{found.needed:.0f}"
                    yield (
                        f"| {shape} | {kind} | {questions} | {documents} | "
                        f"{_percent(found.decided)} | {_percent(found.right)} | {loss} "
                        f"| {stated} | {wanted} | {_percent(found.followed)} |"
                    )


def _interval_rows(runs: int) -> Iterator[str]:
    yield (
        "| questions | documents | scores, on these documents | scores, over documents "
        "| differences of models' answers | of what passages hold |"
    )
    yield f"|{'---|' * 6}"
    for questions in QUESTIONS:
        for documents in DOCUMENTS:
            found = covered(questions, documents, runs)
            print(questions, documents, found, flush=True)
            told = " | ".join(map(_percent, found))
            yield f"| {questions} | {documents} | {told} |"


def main() -> None:
    """Simulate, and write the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sampling")
    parser.add_argument("--runs", type=int, default=2000)
    here = Path(__file__).with_name("sampling.md")
    parser.add_argument("--out", type=Path, default=here)
    given = parser.parse_args()
    truths = [
        f"- {shape}: {', '.join(f'{value:g}' for value in values)}"
        for shape, values in SHAPES.items()
    ]
    intervals = list(_interval_rows(given.runs))
    lines = [
        "# How often intervals and advice are right",
        "",
        f"Made by `python -m benchmarks.sampling --runs {given.runs}`, seed {_SEED}.",
        "Each question has a difficulty that all settings share, each document one",
        "that its questions share; chance is added for each answer, and for each",
        f"setting on each document. Of {given.runs:,} runs each, in percent.",
        "",
        "## The intervals",
        "",
        _INTERVALS,
        *intervals,
        "",
        "## The advice",
        "",
        _ADVICE,
        *truths,
        "",
        *_advice_rows(given.runs),
        "",
    ]
    given.out.write_text("\n".join(lines), "utf-8")


if __name__ == "__main__":
    main()
