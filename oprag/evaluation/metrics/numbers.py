"""The PassKey score: the first number of a reply."""

from __future__ import annotations

import re
from collections.abc import Sequence

from oprag.evaluation.metrics.answers import check_answers

_DIGITS = re.compile(r"[0-9]+")


def first_number_match(prediction: str, references: Sequence[str]) -> bool:
    """Say whether the first run of digits in the reply is a reference.

    Compared as text, so leading zeros count. A reply without digits is wrong.

    Args:
        prediction: What the reader answered.
        references: Numbers that are right, at least one; never a bare string.

    Raises:
        InvalidOptionError: See `check_answers`.

    Source:
        ∞Bench (arXiv:2402.13718), `get_score_one_passkey`.
    """
    check_answers(prediction, references)
    found = _DIGITS.search(prediction)
    return found is not None and found.group() in references
