"""ROUGE-L: the longest common subsequence of words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from oprag.evaluation.metrics.answers import check_answers
from oprag.optional import require

_WORD = re.compile(r"[^\W_]+")


def rouge_l(prediction: str, references: Sequence[str]) -> float:
    """Return ROUGE-L's F1, the best over the references.

    With l the length of the longest common subsequence of words:
    precision = l / words of the prediction, recall = l / words of the reference,
    F1 = 2 · precision · recall / (precision + recall); 0 without a common word.
    Words are runs of letters and digits in lower case, not stemmed. The library's
    own words are ASCII only and would give every answer in another script 0; on
    ASCII texts the two are the same.

    Args:
        prediction: What the reader answered.
        references: Answers that are right, at least one; never a bare string.

    Returns:
        From 0 to 1.

    Raises:
        InvalidOptionError: See `check_answers`.
        MissingDependencyError: rouge-score is not installed.

    Source:
        Lin 2004, through the package `rouge-score`, as the `evaluate` library of
        the DOS RAG paper (arXiv:2506.03989, appendix A.4) calls it.
    """
    check_answers(prediction, references)
    score = _scorer().score_multi(list(references), prediction)["rougeL"].fmeasure
    return float(score)


class _Words:
    """The tokenizer that the scorer asks for."""

    @staticmethod
    def tokenize(text: str) -> list[str]:
        return _WORD.findall(text.lower())


@cache
def _scorer() -> Any:
    module = require("rouge_score.rouge_scorer", extra="eval", purpose="ROUGE-L")
    return module.RougeScorer(["rougeL"], tokenizer=_Words())
