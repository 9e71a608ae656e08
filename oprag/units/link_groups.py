"""Groups the documents of a link graph, on numbers alone: LongRAG's rules.

Documents are numbers from 0 in the order given, so that a million of them with
millions of links take seconds and little memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

_ALONE = -1
"""Parent of a document that is in no group yet."""


class LinkGraph:
    """Who is linked with whom, in both directions, each neighbour once.

    Args:
        n_documents: How many documents there are.
        links: Pairs of different numbers below `n_documents`. Direction, order and
            repetition mean nothing.
    """

    def __init__(self, n_documents: int, links: Iterable[tuple[int, int]]) -> None:
        codes = array("q")
        for one, other in links:
            low, high = (one, other) if one < other else (other, one)
            codes.append(low * n_documents + high)
        degrees = array("q", bytes(8 * n_documents))
        distinct = array("q")
        before = -1
        for code in sorted(codes):
            if code != before:
                distinct.append(code)
                degrees[code // n_documents] += 1
                degrees[code % n_documents] += 1
                before = code
        self.degrees: Sequence[int] = degrees
        """Neighbours of each document."""
        self._starts = array("q", accumulate(degrees, initial=0))
        self._neighbours = self._filled(n_documents, distinct)

    def _filled(self, n_documents: int, codes: Sequence[int]) -> Sequence[int]:
        neighbours = array("q", bytes(8 * self._starts[-1]))
        places = self._starts[:]
        for code in codes:
            low, high = divmod(code, n_documents)
            neighbours[places[low]] = high
            neighbours[places[high]] = low
            places[low] += 1
            places[high] += 1
        return neighbours

    def neighbours(self, document: int) -> Sequence[int]:
        """Documents that one is linked with, ascending."""
        return self._neighbours[self._starts[document] : self._starts[document + 1]]


class Group(NamedTuple):
    """Documents that form a unit together."""

    members: list[int]
    """Ascending, at least one."""
    size: int
    """Sum of their sizes."""
    made: int
    """When it became what it is: groups made earlier have a lower number."""


def group(
    sizes: Sequence[int],
    graph: LinkGraph,
    limit: int,
    *,
    leave_out: Callable[[int], bool] = lambda _: False,
) -> list[Group]:
    """Group documents with the groups of their neighbours.

    Documents are taken by their number of neighbours, fewest first. Each is joined
    with the groups that neighbours of it are already in, the smallest first, while
    the sum stays within the limit; at the first that does not fit it ends. Without
    any it starts a group. Equal numbers of neighbours stand in the order given,
    groups of equal size by their first member.

    Args:
        sizes: Tokens of each document.
        graph: Its links, for as many documents.
        limit: Tokens of a group of several documents at most. A document over it
            stays alone.
        leave_out: Whether a document, by its number, is to be in no group.

    Returns:
        The groups by their first members.

    Source:
        LongRAG (arXiv 2406.15319), as the authors' code does it. There groups of
        equal size come in the order of a set, which differs from run to run.
    """
    forest = _Forest(sizes)
    order = sorted(range(len(sizes)), key=graph.degrees.__getitem__)
    for made, document in enumerate(order):
        if leave_out(document):
            continue
        forest.start(document, made)
        beside = forest.groups_of(graph.neighbours(document))
        room = limit - sizes[document]
        for other in sorted(beside, key=forest.key):
            if forest.size[other] > room:
                break
            room -= forest.size[other]
            forest.join(document, other)
    return forest.groups()


class _Forest:
    """Disjoint groups, each named by one of its members."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.size = array("q", sizes)
        self._first = array("q", range(len(sizes)))
        self._made = array("q", bytes(8 * len(sizes)))
        self._parent = array("q", [_ALONE]) * len(sizes)

    def start(self, document: int, made: int) -> None:
        self._parent[document] = document
        self._made[document] = made

    def groups_of(self, documents: Iterable[int]) -> list[int]:
        """Names of the groups that documents are in, each once."""
        parent = self._parent
        found: dict[int, None] = {}
        for document in documents:
            name = parent[document]
            if name == _ALONE:
                continue
            while name != parent[name]:
                parent[name] = parent[parent[name]]
                name = parent[name]
            parent[document] = name
            found[name] = None
        return list(found)

    def key(self, name: int) -> tuple[int, int]:
        return self.size[name], self._first[name]

    def join(self, name: int, other: int) -> None:
        self._parent[other] = name
        self.size[name] += self.size[other]
        self._first[name] = min(self._first[name], self._first[other])

    def groups(self) -> list[Group]:
        members: dict[int, list[int]] = {}
        for document, parent in enumerate(self._parent):
            if parent != _ALONE:
                (name,) = self.groups_of((document,))
                members.setdefault(name, []).append(document)
        return [
            Group(numbers, self.size[name], self._made[name])
            for name, numbers in members.items()
        ]
