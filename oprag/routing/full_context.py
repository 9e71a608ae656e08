"""The full documents of a Self-Route step, cut to the model's window if needed.

Everything sent is a slice of a document, in document order, and is counted as the
whole prompt that it stands in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from oprag.calls import (
    PromptSize,
    WindowFit,
    WindowOverflow,
    fit_window,
    truncate_middle,
)
from oprag.chunk import Chunk, Span
from oprag.errors import ContextWindowError
from oprag.routing.excerpts import (
    Excerpt,
    FullDocument,
    Layout,
    joined,
    largest_selection,
)
from oprag.tokens import NamedTokenCounter


class FullContext(NamedTuple):
    """What is sent of the documents."""

    text: str
    """As it is sent."""
    excerpts: tuple[Excerpt, ...]
    """What it is made of, in the order in which it is read."""
    action: str
    """`"whole"`, or the policy by which it was cut."""


def full_context(
    documents: Sequence[FullDocument],
    chunks: Sequence[Chunk],
    size: PromptSize,
    *,
    window_overflow: WindowOverflow = "order_preserving",
    token_counter: NamedTokenCounter,
    separator: str = "\n\n",
    named: bool = True,
) -> FullContext:
    """Return the documents whole, or as much of them as the window takes.

    Args:
        documents: In the order in which they are read.
        chunks: What was retrieved of them, best first.
        size: Of the prompt. Nothing is counted when its window is not known.
        window_overflow: As `fit_window` takes it. `"order_preserving"`: the
            retrieved chunks, best first, then what stands nearest to them, as much
            as fits, in document order. What is left empty is less than a piece:
            1/64 of the room, but at least 8 and at most 128 tokens.
            `"truncate_middle"`: see there; the documents as one text.
        token_counter: Counts tokens.
        separator: Between two documents, and where text was left out.
        named: Whether the name of each document stands before what is read of it,
            and is counted.

    Returns:
        The context. With a known window the whole prompt takes at most
        `window - reserved` tokens.

    Raises:
        ContextWindowError: See `fit_window`; or not even a piece fits.
        InvalidOptionError: See `fit_window`.
    """
    written = [document for document in documents if document.text.strip()]
    layout = Layout(written, separator, named)
    all_of_it = tuple(Excerpt(each, Span(0, len(each.text))) for each in written)
    whole = FullContext(joined(all_of_it, layout), all_of_it, "whole")
    known = size.window is not None
    overhead = size.with_context("") if known else 0
    fit = fit_window(
        size.with_context(whole.text) - overhead if known else 0,
        window=size.window,
        overhead=overhead,
        reserved=size.reserved,
        window_overflow=window_overflow,
    )
    if fit.action == "whole":
        return whole
    room = fit.room or 0
    while room > 0:
        cut = _cut(layout, chunks, fit, room, token_counter)
        excess = size.excess(cut.text) if cut else 0
        if cut and not excess:
            return cut
        room = room - excess if excess else 0
    message = (
        f"Nothing of the documents fits a window of {size.window} tokens, of which the "
        f"prompt alone takes {overhead} and {size.reserved} are kept for the answer. "
        "Give a larger max_context_tokens, or keep less for the answer."
    )
    raise ContextWindowError(message, window=size.window, needed=None)


def _cut(
    layout: Layout,
    chunks: Sequence[Chunk],
    fit: WindowFit,
    room: int,
    counter: NamedTokenCounter,
) -> FullContext | None:
    if fit.action == "order_preserving":
        kept = largest_selection(layout, chunks, room, counter)
        text = joined(kept, layout)
        return FullContext(text, tuple(kept), "order_preserving") if kept else None
    return _truncated(layout, room, counter)


def _truncated(
    layout: Layout, room: int, counter: NamedTokenCounter
) -> FullContext | None:
    if room <= counter(layout.separator):
        return None
    text = layout.separator.join(document.text for document in layout.documents)
    _, head, tail = truncate_middle(text, room, counter, mark=layout.separator)
    first: list[Excerpt] = []
    last: list[Excerpt] = []
    begin = 0
    for document in layout.documents:
        end = begin + len(document.text)
        for part, start, stop in (
            (first, begin, min(end, head)),
            (last, max(begin, tail), end),
        ):
            if start < stop:
                part.append(Excerpt(document, Span(start - begin, stop - begin)))
        begin = end + len(layout.separator)
    kept = (*first, *last)
    return FullContext(joined(kept, layout, cut=len(first)), kept, "truncate_middle")
