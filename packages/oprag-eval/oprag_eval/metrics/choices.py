"""Multiple choice: by letter, with ∞Bench's rules or without their losses; by [[n]]."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from oprag_eval.metrics.choice_reader import reads_as

ChoiceRules: TypeAlias = Literal["official", "fixed"]

_LETTERS = "ABCD"
_STATEMENTS = ("answer is:", "answer:", "answer is", "option is")
_TO_BLANKS = str.maketrans(dict.fromkeys("\n\"'.,?!{}", " "))
_BLANKS = re.compile(" {2,}")


def choice_match(
    prediction: str, *, gold_letter: str, gold_text: str, rules: ChoiceRules = "fixed"
) -> bool:
    """Return whether a reply names the right option.

    `"official"` is what published ∞Bench En.MC figures were made with, fault by
    fault. The first rule that applies decides:

    1. Blanks around the reply do not count. An empty reply is wrong.
    2. A first character in `ABCD` is the choice, so *Certainly: A* chooses C.
    3. A reply that equals the letter or the option's text is right.
    4. Of line breaks and `" ' . , ? ! { }` blanks are made, runs of blanks become
       one. The first of `answer is:`, `answer:`, `answer is`, `option is` that occurs
       (in that order, case-sensitive) decides: what follows it and one more character
       must begin with the letter or the option's text. So *Answer: C* is not read.
    5. The first word that is a part of `ABCD` is the choice.

    `"fixed"` reads `(C)`, `**C**`, *Answer: C*, *Certainly: A* and the option's text
    as a person would; its rules are those of `reads_as`. Report both side by side.

    Args:
        prediction: What the reader answered.
        gold_letter: The right option's letter: `A` to `D`; up to `Z` for `"fixed"`.
        gold_text: The right option's text, not empty.
        rules: See above.

    Source:
        ∞Bench (arXiv:2402.13718), `get_score_one_longbook_choice_eng`.
    """
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


_BRACKETED = re.compile(r"\[\[\s*([0-9]+)\s*\]\]")


def bracketed_option(prediction: str, *, rules: ChoiceRules = "fixed") -> int | None:
    """Return the number in the last `[[n]]` of a reply.

    The last one, because the reply explains before it decides; `"official"` takes the
    first one, as the authors' code does. Blanks inside the brackets are let pass.

    Returns:
        The number as written, where 1 is the first option; None when there is none.

    Source:
        DOS RAG (arXiv:2506.03989), appendix A.8.
    """
    numbers = _BRACKETED.findall(prediction)
    return int(numbers[0 if rules == "official" else -1]) if numbers else None


def bracketed_match(
    prediction: str, *, gold_option: int, rules: ChoiceRules = "fixed"
) -> bool:
    """Return whether the last `[[n]]` names the right option; without one, it is wrong.

    Args:
        prediction: What the reader answered.
        gold_option: Index of the right option, 0 = first, as in `Question`.
        rules: See `bracketed_option`.
    """
    return bracketed_option(prediction, rules=rules) == gold_option + 1
