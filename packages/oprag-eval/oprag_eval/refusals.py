"""Whether a final reply is a refusal, for scores: nobody can ask again.

Self-Route's own rule takes every reply that mentions the word for a refusal, because
that costs a call and loses no answer. Here it would lose one.
"""

from __future__ import annotations

import re

from oprag.calls import SENTINEL, cut_opening
from oprag.chunk import SENTENCE_TERMINATORS

_CLAUSE_END = re.compile(
    rf"[\n.,:;!?…–—()\[\]{{}}<>{SENTENCE_TERMINATORS}，、：；،؛（）【】「」]|\s-\s"
)
_END_TOKEN = re.compile(r"<[/|][^<>\s]*>")
_JSON_ANSWER = re.compile(r'\s*(?:```\w*\s*)?\{.*?"answer"\s*:\s*"([^"]*)"', re.DOTALL)


def is_refusal(reply: str) -> bool:
    """Say whether the first or the last clause of a reply's opening is the word.

    Case, quotes, brackets, Markdown marks and end tokens do not count. JSON is one if
    its `answer` is the word.

    Args:
        reply: Without reasoning. Text after its first two sentences, or 200
            characters, does not count.
    """
    opening = cut_opening(reply)
    if found := _JSON_ANSWER.match(opening.text):
        return _letters(found[1]) == SENTINEL
    clauses = [*map(_letters, _CLAUSE_END.split(_END_TOKEN.sub("\n", opening.text)))]
    if opening.is_cut:
        clauses[-1] += "…"
    said = [*filter(None, clauses)]
    return SENTINEL in (*said[:1], *said[-1:])


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()
