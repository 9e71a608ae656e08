"""The context of chosen chunks, in one of the orders that are compared."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from oprag.chunk import Hit, Passage
from oprag.context import ContextOptions, arrange
from oprag.errors import InvalidOptionError
from oprag.tokens import NamedTokenCounter
from oprag_eval.system import Piece

ChunkOrder: TypeAlias = Literal["document", "score", "reverse", "shuffled", "edges"]
"""`"document"`: as they stand there. `"score"`: best first. `"reverse"`: the document's
order backwards. `"shuffled"`: drawn. `"edges"`: the best at both ends, the worst in the
middle."""


class Context(NamedTuple):
    """What a model is given to read."""

    text: str
    pieces: tuple[Piece, ...]
    """What it is made of, in that order."""
    tokens: int
    """Of the whole text, separators included."""
    chunk_set: str
    """See `chunk_set`."""
    whole: bool | None = None
    """See `Attempt`."""


def order_chosen(
    ranked: Sequence[Hit],
    *,
    order: ChunkOrder,
    options: ContextOptions,
    counter: NamedTokenCounter,
    seed: str,
) -> Context:
    """Choose chunks and put them in an order. The choice does not depend on it.

    Args:
        ranked: Best first.
        order: See `ChunkOrder`.
        options: What is chosen: the budget, `top_n`, `selection`.
        counter: Counts the context's tokens.
        seed: Of `"shuffled"`; different for every question.

    Returns:
        The context. Chunks stay apart in every order, joined by
        `options.separator`, so that contexts of one choice differ in nothing else.
    """
    passages = arrange(ranked, options).passages
    placed = _placed(passages, order, seed)
    text = options.separator.join(passage.text for passage in placed)
    pieces = tuple(
        Piece(passage.uri, *span) for passage in placed for span in passage.spans
    )
    return Context(text, pieces, counter(text), chunk_set(pieces))


def _placed(
    passages: Sequence[Passage], order: ChunkOrder, seed: str
) -> Sequence[Passage]:
    if order == "document":
        return passages
    if order == "reverse":
        return passages[::-1]
    if order == "shuffled":
        drawn = list(passages)
        random.Random(seed).shuffle(drawn)  # noqa: S311 -- a control, not a secret
        return drawn
    best_first = sorted(passages, key=lambda passage: passage.rank)
    if order == "score":
        return best_first
    return [*best_first[::2], *best_first[1::2][::-1]]


def chunk_set(pieces: Sequence[Piece]) -> str:
    """SHA-256, hex, of which characters of which documents were chosen.

    The same for every order of the same chunks.
    """
    lines = sorted(f"{piece.start}-{piece.end} {piece.document}" for piece in pieces)
    return hashlib.sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()


def check_chunk_sets(answers: Iterable[Mapping[str, Any]]) -> None:
    """Make sure that arms that are to differ in order alone read the same chunks.

    Args:
        answers: Lines of `answers.jsonl`. Those of one choice, budget and question
            are compared; those without a choice are passed over.

    Raises:
        InvalidOptionError: Two of them read different chunks.
    """
    first: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    for answer in answers:
        if not answer["choice"]:
            continue
        key = (answer["choice"], answer["budget"], answer["question_id"])
        other = first.setdefault(key, answer)
        if answer["chunk_set"] != other["chunk_set"]:
            systems = (other["system"], answer["system"])
            message = (
                f"{systems[0]} and {systems[1]} did not read the same chunks for "
                f"question {answer['question_id']!r} at a budget of "
                f"{answer['budget']}, so they cannot be compared as orders. The "
                "answers are of different runs; run all of them again in one folder."
            )
            raise InvalidOptionError(message, option="answers", value=systems)
