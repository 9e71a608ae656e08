"""Answer recall: whether the context holds an answer at all."""

from __future__ import annotations

from collections.abc import Sequence

from oprag.evaluation.metrics.answers import check_answers, check_text
from oprag.evaluation.metrics.token_runs import holds_run, plain_tokens, run_text


def answer_recall(context: str, answers: Sequence[str]) -> bool:
    """Say whether an answer stands in the context, token by token.

    The answer's tokens must be a contiguous run of the context's. Tokens are those
    of `plain_tokens`: uncased, articles and punctuation kept. An answer without
    tokens is never found (the authors' code finds it everywhere).

    Args:
        context: The text that the reader was given.
        answers: Answers that are right, at least one; never a bare string.

    Raises:
        InvalidOptionError: See `check_answers`.

    Source:
        LongRAG (arXiv:2406.15319), answer recall; its `has_correct_answer`.
    """
    check_text("context", context)
    check_answers("", answers, name="answers")
    tokens = run_text(plain_tokens(context))
    return any(holds_run(tokens, plain_tokens(answer)) for answer in answers)
