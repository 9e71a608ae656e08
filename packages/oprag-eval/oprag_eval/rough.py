"""A rough estimate of a table's tokens, from counts alone: its data is not read.

The counts are those of the papers and their data sets: questions, documents, and mean
tokens of the text that a question is asked of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from oprag.calls import Price, TokenUsage
from oprag_eval.reports.tables import number_of
from oprag_eval.reproduction import Recipe
from oprag_eval.system import System
from oprag_eval.systems.longrag import LongRag
from oprag_eval.systems.raptor import Raptor
from oprag_eval.systems.readagent import ReadAgent
from oprag_eval.systems.retrieved import Retrieved
from oprag_eval.systems.self_route import SelfRoute


class Size(NamedTuple):
    """The size of a data set."""

    questions: int
    documents: int
    tokens: int
    """About the mean tokens of a document, or of all that a question is asked of."""


SIZES = {
    "infinitebench/en.mc": Size(229, 58, 184_000),
    "infinitebench/en.qa": Size(351, 69, 193_000),
    "infinitebench/passkey": Size(590, 590, 122_000),
    "longbench/2wikimqa": Size(200, 200, 6_500),
    "longbench/hotpotqa": Size(200, 200, 12_000),
    "longbench/multifieldqa_en": Size(150, 150, 6_100),
    "longbench/musique": Size(200, 200, 15_000),
    "longbench/narrativeqa": Size(200, 200, 25_000),
    "longbench/qasper": Size(200, 200, 4_800),
    "longbench/qmsum": Size(200, 200, 14_000),
    "longrag/hotpot_qa": Size(7_405, 7_405, 25_000),
    "longrag/hotpot_qa/documents": Size(7_405, 5_000_000, 100),
    "longrag/nq": Size(3_610, 3_610, 25_000),
    "longrag/nq/documents": Size(3_610, 3_000_000, 700),
    "narrativeqa": Size(10_391, 355, 75_000),
    "quality": Size(2_086, 115, 5_800),
}
_PER_WORD = 4 / 3
_PER_CHARACTER = 1 / 4
_UNITS = {"words": _PER_WORD, "langchain": _PER_CHARACTER}
_PROMPT = 150
"""Tokens of a prompt beside the context."""
_REPLIES = {"letter": 20, "brackets": 60}
_GIST = 4
"""A gist is taken to have its page's tokens divided by this."""
_TREE = 1.5
"""How many times a tree's summaries read the document."""
_PAGED = 2
"""How many times ReadAgent reads a document for its pages and gists."""


class Rough(NamedTuple):
    """The least and the most that a table takes."""

    questions: int
    calls: int
    low: TokenUsage
    high: TokenUsage


def known(recipe: Recipe) -> bool:
    """Return whether the counts of all its sets are known."""
    return all(name in SIZES for name in recipe.sets)


def estimate(
    recipe: Recipe, *, window: int | None, runs: int, style: str, limit: int | None
) -> Rough:
    """Estimate a table from counts."""
    reply = _REPLIES.get(style, _REPLIES["letter"])
    asked = calls = 0
    low = high = out = 0.0
    for name in recipe.sets:
        size = SIZES[name]
        questions = min(size.questions, limit or size.questions)
        documents = min(size.documents, questions)
        asked += questions
        for arm in recipe.arms:
            for budget in recipe.budgets if arm.system.budgeted else [None]:
                least, most = _read(arm.system, budget, size, window)
                calls += questions * runs
                low += (least + _PROMPT) * questions * runs
                high += (most + _PROMPT) * questions * runs
                out += reply * questions * runs
            made = _made(arm.system, size) * documents
            low, high = low + made, high + made
    replies = round(out)
    return Rough(
        asked, calls, TokenUsage(round(low), replies), TokenUsage(round(high), replies)
    )


def _read(
    system: System, budget: int | None, size: Size, window: int | None
) -> tuple[float, float]:
    """Return the fewest and the most tokens that are read for a question."""
    whole = min(size.tokens, window or size.tokens)
    if isinstance(system, SelfRoute):
        found = min(system.k * system.size * _UNITS.get(system.unit, 1.0), whole)
        if "retrieved" not in system.steps:
            return whole, whole
        return found, found + (whole if "full" in system.steps else 0)
    if isinstance(system, ReadAgent):
        gists = min(size.tokens / _GIST, whole)
        return 2 * gists, 3 * gists
    if isinstance(system, LongRag) or budget is None:
        parts = _parts(system)
        return min(parts or whole, whole), min(parts or whole, whole)
    return min(budget, whole), min(budget, whole)


def _parts(system: System) -> float:
    """Return the tokens of chunks that are read by their number; 0 for others."""
    if isinstance(system, Retrieved) and system.top_n:
        return system.top_n * max(system.size) * _UNITS.get(system.unit, 1.0)
    return 0.0


def _made(system: System, size: Size) -> float:
    """Return the tokens that are read to make something of a document beforehand."""
    if isinstance(system, Raptor):
        return _TREE * size.tokens
    return _PAGED * size.tokens if isinstance(system, ReadAgent) else 0.0


def sentence(found: Rough, price: Price | None, *, offline: bool) -> str:
    """Say it in one sentence."""
    if offline:
        return (
            f"{number_of(found.questions, 'question')} are searched for "
            f"{found.calls:,} times in all, without a model and at no cost."
        )
    tokens = _range([found.low.input_tokens, found.high.input_tokens])
    cost = ""
    if price is not None:
        costs = _range([price.cost(found.low), price.cost(found.high)])
        cost = f", which costs about {costs} at this price"
    return (
        f"{number_of(found.questions, 'question')} take {found.calls:,} answers and "
        f"about {tokens} tokens in and {_round(found.low.output_tokens)} out{cost}: "
        "roughly, from the paper's counts, since no --data is given."
    )


def _range(ends: Sequence[float]) -> str:
    return " to ".join(dict.fromkeys(map(_round, ends)))


_MILLION = 1_000_000


def _round(value: float) -> str:
    """Write two figures, in millions from one on."""
    if value >= _MILLION:
        return f"{float(f'{value / _MILLION:.2g}'):,.4g} million"
    return f"{float(f'{value:.2g}'):,.6g}"
