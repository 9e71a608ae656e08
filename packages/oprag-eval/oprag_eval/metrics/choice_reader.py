"""Reads a reply to a multiple-choice question as a person would."""

from __future__ import annotations

import re
from collections.abc import Iterator

from oprag_eval.metrics.short_answers import answer_words

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


def reads_as(reply: str, *, letter: str, text: str) -> bool:
    """Return whether a reply chooses the option of this letter and text.

    Markdown marks (`* _ # >` and backquotes) and blanks around do not count. The
    first rule that applies decides:

    1. The reply is the option's text (case, punctuation and articles aside): right.
    2. The last statement of an answer (*answer is …*, *Answer: …*, *correct option
       would be …*) decides: what follows begins with the letter or the option's
       text, or names that letter alone in its first clause (*the answer: it's C*).
       The last, because a reply that reasons decides at its end.
    3. A letter at the beginning, bare or in brackets or quotes, is the choice.
    4. The reply begins with the option's text, followed by its end, by punctuation
       or by a reason: right.
    5. If one letter alone occurs as a word, it is the choice; several are none.

    Letters are capitals from A to D, or to `letter` where that is later, that stand
    alone and are not denied (*not C*). `A` before a word in lower case is the
    article, except before a reason (*A because …*).

    Args:
        reply: What the reader answered.
        letter: The right option's letter, a capital.
        text: The right option's text, not empty.
    """
    reply, text = _bare(reply), _bare(text)
    words = answer_words(text)
    if answer_words(reply) == words if words else reply == text:
        return True
    last = max(letter, "D")
    if stated := list(_STATEMENT.finditer(reply)):
        return _states(reply[stated[-1].end() :], letter, text, last)
    if first := _leading_letter(reply, last):
        return first == letter
    if _begins_with_text(reply, text):
        return True
    return _only_letter(reply, last) == letter


def _bare(text: str) -> str:
    return _MARKS.sub("", text).strip() or text.strip()


def _states(rest: str, letter: str, text: str, last: str) -> bool:
    """Whether what follows a statement of an answer is this option."""
    if first := _leading_letter(rest, last):
        return first == letter
    clause = _CLAUSE_END.split(rest, maxsplit=1)[0]
    return _begins_with_text(rest, text) or _only_letter(clause, last) == letter


def _only_letter(reply: str, last: str) -> str | None:
    found = {match[1] for match in _letters(reply, last)}
    return found.pop() if len(found) == 1 else None


def _leading_letter(reply: str, last: str) -> str | None:
    reply = reply.lstrip(_OPENING)
    found = next(_letters(reply, last), None)
    return found.group(1) if found and found.start() == 0 else None


def _letters(reply: str, last: str) -> Iterator[re.Match[str]]:
    """Capitals that are alone, are not denied and are no article."""
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
