"""Short answers held against references: F1, exact match, the first number."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence

from oprag.errors import invalid_option


def check_answers(references: Sequence[str], *, name: str = "references") -> None:
    """Refuse a bare string, which would be read letter by letter, and no answers.

    Raises:
        InvalidOptionError: It is one of these.
    """
    if isinstance(references, str) or not references:
        takes = "It takes a list of answers, each of which would be right."
        raise invalid_option(name, references, takes)


_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def answer_words(text: str) -> list[str]:
    """Split an answer into the words that count.

    In this order: lower case; ASCII punctuation deleted (so that `U.S.` is `us`);
    the words *a*, *an* and *the* replaced by a blank; split on blanks.

    Source:
        SQuAD's evaluation script, as ∞Bench uses it (`normalize_answer` in its
        `compute_scores.py`).
    """
    bare = text.lower().translate(_NO_PUNCTUATION)
    return _ARTICLES.sub(" ", bare).split()


def token_f1(prediction: str, references: Sequence[str]) -> float:
    """Return the F1 of the answer's words, the best over the references.

    With n words in common, counted as often as both sides have them:
    precision = n / words of the prediction, recall = n / words of the reference,
    F1 = 2 · precision · recall / (precision + recall). No word in common: 0, also
    if neither side has a word left. Words are those of `answer_words`.

    Args:
        prediction: The reader's answer.
        references: Answers that are right, at least one; never a bare string.

    Returns:
        From 0 to 1.

    Source:
        ∞Bench (arXiv:2402.13718), `qa_f1_score`; the rule is SQuAD's.
    """
    check_answers(references)
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


def exact_match(prediction: str, references: Sequence[str]) -> bool:
    """Return whether the answer is word for word one of the references.

    Both sides are brought to Unicode NFD and then to the words of `answer_words`:
    case, ASCII punctuation, articles and blanks do not count. Two texts without
    any such word are equal.

    Not the measure under which LongRAG reports "EM": see `longrag_match`, which is
    laxer by 12 to 14 points on that paper's own outputs. Never compare the two.

    Args:
        prediction: The reader's answer.
        references: Answers that are right, at least one; never a bare string.

    Source:
        SQuAD's exact match with the NFD step of LongRAG's `single_ans_em`.
    """
    check_answers(references)
    predicted = _plain_words(prediction)
    return any(_plain_words(reference) == predicted for reference in references)


def _plain_words(text: str) -> list[str]:
    return answer_words(unicodedata.normalize("NFD", text))


_DIGITS = re.compile(r"[0-9]+")


def first_number_match(prediction: str, references: Sequence[str]) -> bool:
    """Return whether the first run of digits in the reply is a reference.

    Compared as text, so leading zeros count. A reply without digits is wrong.

    Args:
        prediction: The reader's answer.
        references: Numbers that are right, at least one; never a bare string.

    Source:
        ∞Bench (arXiv:2402.13718), `get_score_one_passkey`.
    """
    check_answers(references)
    found = _DIGITS.search(prediction)
    return found is not None and found.group() in references
