"""Pages of a document, each ending where the model says that a reader would pause.

`page_steps` decides everything and makes no call: it yields what to ask and is sent
the reply.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from oprag.chunk import Span
from oprag.splitting import punkt_sentence_spans

_MARKED = re.compile(r"<\s*(\d+)\s*>")
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class PagingRules:
    """Lengths in words, as blanks divide them; the papers' by default."""

    page: int = 600
    """Parts are added until there are so many."""
    earliest: int = 280
    """Places where a page may end have so many before the end of the next part."""
    rest: int = 350
    """The rest at the end, if it is less, is one page."""


class Break(NamedTuple):
    """A question where a page should end."""

    parts: tuple[str, ...]
    """Sentences of the passage, in reading order."""
    breaks: tuple[int, ...]
    """Parts before each place that may be chosen, ascending; numbered from 1. The
    last is all of them."""
    before: str
    """The page before; empty for none."""
    after: str
    """The part behind the passage; empty for none."""


def parts_of(text: str) -> list[Span]:
    """Cut a text into sentences, as the DOS RAG paper does for ReadAgent.

    Returns:
        Spans in reading order that together are the text; what lies between two
        belongs to the one before. Empty for a text of white space alone.
    """
    starts = [start for start, _ in punkt_sentence_spans(text)]
    if not starts:
        return []
    bounds = [0, *starts[1:], len(text)]
    return [Span(*pair) for pair in itertools.pairwise(bounds)]


def page_steps(
    text: str, parts: Sequence[Span], rules: PagingRules
) -> Generator[Break, str, list[Span]]:
    """Divide a text into pages.

    Yields:
        Where to ask for the end of a page. It is not asked where there is but one
        place.

    Returns:
        The pages in reading order; together they are the text. Where a reply names no
        such place, the page ends with the passage.

    Source:
        ReadAgent (arXiv 2402.09727), section 3.1; the lengths are of the authors' code.
    """
    words = [len(text[start:end].split()) for start, end in parts]
    pages: list[Span] = []
    first = 0
    while first < len(parts):
        breaks = _breaks(words[first:], rules)
        end = breaks[-1]
        if sum(words[first : first + end]) >= rules.rest and len(breaks) > 1:
            before = text[slice(*pages[-1])] if pages else ""
            passage = tuple(text[slice(*part)] for part in parts[first : first + end])
            next_part = parts[first + end : first + end + 1]
            after = "".join(text[slice(*part)] for part in next_part)
            reply = yield Break(passage, breaks, before, after)
            number = _number(reply)
            if number is not None and 1 <= number <= len(breaks):
                end = breaks[number - 1]
        pages.append(Span(parts[first].start, parts[first + end - 1].end))
        first += end
    return pages


def _breaks(words: Sequence[int], rules: PagingRules) -> tuple[int, ...]:
    """Places after which the next page may end, as numbers of parts.

    As in the authors' notebook, a place is before the part with which there are
    enough words; the last one is behind the passage.
    """
    total = words[0]
    found: list[int] = []
    before = 1
    while total < rules.page and before < len(words):
        total += words[before]
        if total >= rules.earliest:
            found.append(before)
        before += 1
    return (*found, before)


def _number(reply: str) -> int | None:
    match = _MARKED.search(reply)
    number = match.group(1) if match else None
    if number is None and (bare := _NUMBER.search(reply)):
        number = bare.group()
    return None if number is None else int(number)
