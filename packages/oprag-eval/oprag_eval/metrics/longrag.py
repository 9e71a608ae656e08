"""LongRAG's measures: an answer as a run of tokens, in a reply or in a context."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import groupby

from oprag_eval.metrics.short_answers import check_answers

_WORD = "LNM"
_UNSEEN = "ZC"


def plain_tokens(text: str) -> list[str]:
    """Split a text into lower-case tokens; articles and punctuation stay.

    The text is brought to Unicode NFD. A token is the longest run of letters,
    digits and marks, or one other visible character. Blanks and control characters
    (categories Z and C) only separate.

    Source:
        DPR's `SimpleTokenizer`, as LongRAG (arXiv:2406.15319) uses it.
    """
    tokens: list[str] = []
    marked = unicodedata.normalize("NFD", text)
    for kind, run in groupby(marked, key=_kind):
        if kind == _WORD:
            tokens.append("".join(run).lower())
        elif kind != _UNSEEN:
            tokens.extend(character.lower() for character in run)
    return tokens


def _kind(character: str) -> str:
    category = unicodedata.category(character)[0]
    if category in _WORD:
        return _WORD
    return _UNSEEN if category in _UNSEEN else ""


def run_text(tokens: Iterable[str]) -> str:
    """Return tokens as a text in which a run of them can be searched for.

    No token holds a blank, so blanks around each keep the runs on their borders.
    """
    return f" {' '.join(tokens)} "


def holds_run(tokens: str, run: Sequence[str]) -> bool:
    """Return whether tokens (as `run_text` gives them) hold a non-empty run."""
    return bool(run) and run_text(run) in tokens


def longrag_match(prediction: str, references: Sequence[str]) -> bool:
    """Return whether the short answer and a reference hold one another.

    Right if the answer's tokens are a contiguous run of a reference's tokens, or a
    reference's tokens of the answer's. Tokens are those of `plain_tokens`: NFD,
    lower case, articles kept. A side without tokens matches nothing.

    This reproduces the figures that LongRAG (arXiv:2406.15319) reports as
    exact match; strict `exact_match` is 12 to 14 points lower on the same outputs.

    Args:
        prediction: The short answer.
        references: Answers that are right, at least one; never a bare string.
    """
    check_answers(references)
    predicted = plain_tokens(prediction)
    if not predicted:
        return False
    text = run_text(predicted)
    for reference in references:
        wanted = plain_tokens(reference)
        if holds_run(text, wanted) or holds_run(run_text(wanted), predicted):
            return True
    return False


def answer_recall(context: str, answers: Sequence[str]) -> bool:
    """Return whether an answer occurs in the context, token by token.

    The answer's tokens must be a contiguous run of the context's. Tokens are those
    of `plain_tokens`: uncased, articles and punctuation kept. An answer without
    tokens is never found (the authors' code finds it everywhere).

    Args:
        context: The text that the reader was given.
        answers: Answers that are right, at least one; never a bare string.

    Source:
        LongRAG (arXiv:2406.15319), answer recall; its `has_correct_answer`.
    """
    check_answers(answers, name="answers")
    tokens = run_text(plain_tokens(context))
    return any(holds_run(tokens, plain_tokens(answer)) for answer in answers)
