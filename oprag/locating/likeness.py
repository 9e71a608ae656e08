"""Chunks that are the same but for white space, so that this alone tells them apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from oprag.locating.chunks_in_order import Location
from oprag.locating.squeezing import squeeze


def exchangeable(
    source: str, texts: Sequence[str], found: Sequence[Location], *, given: bool = False
) -> list[int]:
    """Return the numbers of the chunks that may stand where another one was found.

    Places are found without regard to white space. So of chunks that differ in nothing
    else, each has to have at its place the white space that it has itself. A text that
    stands nowhere as it is, as its splitter altered its white space, has the place
    that the others leave, if it is the only one. White space around a chunk does not
    count, nor do chunks whose texts are equal: it makes no difference which is which.

    Args:
        source: The text.
        texts: The texts of the chunks.
        found: Where they were found, one per chunk.
        given: Whether the order of the chunks was handed over, so that several altered
            texts stand as they were given.
    """
    alike: dict[str, dict[str, list[int]]] = {}
    for i, text in enumerate(texts):
        alike.setdefault(squeeze(text), {}).setdefault(text.strip(), []).append(i)
    doubtful: list[int] = []
    for bodies in alike.values():
        elsewhere = [
            body
            for body, numbers in bodies.items()
            if not all(_is_there(source, body, found[i]) for i in numbers)
        ]
        if len(bodies) > 1 and (
            (len(elsewhere) > 1 and not given)
            or any(body in source for body in elsewhere)
        ):
            doubtful += sorted(chain(*bodies.values()))
    return doubtful


def _is_there(source: str, body: str, location: Location) -> bool:
    span = location.span
    return span is not None and source[slice(*span)].strip() == body
