"""LongRAG's own match rule, under its own name."""

from __future__ import annotations

from collections.abc import Sequence

from oprag.evaluation.metrics.answers import check_answers
from oprag.evaluation.metrics.token_runs import holds_run, plain_tokens, run_text


def longrag_match(prediction: str, references: Sequence[str]) -> bool:
    """Say whether the short answer and a reference hold one another.

    Right if the answer's tokens are a contiguous run of a reference's tokens, or a
    reference's tokens of the answer's. Tokens are those of `plain_tokens`: NFD,
    lower case, articles kept. A side without tokens matches nothing.

    This is what reproduces the figures that LongRAG (arXiv:2406.15319) reports as
    exact match; strict `exact_match` is 12 to 14 points lower on the same outputs.

    Args:
        prediction: The short answer.
        references: Answers that are right, at least one; never a bare string.

    Raises:
        InvalidOptionError: See `check_answers`.
    """
    check_answers(prediction, references)
    predicted = plain_tokens(prediction)
    if not predicted:
        return False
    text = run_text(predicted)
    for reference in references:
        wanted = plain_tokens(reference)
        if holds_run(text, wanted) or holds_run(run_text(wanted), predicted):
            return True
    return False
