"""`python -m benchmarks.recall.choosing`: settings that do well on sets they never saw.

Every recipe is put to all sets; for each set in turn, the one with the fewest misses on
the others is chosen and measured on it. Differences have paired intervals over
documents.
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
from benchmarks.recall.books import SETS, Book, data_folder, load_books
from benchmarks.recall.needed import Numbers, Pieces, Settings
from benchmarks.recall.rankings import rank_chunks
from oprag.tokens import resolve_token_counter

_DRAWS = 2_000


@dataclass(frozen=True)
class Recipe:
    """What is indexed, how it is ranked, and how text is chosen."""

    name: str
    splitting: tuple[str, ...]
    settings: Settings | None
    """None: whole chunks in rank order."""
    retrievers: str = "hybrid"
    depth: int | None = 1_200


_NOW = Settings(3, 8, 0.5, 4, 4, around=True)
"""As `oprag.context.recall` has them; the defaults are what it had before."""
_ONE, _TWO = ("sentences-128",), ("sentences-64", "sentences-256")
_CLOSE = ("sentences-64", "sentences-128")
_RECURSIVE, _LLAMA_INDEX = ("recursive-1000",), ("llama_index-1024",)
FIXED = (
    Recipe("framework's default", _RECURSIVE, None, "dense", None),
    Recipe("RRF, one size", _ONE, None, depth=None),
    Recipe("recall as it was, one size", _ONE, Settings()),
    Recipe("recall, one size", _ONE, _NOW),
    Recipe("recall, two sizes", _TWO, _NOW, depth=2_400),
    Recipe("recall, two sizes, 40", _TWO, _NOW, depth=40),
    Recipe("recall, recursive", _RECURSIVE, _NOW),
    Recipe("recall, LlamaIndex 1,024", _LLAMA_INDEX, _NOW),
)


def tried() -> Iterator[Recipe]:
    """Recipes to choose among."""
    indexes = (_ONE, _RECURSIVE, _CLOSE, ("sentences-64", *_RECURSIVE), _TWO)
    lending = ((0.5, 1), (0.5, 2), (0.4, 4), (0.5, 4))
    for splitting, head, (lent, lenders) in product(indexes, (3, 5, 8), lending):
        settings = Settings(head, 8, lent, 4, lenders, around=True)
        name = f"{' and '.join(splitting)}, head {head}, lent {lent} by {lenders}"
        yield Recipe(name, splitting, settings, depth=1_200 * len(splitting))


def tokens_needed(
    recipe: Recipe, pieces: Sequence[Pieces], books: Sequence[Book]
) -> Numbers:
    """Tokens for each question of the books."""
    found = []
    for each, book in zip(pieces, books, strict=True):
        for question in range(len(book.questions)):
            order = each.fused(question, recipe.retrievers, recipe.depth)
            found.append(
                each.by_rank(question, order)
                if recipe.settings is None
                else each.by_worth(question, order, recipe.settings)
            )
    return np.array(found)


def misses(needed: Numbers) -> Numbers:
    """For each question the share of budgets that do not hold its evidence."""
    held = needed[:, None] <= np.array(BUDGETS)
    return np.asarray(100 * (1 - held.mean(1)))


def left_out(found: Mapping[str, Mapping[str, Numbers]], name: str) -> str:
    """The recipe with the fewest misses on all sets but one.

    Args:
        found: Misses by recipe and set.
        name: The set.
    """
    return min(
        found,
        key=lambda recipe: np.mean(
            [values.mean() for of, values in found[recipe].items() if of != name]
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
    parser.add_argument("--books", type=int, help="only the first so many of each set")
    parser.add_argument("--every", type=int, default=1, help="every n-th question only")
    given = parser.parse_args()
    counter = resolve_token_counter("cl100k_base")
    found: dict[str, dict[str, Numbers]] = {}
    documents: dict[str, list[str]] = {}
    for name in given.sets:
        books = [
            replace(book, questions=book.questions[:: given.every])
            for book in load_books(name, given.data, counter)[: given.books]
        ]
        documents[name] = [q.document for book in books for q in book.questions]
        cut: dict[tuple[str, ...], list[Pieces]] = {}
        for recipe in (*FIXED, *tried()):
            if recipe.splitting not in cut:
                cut[recipe.splitting] = [
                    Pieces(b, rank_chunks(b, recipe.splitting, counter, given.cache))
                    for b in books
                ]
            needed = tokens_needed(recipe, cut[recipe.splitting], books)
            found.setdefault(recipe.name, {})[name] = misses(needed)
            shares = [f"{100 * (needed <= budget).mean():.1f}" for budget in BUDGETS]
            print(f"{name:14} {recipe.name:50} {' '.join(shares)}", flush=True)
    _print_chosen(found, documents)


def _print_chosen(
    found: Mapping[str, Mapping[str, Numbers]], documents: Mapping[str, Sequence[str]]
) -> None:
    fixed = [recipe.name for recipe in FIXED]
    choice = {name: found[name] for name in found if name not in fixed}
    for name, asked in documents.items():
        chosen = left_out(choice, name)
        values = found[chosen][name]
        print(f"\n{name}: misses {values.mean():.2f} with {chosen}, chosen elsewhere")
        for other in fixed:
            difference = values - found[other][name]
            low, high = interval(difference, asked)
            print(f"  {difference.mean():+6.2f} ({low:+.2f} to {high:+.2f}) {other}")


if __name__ == "__main__":
    main()
