"""`python -m benchmarks.recall.choosing`: settings that do well on sets they never saw.

Every setting is put to all sets; for each set in turn, the one with the fewest misses
on the others is chosen and measured on it. The books of a set count as two halves,
every second in the other. Differences have paired intervals over documents.
squality is left out: its questions have no evidence.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.recall.arms import BUDGETS
from benchmarks.recall.books import SETS, Book, data_folder, load_books, sampled
from benchmarks.recall.needed import Numbers, Pieces, Settings
from benchmarks.recall.rankings import rank_chunks
from oprag.tokens import resolve_token_counter

_DRAWS = 2_000


@dataclass(frozen=True)
class Recipe:
    """How text is chosen: by `settings`, or whole chunks in rank order."""

    name: str
    settings: Settings | None = None


INDEXES = {
    "128 tokens": ("sentences-128",),
    "64 and 256": ("sentences-64", "sentences-256"),
    "recursive": ("recursive-1000",),
    "LlamaIndex": ("llama_index-1024",),
}
BY_RANK, AS_IT_IS = Recipe("by rank"), Recipe("as it is", Settings())
VALUES: dict[str, tuple[float, ...]] = {
    "head": (1, 3, 4, 6, 10),
    "lent": (0.2, 0.3, 0.4, 0.6, 0.8),
    "half": (800, 1000, 1500, 2100, 3000),
    "to_rank": (0.5, 1, 1.5, 3, 4, np.inf),
}
"""What is tried for each constant, beside what it is."""


def tried() -> Iterator[Recipe]:
    """The curve of each constant, and what is chosen among."""
    yield AS_IT_IS
    for name, values in VALUES.items():
        for value in values:
            yield Recipe(f"{name} {value:g}", replace(Settings(), **{name: value}))
    grid = product((2, 3), (0.4, 0.5, 0.6), (1000, 1200, 1500), (1.5, 2, 3))
    for cell in grid:
        yield Recipe(" ".join(f"{value:g}" for value in cell), Settings(*cell))


def tokens_needed(
    recipe: Recipe, pieces: Sequence[Pieces], books: Sequence[Book], retrievers: str
) -> Numbers:
    """Tokens for each question of the books, with each budget."""
    found = []
    for each, book in zip(pieces, books, strict=True):
        for question in range(len(book.questions)):
            order = each.fused(question, retrievers, None)
            found.append(
                [each.by_rank(question, order)] * len(BUDGETS)
                if recipe.settings is None
                else [
                    each.by_worth(question, order, recipe.settings, budget)
                    for budget in BUDGETS
                ]
            )
    return np.array(found)


def misses(needed: Numbers) -> Numbers:
    """For each question the share of budgets that do not hold its evidence."""
    held = needed <= np.array(BUDGETS)
    return np.asarray(100 * (1 - held.mean(1)))


def left_out(found: Mapping[str, Mapping[str, Numbers]], name: str) -> str:
    """The recipe with the fewest misses on all sets but one.

    Args:
        found: Misses by recipe and set.
        name: The set; what it is measured on begins with it.
    """
    return min(
        found,
        key=lambda recipe: np.mean(
            [v.mean() for of, v in found[recipe].items() if not of.startswith(name)]
        ),
    )


def interval(difference: Numbers, documents: Sequence[str]) -> tuple[float, float]:
    """95 % of the means of a paired difference, documents drawn with replacement."""
    names, group = np.unique(documents, return_inverse=True)
    sums = np.bincount(group, difference)
    counts = np.bincount(group)
    drawn = np.random.default_rng(0).integers(0, len(names), (_DRAWS, len(names)))
    means = sums[drawn].sum(1) / counts[drawn].sum(1)
    low, high = np.percentile(means, (2.5, 97.5))
    return float(low), float(high)


def main() -> None:
    """Measure, choose and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall.choosing")
    parser.add_argument("--data", type=Path, default=data_folder())
    cache = Path(__file__).resolve().parents[2] / ".oprag/recall"
    parser.add_argument("--cache", type=Path, default=cache)
    parser.add_argument("--sets", nargs="*", choices=list(SETS), default=list(SETS))
    parser.add_argument("--indexes", nargs="*", default=list(INDEXES))
    parser.add_argument("--retrievers", default="hybrid", help="or dense, bm25")
    given = parser.parse_args()
    counter = resolve_token_counter("cl100k_base")
    found: dict[str, dict[str, Numbers]] = {}
    for name, index in product(given.sets, given.indexes):
        books = sampled(name, load_books(name, given.data, counter))
        for half, of_half in enumerate((books[::2], books[1::2])):
            column = f"{name}, {'AB'[half]}, {index}"
            asked = [q.document for book in of_half for q in book.questions]
            cut = [
                Pieces(b, rank_chunks(b, INDEXES[index], counter, given.cache))
                for b in of_half
            ]
            least = tokens_needed(BY_RANK, cut, of_half, given.retrievers)
            for recipe in tried() if asked else ():
                needed = tokens_needed(recipe, cut, of_half, given.retrievers)
                found.setdefault(recipe.name, {})[column] = misses(needed)
                if recipe is AS_IT_IS:
                    _print_against(column, needed, least, asked)
    _print_chosen(found, given.sets)


def _print_against(
    column: str, needed: Numbers, least: Numbers, documents: Sequence[str]
) -> None:
    cells = []
    held, before = (100.0 * (each <= np.array(BUDGETS)).T for each in (needed, least))
    for ours, theirs in zip(held, before, strict=True):
        low, high = interval(ours - theirs, documents)
        cells.append(f"{ours.mean():.1f} ({low:+.1f} … {high:+.1f})")
    print(f"| {column} | {' | '.join(cells)} |", flush=True)


def _print_chosen(
    found: Mapping[str, Mapping[str, Numbers]], sets: Sequence[str]
) -> None:
    for recipe, values in found.items():
        cells = " | ".join(f"{each.mean():.2f}" for each in values.values())
        print(f"| {recipe} | {cells} |")
    for name in sets:
        chosen = left_out(found, name)
        for recipe in (chosen, AS_IT_IS.name):
            own = [v.mean() for of, v in found[recipe].items() if of.startswith(name)]
            print(f"{name}: misses {np.mean(own):.2f} with {recipe}")


if __name__ == "__main__":
    main()
