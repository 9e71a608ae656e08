"""Whether a reply declines: it says one word, or a function says so.

A model is asked to write the word and nothing more. Models put it in quotes, behind a
label, before or behind a reason. So it counts as the first or the last clause of the
opening, which is two sentences or 200 characters, whichever is shorter.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Literal, TypeAlias

from oprag.calls import SENTINEL, without_reasoning

Decline: TypeAlias = Literal["word"] | Callable[[str], bool]
"""How a refusal is recognised: by the word, or by a function of the whole reply."""

LONGEST_OPENING = 200
_SENTENCE_END = re.compile(r"[.!?…][\"'”’»*_)\]]*(?=\s)|(?<![。！？।])[。！？।]")
_CLAUSE_END = re.compile(r"[\n.,:;!?…–—()\[\]{}<>。，、：；！？।؟،؛（）【】「」]|\s-\s")
_END_TOKEN = re.compile(r"<[/|][^<>\s]*>")
_JSON_ANSWER = re.compile(r'\s*(?:```\w*\s*)?\{.*?"answer"\s*:\s*"([^"]*)"', re.DOTALL)


def opening_of(reply: str) -> tuple[str, bool]:
    """Return the part of a reply that is judged.

    Args:
        reply: Without reasoning; all of it, or what has come.

    Returns:
        The opening, and whether it is complete, whatever else comes.
    """
    text = reply.lstrip()
    ends = _SENTENCE_END.finditer(text, 0, LONGEST_OPENING + 1)
    second = next(itertools.islice(ends, 1, None), None)
    if second and second.end() <= LONGEST_OPENING:
        return text[: second.end()], True
    return text[:LONGEST_OPENING], len(text) > LONGEST_OPENING


def says_word(reply: str, *, cut: bool = False) -> bool:
    """Say whether a reply declines with the word.

    Case, quotes, brackets, Markdown marks and end tokens do not count.

    Args:
        reply: Without reasoning.
        cut: Whether it was broken off, so that its last clause may not be whole.

    Returns:
        True if the first or the last clause of the opening is the word, or if the
        opening is JSON whose `answer` is.
    """
    opening, complete = opening_of(reply)
    if found := _JSON_ANSWER.match(opening):
        return _letters(found[1]) == SENTINEL
    clauses = [*map(_letters, _CLAUSE_END.split(_END_TOKEN.sub("\n", opening)))]
    if len(opening) == LONGEST_OPENING if complete else cut:
        clauses[-1] += "…"  # the clause goes on
    said = [*filter(None, clauses)]
    return SENTINEL in (*said[:1], *said[-1:])


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def word_in_reply(reply: str) -> bool:
    """Say whether the word occurs anywhere in a reply, for `decline=`.

    Source:
        Self-Route (arXiv 2407.16833) reads replies so. An answer that mentions the
        word counts as a refusal.
    """
    return SENTINEL in reply.casefold()


def declines(
    reply: str | None, decline: Decline = "word", *, cut: bool = False
) -> bool:
    """Say whether a whole reply declines to answer.

    Args:
        reply: As the model wrote it; reasoning blocks before it do not count. An
            empty one declines.
        decline: See `Decline`.
        cut: Whether it ends at the length limit or at a filter. Such a reply is no
            refusal, unless it had said the word before.
    """
    text = without_reasoning(reply or "")
    if decline == "word":
        return says_word(text, cut=cut) or not (cut or text.strip())
    return not cut and (not text.strip() or bool(decline(text)))
