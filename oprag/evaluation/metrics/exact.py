"""Strict exact match of short answers."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from oprag.evaluation.metrics.answers import check_answers
from oprag.evaluation.metrics.normalizing import answer_words


def exact_match(prediction: str, references: Sequence[str]) -> bool:
    """Say whether the answer is word for word one of the references.

    Both sides are brought to Unicode NFD and then to the words of `answer_words`:
    case, ASCII punctuation, articles and blanks do not count. Two texts of which
    nothing is left are equal.

    Not the measure under which LongRAG reports "EM": see `longrag_match`, which is
    laxer by 12 to 14 points on that paper's own outputs. Never compare the two.

    Args:
        prediction: What the reader answered.
        references: Answers that are right, at least one; never a bare string.

    Raises:
        InvalidOptionError: See `check_answers`.

    Source:
        SQuAD's exact match with the NFD step of LongRAG's `single_ans_em`.
    """
    check_answers(prediction, references)
    predicted = _words(prediction)
    return any(_words(reference) == predicted for reference in references)


def _words(text: str) -> list[str]:
    return answer_words(unicodedata.normalize("NFD", text))
