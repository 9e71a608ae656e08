"""How the code of the DOS RAG paper (arXiv 2506.03989) fills a budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from oprag.tokens import TokenCounter

Ranked = TypeVar("Ranked")

TOKENS_PER_CHUNK = 50
"""Of the budget, for each chunk that may be taken."""
_SEPARATOR = " \n\n"


def fill_officially(
    ranked: Sequence[tuple[Ranked, str]], token_budget: int, counter: TokenCounter
) -> list[Ranked]:
    """Choose chunks as the authors do.

    Of the `token_budget / 50` best (rounded down) those up to the first with which the
    sum of the chunks' own tokens would pass the budget. What stands between chunks is
    not counted, so the context may be over the budget; a budget below the best
    chunk's tokens, or below 50, gives none.

    Args:
        ranked: What to choose, each with its text, best first.
        token_budget: Tokens.
        counter: Counts tokens; the authors' is cl100k.

    Returns:
        The chosen, best first.

    Source:
        `RAG.retrieve` of github.com/alex-laitenberger/dos-rag-eval and the settings of
        its runs; reproduced from its behaviour, none of its code.
    """
    kept: list[Ranked] = []
    used = 0
    for chosen, text in ranked[: token_budget // TOKENS_PER_CHUNK]:
        used += counter(text)
        if used > token_budget:
            break
        kept.append(chosen)
    return kept


def join_officially(texts: Sequence[str]) -> str:
    """Join chunks as the authors do: line breaks inside a chunk become blanks."""
    return _SEPARATOR.join(text.replace("\n", " ") for text in texts)
