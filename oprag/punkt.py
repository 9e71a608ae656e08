"""Finds sentences by the rules of nltk's Punkt, fast and in texts of any length."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

__all__ = ["PunktFinder"]

_BLANKS = " \n\t\r\v\f"
_PLAIN_END = re.compile(rf"((?:[^\W\d_]\w+)?)[.?!][{_BLANKS}]*\S")


class PunktFinder:
    """Finds sentences as nltk does, asking it only where its rules are needed.

    Args:
        tokenizer: A `PunktSentenceTokenizer`.
    """

    def __init__(self, tokenizer: Any) -> None:
        # The two that nltk gives no other access to.
        language: Any = tokenizer._lang_vars  # noqa: SLF001
        parameters: Any = tokenizer._params  # noqa: SLF001
        self._ends_sentence = tokenizer.text_contains_sentbreak
        self._candidates = language.period_context_re()
        self._closing = language.re_boundary_realignment
        # Words that can do something else before a full stop than end a sentence.
        firsts = {first for first, _ in parameters.collocations}
        self._special = firsts.union(parameters.abbrev_types)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Find the sentences; quotes and brackets that close one belong to it."""
        starts: list[int] = []
        ends: list[int] = []
        for start, end in self._sentences(text):
            closing = None
            if starts and not text[start].isalnum():
                closing = self._closing.match(text[start:end])
            if closing is None:
                starts.append(start)
            else:
                starts.append(start + closing.end())
                ends[-1] = start + len(closing.group().rstrip())
            ends.append(end)
        return [span for span in zip(starts, ends, strict=True) if span[0] < span[1]]

    def _sentences(self, text: str) -> Iterator[tuple[int, int]]:
        """Give the spans between breaks."""
        start = 0
        for end, following in self._breaks(text):
            yield start, end
            start = following
        yield start, len(text.rstrip())

    def _breaks(self, text: str) -> Iterator[tuple[int, int]]:
        """Give where sentences end and the next begin.

        Of the candidates that no blank divides, the last one counts, with all that
        stands before it as its word; the first too, where nothing stands before it.
        A blank that begins the text divides nothing.
        """
        word = 0
        last: Any = None
        for match in self._matches(text):
            place = match.start()
            blank = _last_blank(text, 0 if last is None else last.start(), place)
            passed = last is not None and (blank > 0 or word == last.start())
            if passed and self._is_break(text, word, last):
                yield _sides(last)
            if blank > 0:
                word = blank + 1
            last = match
        if last is not None and self._is_break(text, word, last):
            yield _sides(last)

    def _matches(self, text: str) -> Iterator[Any]:
        if isinstance(self._candidates, re.Pattern):
            return self._candidates.finditer(text)
        # From nltk 3.10 on a pattern gives up after five seconds unless told not to.
        matches: Iterator[Any] = self._candidates.finditer(text, timeout=None)
        return matches

    def _is_break(self, text: str, word: int, match: Any) -> bool:
        # An ordinary word, or none, before the full stop: nothing to weigh.
        plain = _PLAIN_END.match(text, word)
        if (
            plain
            and plain.end(1) == match.start()
            and plain[1].lower() not in self._special
        ):
            return True
        return bool(self._ends_sentence(text[word : match.end("after_tok")]))


def _last_blank(text: str, start: int, end: int) -> int:
    """Find the last blank in `text[start:end]`; -1 when there is none."""
    found = -1
    for blank in _BLANKS:
        place = text.rfind(blank, start, end)
        if place > found:
            found = start = place
    return found


def _sides(match: Any) -> tuple[int, int]:
    """Where the sentence before a break ends, and the one after it begins."""
    following = match.start("next_tok")
    return match.end(), following if following >= 0 else match.end()
