"""Whether a reply declines: by a word, by a call, or as a function says; also streamed.

Asked for the word and nothing more, models put it in quotes, after a label, before or
after a reason. So it counts as the first or the last clause of the opening, which is
two sentences or 200 characters, whichever is shorter. A call cannot be misread: text is
an answer, and a call of the tool instead of text a refusal.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection

from oprag.calls import (
    DECLINE_TOOL,
    SENTINEL,
    Decline,
    may_be_reasoning,
    without_reasoning,
)
from oprag.chunk import OTHER_ENDS
from oprag.errors import invalid_option

LONGEST_OPENING = 200
_SENTENCE_END = re.compile(
    rf"[.!?…][\"'”’»*_)\]]*(?=\s)|(?<![{OTHER_ENDS}])[{OTHER_ENDS}]"
)
_CLAUSE_END = re.compile(
    rf"[\n.,:;!?…–—()\[\]{{}}<>{OTHER_ENDS}，、：；،؛（）【】「」]|\s-\s"
)
_END_TOKEN = re.compile(r"<[/|][^<>\s]*>")
_JSON_ANSWER = re.compile(r'\s*(?:```\w*\s*)?\{.*?"answer"\s*:\s*"([^"]*)"', re.DOTALL)


def opening_of(reply: str) -> tuple[str, bool]:
    """Return the part of a reply that is judged, and whether more cannot change it."""
    text = reply.lstrip()
    ends = _SENTENCE_END.finditer(text, 0, LONGEST_OPENING + 1)
    second = next(itertools.islice(ends, 1, None), None)
    if second and second.end() <= LONGEST_OPENING:
        return text[: second.end()], True
    return text[:LONGEST_OPENING], len(text) > LONGEST_OPENING


def says_word(reply: str, *, cut: bool = False) -> bool:
    """Say whether the first or the last clause of a reply's opening is the word.

    Case, quotes, brackets, Markdown marks and end tokens do not count. JSON declines if
    its `answer` is the word; the last clause of a reply that was `cut` goes on.
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
    reply: str | None,
    decline: Decline = "word",
    *,
    cut: bool = False,
    called: Collection[str] = (),
) -> bool:
    """Say whether a whole reply declines to answer.

    Args:
        reply: As the model wrote it; reasoning blocks before it do not count. An
            empty one is no refusal, unless a function says so.
        decline: See `Decline`.
        cut: Whether it ends at the length limit or at a filter. Such a reply is no
            refusal, unless it had said the word before.
        called: Names of the tools that it calls.
    """
    text = without_reasoning(reply or "")
    if decline == "tool":
        return DECLINE_TOOL["name"] in called and not text.strip()
    if decline == "word":
        return says_word(text, cut=cut)
    try:
        return not cut and bool(decline(text))
    except Exception as error:  # of a user's function: it may raise anything
        raise invalid_option("decline", decline, f"It failed: {error!r}.") from error


class DeclineDetector:
    """Takes a reply piece by piece; releases an answer, and nothing of a refusal.

    What `feed` and `finish` return, joined, is the answer without its reasoning
    block. The verdict is that of `declines` on the whole reply, wherever the pieces
    are cut. With `decline="word"` the opening is held back, two sentences or 200
    characters; with `"tool"` nothing but blanks; with a function, everything until the
    reply ends.

    Args:
        decline: See `Decline`.
        final: For the last step, whose reply is shown whatever it says: nothing is
            held back.
    """

    def __init__(self, decline: Decline = "word", *, final: bool = False) -> None:
        self.declined: bool | None = None
        """Whether the reply declines; None until it is known, at the latest after
        `finish`."""
        self._decline = decline
        self._final = final
        self._reply = ""
        self._begun = False
        self._released = 0

    @property
    def text(self) -> str:
        """All text so far, held back or not, without reasoning; the word for a call."""
        return without_reasoning(self._reply)

    def feed(self, delta: str) -> str:
        """Take the next piece of the reply; return what may be shown now."""
        self._reply += delta
        self._begun |= bool(delta.strip())
        text = self.text if self._begun else ""
        if may_be_reasoning(text):
            return ""
        known = {"tool": True, "word": opening_of(text)[1]}
        if self.declined is None and known.get(str(self._decline)):
            self.declined = self._decline == "word" and says_word(text)
        return self._fresh(text)

    def finish(self, *, cut: bool = False, called: Collection[str] = ()) -> str:
        """End the reply; return the rest of what may be shown.

        Args:
            cut: Whether it ends at the length limit or at a filter.
            called: Names of the tools that it calls.
        """
        if self.declined is None:
            self.declined = declines(self.text, self._decline, cut=cut, called=called)
            if self.declined and self._decline == "tool":
                self._reply = SENTINEL
        return self._fresh(self.text)

    def _fresh(self, text: str) -> str:
        if not self._final and self.declined is not False:
            return ""
        fresh, self._released = text[self._released :], len(text)
        return fresh
