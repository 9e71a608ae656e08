"""Tell whether a reply, whole or streamed, declines: by a word, a call or a function.

Asked for the word and nothing more, models put it in quotes, after a label, before or
after a reason, or into a sentence. So it counts anywhere in the opening, which is two
sentences or 200 characters, whichever is shorter. That errs on the safe side: a refusal
that is taken for an answer is the end, and an answer that mentions the word costs one
more call. A call of the tool is a refusal, with or without a sentence before it; so is
the word alone in the place of a call.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection
from typing import NamedTuple

from oprag.calls.prompts import DECLINE_TOOL, SENTINEL, Decline
from oprag.calls.replies import may_be_reasoning, strip_reasoning
from oprag.chunk import SENTENCE_TERMINATORS
from oprag.errors import invalid_option

_LONGEST_OPENING = 200
_SENTENCE_END = re.compile(
    rf"[.!?…][\"'”’»*_)\]]*(?=\s)|(?<![{SENTENCE_TERMINATORS}])[{SENTENCE_TERMINATORS}]"
)
_WORD = re.compile(r"(?:[^\w\s]|_)*".join(SENTINEL), re.IGNORECASE)
"""The word, whatever marks are put into it: `un-answerable`, `**un**answerable`."""
_JSON_ANSWER = re.compile(r'\s*(?:```\w*\s*)?\{.*?"answer"\s*:\s*"([^"]*)"', re.DOTALL)


class Opening(NamedTuple):
    """The part of a reply that is judged."""

    text: str
    is_known: bool
    """Whether more of the reply cannot change it."""

    @property
    def is_cut(self) -> bool:
        """Whether it has the longest length, so that it may end inside a clause."""
        return self.is_known and len(self.text) == _LONGEST_OPENING


def cut_opening(reply: str) -> Opening:
    """Cut the part that is judged out of a reply."""
    text = reply.lstrip()
    ends = _SENTENCE_END.finditer(text, 0, _LONGEST_OPENING + 1)
    second = next(itertools.islice(ends, 1, None), None)
    if second and second.end() <= _LONGEST_OPENING:
        return Opening(text[: second.end()], is_known=True)
    return Opening(text[:_LONGEST_OPENING], is_known=len(text) > _LONGEST_OPENING)


def says_word(reply: str) -> bool:
    """Say whether the word is in a reply's opening.

    Case and Markdown marks do not count. JSON declines if its `answer` is the word.
    """
    opening = cut_opening(reply).text
    if found := _JSON_ANSWER.match(opening):
        return _letters(found[1]) == SENTINEL
    return _WORD.search(opening) is not None


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _letters_of_short(text: str) -> str:
    """Return the letters of a text that may be the marked word; all of a longer one."""
    return _letters(text) if len(text) <= _LONGEST_OPENING else text


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
        cut: Whether it ends at the length limit or at a filter. A function is not
            asked about such a reply, which is then no refusal.
        called: Names of the tools that it calls.
    """
    text = strip_reasoning(reply or "")
    if decline == "tool":
        return DECLINE_TOOL["name"] in called or _letters_of_short(text) == SENTINEL
    if decline == "word":
        return says_word(text)
    try:
        return not cut and bool(decline(text))
    except Exception as error:  # of a user's function: it may raise anything
        raise invalid_option("decline", decline, f"It failed: {error!r}.") from error


class DeclineDetector:
    """Takes a reply piece by piece; releases an answer, and nothing of a refusal.

    The results of `feed` and `finish`, joined, are the answer without its reasoning
    block. The verdict is that of `declines` on the whole reply, wherever the pieces
    are cut. With `decline="word"` the opening is held back, two sentences or 200
    characters; with a function, everything until the reply ends. With `"tool"` only
    text that may become the word is held back, so that text before a call has been
    released when the call comes.

    Args:
        decline: See `Decline`.
        final: For the last step, whose reply is shown whatever it says: nothing is
            held back.
    """

    def __init__(self, decline: Decline = "word", *, final: bool = False) -> None:
        self.declined: bool | None = None
        """Whether the reply declines; None until it is known, at the latest after
        `finish`. Then a call of the tool turns a supposed answer into a refusal."""
        self._decline = decline
        self._final = final
        self._reply = ""
        self._begun = False
        self._released = 0

    @property
    def shown(self) -> bool:
        """Whether anything was released."""
        return self._released > 0

    @property
    def text(self) -> str:
        """All text so far, held back or not, without reasoning; the word for a call."""
        return strip_reasoning(self._reply)

    def feed(self, delta: str, *, called: Collection[str] = ()) -> str:
        """Take the next piece of the reply; return the text that may be shown now.

        Args:
            delta: The text of the piece.
            called: Names of the tools that the reply calls so far.
        """
        self._reply += delta
        self._begun |= bool(delta.strip())
        text = self.text if self._begun else ""
        if may_be_reasoning(text):
            return ""
        is_known = cut_opening(text).is_known
        if self._decline == "tool":
            may_be_word = SENTINEL.startswith(_letters_of_short(text))
            is_known = not may_be_word or DECLINE_TOOL["name"] in called
        if self.declined is None and is_known and not callable(self._decline):
            self.declined = declines(text, self._decline, called=called)
        return self._fresh(text)

    def finish(self, *, cut: bool = False, called: Collection[str] = ()) -> str:
        """End the reply; return the rest of the text that may be shown.

        Args:
            cut: Whether it ends at the length limit or at a filter.
            called: Names of the tools that it calls.
        """
        if self._decline == "tool" or self.declined is None:
            self.declined = declines(self.text, self._decline, cut=cut, called=called)
        if self.declined and self._decline == "tool" and not self.text.strip():
            self._reply = SENTINEL
        return self._fresh(self.text)

    def _fresh(self, text: str) -> str:
        if not self._final and self.declined is not False:
            return ""
        fresh, self._released = text[self._released :], len(text)
        return fresh
