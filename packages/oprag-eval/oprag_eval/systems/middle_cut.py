"""Documents cut to the model's window by leaving out the middle, as ∞Bench does."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence

from oprag.chunk import Hit
from oprag.routing import Excerpt, RouteOptions
from oprag.tokens import resolve_token_counter


def cut_middle(
    documents: Sequence[Excerpt], _: Sequence[Hit], room: int, options: RouteOptions
) -> list[Excerpt]:
    """Select the beginning and the end of the documents, read as one text."""
    counter = resolve_token_counter(options.context.token_counter)
    separator = options.context.separator
    if room <= counter(separator):
        return []
    text = separator.join(document.text for document in documents)
    head, tail = middle_of(text, room, counter, mark=separator)
    found = []
    for start, end in ((0, head), (tail, len(text))):
        begin = 0
        for document in documents:
            first, last = max(start - begin, 0), min(end - begin, len(document.text))
            if first < last:
                found.append(document.cut(first, last))
            begin += len(document.text) + len(separator)
    return found


def middle_of(
    text: str, limit: int, token_counter: Callable[[str], int], *, mark: str = ""
) -> tuple[int, int]:
    """Return the middle to leave out, so that a limit of tokens holds.

    Beginning and end get half of the limit each, the mark in the place of the middle
    its share. The counter need not be additive: the result was counted as a whole.

    Source:
        ∞Bench (arXiv 2402.13718) cuts its prompts to the first and last half of the
        window, in tokens. We differ: the cuts fall between characters, so that any
        counter will do.
    """
    room = limit - token_counter(mark)
    while True:
        head = _largest(lambda n: token_counter(text[:n]), len(text), room // 2)
        left = room - token_counter(text[:head])
        most = len(text) - head
        tail = len(text) - _largest(
            lambda n: token_counter(text[len(text) - n :]), most, left
        )
        excess = token_counter(text[:head] + mark + text[tail:]) - limit
        if excess <= 0 or room == 0:
            return head, tail
        # Where the pieces meet, tokens may be cut differently.
        room = max(0, room - excess)


def _largest(tokens: Callable[[int], int], most: int, room: int) -> int:
    """Find how many characters take at most `room` tokens."""
    return bisect_right(range(most + 1), room, key=tokens) - 1
