"""Token F1: how far the words of an answer and of a reference agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from oprag.evaluation.metrics.answers import check_answers
from oprag.evaluation.metrics.normalizing import answer_words


def token_f1(prediction: str, references: Sequence[str]) -> float:
    """Return the F1 of the answer's words, the best over the references.

    With n words in common, counted as often as both sides have them:
    precision = n / words of the prediction, recall = n / words of the reference,
    F1 = 2 · precision · recall / (precision + recall). No word in common: 0, also
    where neither side has a word left. Words are those of `answer_words`.

    Args:
        prediction: What the reader answered.
        references: Answers that are right, at least one; never a bare string.

    Returns:
        From 0 to 1.

    Raises:
        InvalidOptionError: See `check_answers`.

    Source:
        ∞Bench (arXiv:2402.13718), `qa_f1_score`; the rule is SQuAD's.
    """
    check_answers(prediction, references)
    predicted = Counter(answer_words(prediction))
    return max(
        _f1(predicted, Counter(answer_words(reference))) for reference in references
    )


def _f1(predicted: Counter[str], wanted: Counter[str]) -> float:
    common = (predicted & wanted).total()
    if not common:
        return 0.0
    precision = common / predicted.total()
    recall = common / wanted.total()
    return 2 * precision * recall / (precision + recall)
