"""BLEU, of one answer and of a whole set of answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

from oprag.errors import InvalidOptionError
from oprag.evaluation.metrics.answers import check_answers
from oprag.optional import require

_LONGEST = 4


def bleu(prediction: str, references: Sequence[str], *, max_order: int = 4) -> float:
    """Return the BLEU of one answer.

    `corpus_bleu` of this answer alone; not smoothed, so an answer of fewer than
    `max_order` tokens scores 0. The mean over answers is not the BLEU of the set:
    published figures are `corpus_bleu`.

    Args:
        prediction: What the reader answered.
        references: Answers that are right, at least one; never a bare string.
        max_order: 1 for BLEU-1, up to 4 for BLEU-4.

    Returns:
        From 0 to 1.

    Raises:
        InvalidOptionError: See `check_answers`; the order is not 1 to 4.
        MissingDependencyError: sacrebleu is not installed.
    """
    return corpus_bleu([prediction], [references], max_order=max_order)


def corpus_bleu(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    max_order: int = 4,
) -> float:
    """Return the BLEU of a set of answers, n-grams counted over the whole set.

    BLEU = penalty · (p_1 · … · p_n)^(1/n), where p_i is the share of the
    predictions' i-grams that occur in their references (each as often as in the
    reference that has it most often). penalty = 1 where the predictions hold more
    tokens, c, than the references, r, else exp(1 − r / c); r adds up the shortest
    reference of each question. Some p_i = 0, or no token: 0. Case counts; tokens
    are those of WMT's `13a` tokenizer. Not smoothed.

    Args:
        predictions: What the reader answered, one per question, at least one.
        references: For each question, the answers that are right.
        max_order: 1 for BLEU-1, up to 4 for BLEU-4.

    Returns:
        From 0 to 1.

    Raises:
        InvalidOptionError: The two lists differ in length.
        InvalidOptionError: They are empty; see `check_answers`; the order is not 1
            to 4.
        MissingDependencyError: sacrebleu is not installed.

    Source:
        Papineni et al. 2002; counted by the package `sacrebleu`. The penalty takes
        the shortest reference, as the `evaluate` library of the DOS RAG paper
        (arXiv:2506.03989, appendix A.4) does; sacrebleu itself takes the closest.
    """
    _check(predictions, references, max_order)
    most = max(len(answers) for answers in references)
    streams = [
        [answers[n] if n < len(answers) else None for answers in references]
        for n in range(most)
    ]
    score = _scorer(max_order).corpus_score(list(predictions), streams)
    wanted = sum(min(_length(answer) for answer in answers) for answers in references)
    if not score.sys_len or not all(score.counts):
        return 0.0
    logs = [
        math.log(count / total)
        for count, total in zip(score.counts, score.totals, strict=True)
    ]
    penalty = 1.0 if score.sys_len > wanted else math.exp(1 - wanted / score.sys_len)
    return penalty * math.exp(sum(logs) / max_order)


def _check(
    predictions: Sequence[str], references: Sequence[Sequence[str]], max_order: int
) -> None:
    if len(predictions) != len(references):
        lengths = {"predictions": len(predictions), "references": len(references)}
        message = f"One list of references belongs to each prediction: {lengths}."
        raise InvalidOptionError(message, option="references", value=lengths)
    if not predictions:
        message = "predictions is empty: the BLEU of no answer is not defined."
        raise InvalidOptionError(message, option="predictions", value=predictions)
    if max_order not in range(1, _LONGEST + 1):
        message = f"max_order={max_order!r}: it takes 1 to {_LONGEST}."
        raise InvalidOptionError(message, option="max_order", value=max_order)
    for prediction, answers in zip(predictions, references, strict=True):
        check_answers(prediction, answers)


def _length(text: str) -> int:
    return len(_scorer(1).tokenizer(text).split())


@cache
def _scorer(max_order: int) -> Any:
    module = require("sacrebleu.metrics", extra="eval", purpose="BLEU")
    return module.BLEU(
        max_ngram_order=max_order, tokenize="13a", smooth_method="none", force=True
    )
