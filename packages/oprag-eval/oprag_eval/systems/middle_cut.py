"""Documents cut to the model's window by leaving out the middle, as ∞Bench does."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

from oprag.chunk import Chunk, Span
from oprag.errors import invalid_option
from oprag.routing import Excerpt, FullDocument, RouteOptions
from oprag.tokens import resolve_token_counter


def cut_middle(
    documents: Sequence[FullDocument],
    _: Sequence[Chunk],
    room: int,
    options: RouteOptions,
) -> list[Excerpt]:
    """Select the beginning and the end of the documents, read as one text."""
    counter = resolve_token_counter(options.context.token_counter)
    separator = options.context.separator
    if room <= counter(separator):
        return []
    text = separator.join(document.text for document in documents)
    cut = truncate_middle(text, room, counter, mark=separator)
    found = []
    for start, end in ((0, cut.head), (cut.tail, len(text))):
        begin = 0
        for document in documents:
            first, last = max(start - begin, 0), min(end - begin, len(document.text))
            if first < last:
                found.append(Excerpt(document, Span(first, last)))
            begin += len(document.text) + len(separator)
    return found


class MiddleCut(NamedTuple):
    """A text without its middle."""

    text: str
    """The beginning, the mark and the end; the text itself where it fits."""
    head: int
    """The start of the middle, in characters of the whole text."""
    tail: int
    """Its end; the same as `head` where nothing is cut."""


def truncate_middle(
    text: str, limit: int, token_counter: Callable[[str], int], *, mark: str = ""
) -> MiddleCut:
    """Keep the beginning and the end of a text, each half of a token limit.

    Args:
        text: Any text.
        limit: Tokens that the result may take, at least 1. The first half is
            rounded down.
        token_counter: Counts tokens. It need not be additive: what is returned
            was counted as a whole.
        mark: Put where the middle was; it counts towards the limit.

    Returns:
        The text itself if it fits. Otherwise a beginning, the mark and an end of
        it, cut between characters, never more than `limit` tokens.

    Raises:
        InvalidOptionError: The limit is below 1, or the mark alone exceeds it.

    Source:
        ∞Bench (arXiv 2402.13718) cuts its prompts to the first and last half of
        the window, in tokens. We differ: the cuts fall between characters, so
        that any counter will do.
    """
    room = limit - token_counter(mark)
    if limit < 1 or room < 0:
        least = f"at least 1 token and the {limit - room} of the mark"
        raise invalid_option("limit", limit, f"It takes {least}.")
    if token_counter(text) <= limit:
        return MiddleCut(text, len(text), len(text))
    while True:
        head = _largest(lambda n: token_counter(text[:n]), len(text), room // 2)
        left = room - token_counter(text[:head])
        most = len(text) - head
        kept = _largest(lambda n: token_counter(text[len(text) - n :]), most, left)
        tail = len(text) - kept
        result = text[:head] + mark + text[tail:]
        excess = token_counter(result) - limit
        if excess <= 0 or room == 0:
            return MiddleCut(result, head, tail)
        # Where the pieces meet, tokens may be cut differently.
        room = max(0, room - excess)


def _largest(tokens: Callable[[int], int], most: int, room: int) -> int:
    """Find how many characters take at most `room` tokens."""
    return bisect_right(range(most + 1), room, key=tokens) - 1
