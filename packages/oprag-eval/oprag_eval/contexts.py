"""Contexts for a model, of the best chunks, in document or score order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from oprag.chunk import Hit
from oprag.context import ContextOptions, arrange
from oprag.tokens import NamedTokenCounter
from oprag_eval.system import Piece


class Context(NamedTuple):
    """The context of one call."""

    text: str
    pieces: tuple[Piece, ...]
    """Its pieces, in that order."""
    tokens: int
    """Of the whole text, separators included."""
    whole: bool | None = None
    """See `Attempt`."""


def context_of(
    ranked: Sequence[Hit], options: ContextOptions, counter: NamedTokenCounter
) -> Context:
    """Choose chunks and put them in an order.

    Args:
        ranked: Best first.
        options: The budget, `top_n`, `selection`, and the order, which has no part in
            the choice.
        counter: Counts the context's tokens.
    """
    passages = arrange(ranked, options).passages
    text = options.separator.join(passage.text for passage in passages)
    pieces = tuple(
        Piece(passage.uri, *span) for passage in passages for span in passage.spans
    )
    return Context(text, pieces, counter(text))
