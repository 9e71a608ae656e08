"""Multiple choice by letter, by ∞Bench's rules or without their losses, or by [[n]]."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import Literal, TypeAlias

from oprag_eval.metrics.short_answers import answer_words

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
    options: int = 4,
    rules: ChoiceRules = "fixed",
) -> bool:
    """Return whether a reply names the right option.

    `"official"` has the rules of the published ∞Bench En.MC figures, fault by fault.
    The first rule that applies decides:

    1. Blanks around the reply do not count. An empty reply is wrong.
    2. A first character in `ABCD` is the choice, so *Certainly: A* chooses C.
    3. A reply that equals the letter or the option's text is right.
    4. Line breaks and `" ' . , ? ! { }` become blanks, and runs of blanks become
       one. The first of `answer is:`, `answer:`, `answer is`, `option is` that occurs
       (in that order, case-sensitive) decides. The text after it, without its
       first character, must begin with the letter or the option's text. So *Answer: C*
       is not read.
    5. The first word that is a part of `ABCD` is the choice.

    `"fixed"` reads `(C)`, `**C**`, *Answer: C*, *Certainly: A* and the option's text
    as a person would; report both side by side. Markdown marks (`* _ # >` and
    backquotes) and blanks around do not count. The first rule that applies decides:

    1. The reply is the option's text (case, punctuation and articles aside): right.
    2. The last statement of an answer (*answer is …*, *Answer: …*, *correct option
       would be …*) decides: the rest begins with the letter or the option's
       text, or names that letter alone in its first clause (*the answer: it's C*).
       The last, because a reply that reasons decides at its end.
    3. A letter at the beginning, bare or in brackets or quotes, is the choice.
    4. The reply begins with the option's text, followed by its end, by punctuation
       or by a reason: right.
    5. If one letter alone occurs as a word, it is the choice; several are none.

    Letters are capitals from A to the last option's, D at least, that stand alone and
    are not denied (*not C*). `A` before a word in lower case is the article, except
    before a reason (*A because …*).

    Args:
        prediction: The reader's answer.
        gold_letter: The right option's letter: `A` to `D`; up to `Z` for `"fixed"`.
        gold_text: The right option's text, not empty.
        options: How many options there are, for `"fixed"`.
        rules: See above.

    Source:
        ∞Bench (arXiv:2402.13718), `get_score_one_longbook_choice_eng`.
    """
    if rules == "official":
        return _official(prediction.strip(), gold_letter, gold_text)
    last = max("D", gold_letter, string.ascii_uppercase[:options][-1])
    return _fixed(prediction, gold_letter, gold_text, last)


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
        The number as written, where 1 is the first option; None if there is none.

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
        prediction: The reader's answer.
        gold_option: Index of the right option, 0 = first, as in `Question`.
        rules: See `bracketed_option`.
    """
    return bracketed_option(prediction, rules=rules) == gold_option + 1


_STATEMENT = re.compile(
    r"\b(?:answer|choice|option)\s*"
    r"(?:[:=]|(?:is|was|(?:should|would|must|will)\s+be)\b\s*:?)\s*"
    r"(?:(?:option|choice|letter)\b\s*)?(?=\S)",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:\b(?:not|nor|neither)|n['’]t)\s+(?:(?:option|choice)\s+)?[(\[\"'“]*$",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[.;\n]")
_MARKS = re.compile(r"[*_`#>]+")
_OPENING = " \t\r\n([{\"'“”‘’<"
_AFTER_TEXT = re.compile(r"\s*(?:$|[.,;:!?)\]}\"'”’(\n–—-]|\b(?:because|since|as)\b)")
_REASON = re.compile(r"according|and|as|based|because|due|for|from|given|since|which")


def _fixed(reply: str, letter: str, text: str, last: str) -> bool:
    reply, text = _bare(reply), _bare(text)
    words = answer_words(text)
    if answer_words(reply) == words if words else reply == text:
        return True
    if stated := list(_STATEMENT.finditer(reply)):
        rest = reply[stated[-1].end() :]
        if first := _leading_letter(rest, last):
            return first == letter
        clause = _CLAUSE_END.split(rest, maxsplit=1)[0]
        return _begins_with_text(rest, text) or _only_letter(clause, last) == letter
    if first := _leading_letter(reply, last):
        return first == letter
    if _begins_with_text(reply, text):
        return True
    return _only_letter(reply, last) == letter


def _bare(text: str) -> str:
    return _MARKS.sub("", text).strip() or text.strip()


def _only_letter(reply: str, last: str) -> str | None:
    found = {match[1] for match in _letters(reply, last)}
    return found.pop() if len(found) == 1 else None


def _leading_letter(reply: str, last: str) -> str | None:
    reply = reply.lstrip(_OPENING)
    found = next(_letters(reply, last), None)
    return found.group(1) if found and found.start() == 0 else None


def _letters(reply: str, last: str) -> Iterator[re.Match[str]]:
    """Yield the capitals that stand alone, are not denied and are no article."""
    for match in re.finditer(rf"(?<![\w'’])([A-{last}])(?![\w'’-]\w|\w)", reply):
        if _DENIED.search(reply[: match.start()]):
            continue
        word = re.match(r"[ \t]+([a-z]+)", reply[match.end() :])
        if match.group(1) != "A" or word is None or _REASON.fullmatch(word[1]):
            yield match


def _begins_with_text(reply: str, text: str) -> bool:
    reply = reply.lstrip(_OPENING).casefold()
    text = text.lstrip(_OPENING).rstrip(".").casefold()
    begins = bool(text) and reply.startswith(text)
    return begins and _AFTER_TEXT.match(reply, len(text)) is not None
