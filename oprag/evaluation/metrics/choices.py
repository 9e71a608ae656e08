"""Multiple choice by letter: ∞Bench's own rules, and rules that lose nothing."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from oprag.errors import InvalidOptionError
from oprag.evaluation.metrics.answers import check_text
from oprag.evaluation.metrics.choice_reading import reads_as

ChoiceRules: TypeAlias = Literal["official", "fixed"]

_LETTERS = "ABCD"
_STATEMENTS = ("answer is:", "answer:", "answer is", "option is")
_TO_BLANKS = str.maketrans(dict.fromkeys("\n\"'.,?!{}", " "))
_BLANKS = re.compile(" {2,}")


def choice_match(
    prediction: str,
    *,
    gold_letter: str,
    gold_text: str,
    rules: ChoiceRules = "fixed",
) -> bool:
    """Say whether a reply names the right option.

    `"official"` is what published ∞Bench En.MC figures were made with, fault by
    fault. The first rule that applies decides:

    1. Blanks around the reply do not count. An empty reply is wrong.
    2. A first character in `ABCD` is the choice, so *Certainly: A* chooses C.
    3. A reply that equals the letter or the option's text is right.
    4. Of line breaks and `" ' . , ? ! { }` blanks are made, runs of blanks become
       one. The first of `answer is:`, `answer:`, `answer is`, `option is` that occurs
       (in that order, case-sensitive) decides: what follows it and one more
       character must begin with the letter or the option's text. So *Answer: C* is
       not read.
    5. The first word that is a part of `ABCD` is the choice.

    `"fixed"` reads `(C)`, `**C**`, *Answer: C*, *Certainly: A* and the option's text
    as a person would; its rules are those of `reads_as`. Report both side by side.

    Args:
        prediction: What the reader answered.
        gold_letter: The right option's letter: `A` to `D`; up to `Z` for `"fixed"`.
        gold_text: The right option's text, not empty.
        rules: See above.

    Raises:
        InvalidOptionError: The prediction or the text is no text; the letter or the
            rules are none of those; the option's text is empty.

    Source:
        ∞Bench (arXiv:2402.13718), `get_score_one_longbook_choice_eng`.
    """
    check_text("prediction", prediction)
    check_text("gold_text", gold_text)
    _check(gold_letter, gold_text, rules)
    if rules == "official":
        return _official(prediction.strip(), gold_letter, gold_text)
    return reads_as(prediction, letter=gold_letter, text=gold_text)


def _official(reply: str, letter: str, text: str) -> bool:
    right = (letter, text)
    if not reply:
        return False
    if reply[0] in _LETTERS:
        return reply[0] in right
    if reply in right:
        return True
    reply = _BLANKS.sub(" ", reply.translate(_TO_BLANKS))
    for statement in _STATEMENTS:
        _, found, rest = reply.partition(statement)
        if found:
            return rest[1:].startswith(right)
    for word in reply.split():
        if word in _LETTERS:
            return word in right
    return False


def _check(letter: str, text: str, rules: str) -> None:
    if rules not in ("official", "fixed"):
        message = f'rules={rules!r}: it takes "official" or "fixed".'
        raise InvalidOptionError(message, option="rules", value=rules)
    last = "D" if rules == "official" else "Z"
    if not (isinstance(letter, str) and len(letter) == 1 and "A" <= letter <= last):
        message = f"gold_letter={letter!r}: with these rules it takes A to {last}."
        raise InvalidOptionError(message, option="gold_letter", value=letter)
    if not text.strip():
        message = "gold_text is empty: every reply would begin with it."
        raise InvalidOptionError(message, option="gold_text", value=text)
