"""The units for a question, or its chunks if their units are not known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from oprag.chunk import FullText, Hit, Passage
from oprag.citations import disambiguate_names
from oprag.context import (
    DESCRIPTIONS,
    ContextOptions,
    OnProblem,
    OrderedContext,
    OrderingKeywords,
    arrange,
    load_texts_then,
    too_small,
)
from oprag.documents import exact_text
from oprag.effects import Effect, Effects, describe_work
from oprag.errors import DocumentNotFoundError, MissingDocumentError, PositionError
from oprag.tokens import TokenizerSpec, resolve_token_counter
from oprag.units.unit_index import FoundUnit, UnitIndex, order_units, unit_metadata


class UnitKeywords(OrderingKeywords, total=False):
    """The options of both frameworks' `LongUnitRetriever`, for type checkers."""

    on_problem: OnProblem
    token_budget: int | None
    token_counter: TokenizerSpec


UNIT_DESCRIPTIONS = {
    **{name: DESCRIPTIONS[name] for name in OrderingKeywords.__annotations__},
    "on_problem": 'If the unit of a chunk is not known: `"error"`; or `"warn"`: once '
    "for each kind of problem, and the chunks themselves are returned as they were "
    "retrieved; `oprag.place_of` names the problem.",
    "token_budget": "Tokens of all units as they are sent; None for no limit.",
    "token_counter": DESCRIPTIONS["token_counter"],
}
"""Descriptions of the options, for the docstrings and fields of both frameworks."""


class ChosenUnits(NamedTuple):
    """The units for one question."""

    units: Sequence[FoundUnit]
    """The best units, in reading order."""
    too_few: bool
    """Whether more chunks could belong to more units."""
    chunks: OrderedContext[Passage] | None = None
    """The chunks returned in the place of units, with the problem; else None."""


def chunks_for_units(k: int) -> int:
    """Return how many chunks to ask for first: 8 for each unit, 16 at least."""
    return max(16, 8 * k)


def choose_units(
    index: UnitIndex, hits: Sequence[Hit], k: int, options: ContextOptions
) -> ChosenUnits:
    """Return the best units of chunks.

    Returns:
        The units. If they are not known, with `on_problem="warn"`, as many chunks as
        are asked for first to find units.
    """
    try:
        ranked = index.rank_units(hits, options)
    except (MissingDocumentError, DocumentNotFoundError, PositionError) as problem:
        if options.on_problem == "error":
            raise
        by_rank = replace(options, order="rank", documents=None)
        kept = arrange(hits[: chunks_for_units(k)], by_rank)
        marked = [
            passage._replace(
                chunks=tuple(
                    chunk._replace(problem=problem.kind) for chunk in passage.chunks
                )
            )
            for passage in kept.passages
        ]
        kept = replace(kept, passages=marked, problems=(problem,))
        return ChosenUnits((), too_few=False, chunks=kept)
    units = order_units(ranked, k, options)
    return ChosenUnits(units, too_few=len(ranked) < k)


def choose_with_texts(
    index: UnitIndex, hits: Sequence[Hit], k: int, options: ContextOptions
) -> Effect:
    """Choose units as `choose_units` does, which may need full texts."""

    def choose(options: ContextOptions) -> ChosenUnits:
        return choose_units(index, hits, k, options)

    return load_texts_then(options, choose)


def read_units(
    chosen: ChosenUnits, options: ContextOptions
) -> Effects[list[tuple[FoundUnit, str, dict[str, Any]]]]:
    """Return the units with their texts and their metadata.

    Raises:
        BudgetTooSmallError: Not even the best unit fits the budget.
        DocumentNotFoundError: There is no text of a document.
        InvalidOptionError: The text of a document is not exact.
        PositionError: A document that was cut has another text.
    """
    source: Any = options.documents
    names = [*dict.fromkeys(name for u in chosen.units for name in u.unit.documents)]

    def read_all() -> list[FullText]:
        return [source.read(name) for name in names]

    async def aread_all() -> list[FullText]:
        found: list[FullText] = await source.aread_all(names)
        return found

    texts = yield Effect(read_all, aread_all)
    exact = {n: exact_text(n, text) for n, text in zip(names, texts, strict=True)}
    shown = disambiguate_names((name, name) for name in names)
    budget = options.token_budget
    read = []
    for each in chosen.units:
        text = each.unit.text(exact.__getitem__, options.separator)
        metadata = unit_metadata(
            each, text, exact.__getitem__, shown, has_room=budget is None
        )
        read.append((each, text, metadata))
    if budget is not None and read:
        texts = [(each.chunk.rank, text) for each, text, _ in read]
        last = yield describe_work(_find_last_that_fits, texts, budget, options)
        read = [each for each in read if each[0].chunk.rank <= last]
    return read


def _find_last_that_fits(
    texts: Sequence[tuple[int, str]], budget: int, options: ContextOptions
) -> int:
    """Return the rank down to which ranked texts fit a budget, in the form sent."""
    counter = resolve_token_counter(options.token_counter)
    for last, _ in sorted(texts, reverse=True):
        kept = [text for rank, text in texts if rank <= last]
        needed = counter(options.separator.join(kept))
        if needed <= budget:
            return last
    raise too_small(budget, needed)
