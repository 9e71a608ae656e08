"""Option numbers in double square brackets, as DOS RAG asks for them."""

from __future__ import annotations

import re

from oprag.errors import InvalidOptionError
from oprag.evaluation.metrics.answers import check_text

_BRACKETED = re.compile(r"\[\[\s*([0-9]+)\s*\]\]")


def bracketed_option(prediction: str) -> int | None:
    """Return the number in the last `[[n]]` of a reply.

    The last one, because the reply explains before it decides. Blanks inside the
    brackets are let pass.

    Returns:
        The number as written, where 1 is the first option; None when there is none.

    Raises:
        InvalidOptionError: The prediction is no text.

    Source:
        DOS RAG (arXiv:2506.03989), appendix A.8.
    """
    check_text("prediction", prediction)
    numbers = _BRACKETED.findall(prediction)
    return int(numbers[-1]) if numbers else None


def bracketed_match(prediction: str, *, gold_option: int) -> bool:
    """Say whether the last `[[n]]` names the right option; without one, it is wrong.

    Args:
        prediction: What the reader answered.
        gold_option: Index of the right option, 0 = first, as in `Question`.

    Raises:
        InvalidOptionError: The index is no number of at least 0.
    """
    if isinstance(gold_option, bool) or not isinstance(gold_option, int):
        wrong = True
    else:
        wrong = gold_option < 0
    if wrong:
        message = (
            f"gold_option={gold_option!r} is no index of an option (0 = the first)."
        )
        raise InvalidOptionError(message, option="gold_option", value=gold_option)
    return bracketed_option(prediction) == gold_option + 1
