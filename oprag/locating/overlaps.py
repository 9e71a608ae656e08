"""The order of chunks that nobody numbered, proved by their overlaps.

A splitter that overlaps its chunks writes the end of each again at the beginning of the
next. If that joins all chunks of a page in one way, their order is known. It is a proof
only if nothing else can have made a text begin as another ends. So a link has to be
unique in the document, as long as links usually are there, and one that the splitter
can have made. The page must not repeat itself.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from statistics import median
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from oprag.locating.repeats import CountedText, has_repeated_run

_K = TypeVar("_K", bound=Hashable)

_GRAM, _STRIDE = 12, 8
"""Characters that are looked up, and the distance between places that are stored."""
_SHORTEST = _GRAM + _STRIDE
"""Characters of an overlap, at least, and of a line that proves one."""
_LONGEST = 2.0
"""How much longer than the usual one an overlap can be."""
_MANY = 40
"""Places where another text may begin, on average, that running text never reaches."""
_PAGES = 3
"""Pages that a document needs to show the text at the head and the foot of each."""
_BETWEEN = "\x00"
"""Stands between texts that are searched together, and in none of them."""
_DIGIT = re.compile("[0-9]")
_MASK = bytes.maketrans(b"123456789", b"000000000")
_SEPARATORS = ("\n\n", "\n", " ")
"""Separators between the pieces of a splitter; the first that a text has counts."""

NotChained: TypeAlias = Literal["", "unlinked", "ambiguous", "repeated", "nested"]
"""Why the order of chunks is not proved; empty if it is.

`"unlinked"`: no overlap joins all of them. `"ambiguous"`: one of them begins as several
end, or they go round in a circle. `"repeated"`: their text says something twice that is
as long as an overlap. `"nested"`: one of them is a part of another.
"""


class Chain(NamedTuple):
    """The order of the chunks of a page, as far as their overlaps prove it."""

    starts: Mapping[str, int]
    """The first character of each chunk in the text that they give together, by its
    text; empty if the order is not proved."""
    why_not: NotChained = ""
    pieces: tuple[tuple[str, ...], ...] = ()
    """The chains if no single one joins all chunks, with the texts of each in order.
    They are likely parts of the page, but not proved."""


class _Link(NamedTuple):
    """Two chunks, of which one ends as the other begins."""

    first: int
    second: int
    length: int


def chain_pages(
    pages: Mapping[_K, Collection[str]],
    wanted: Iterable[_K] | None = None,
    *,
    hidden: bool = False,
) -> dict[_K, Chain]:
    """Prove the order of the chunks of each page of a document by their overlaps.

    Args:
        pages: Texts of the chunks of each page, in any order; equal ones count once.
            Give all pages that are known of the document, as text that repeats itself
            on another page proves nothing.
        wanted: The pages to look at; None for all.
        hidden: Whether chunks may be hidden from the reader. Then a page also has to
            end as pages end, with a text that is not full.

    Returns:
        One for each page that is wanted. Nothing is assumed about chunks that are
        hidden or lost: if one is missing between others, no single chain joins these.
    """
    texts = {key: _distinct(of_page) for key, of_page in pages.items()}
    linked = {key: _find_links(of_page) for key, of_page in texts.items()}
    document = _Document([*texts.values()], [*linked.values()], hidden=hidden)
    return {
        key: _chain(texts[key], linked[key], document)
        for key in (pages if wanted is None else wanted)
    }


def _distinct(texts: Iterable[str]) -> list[str]:
    """Return the texts in sorted order, each once, without those of white space."""
    return sorted({text for text in texts if text.strip()})


def _find_links(texts: Sequence[str]) -> list[_Link] | None:
    """Return the possible links; one to a text inside another is as long as this text.

    Args:
        texts: In their order as strings.

    Returns:
        None if they are joined in far more ways than running text.
    """
    starts = _find_starts(texts)
    if starts is None:
        return None
    parents = _find_parents(texts)
    most = _MANY * len(texts)
    links = list[_Link]()
    for first, at in starts:
        rest = texts[first][at:]
        following = bisect_left(texts, rest)
        inside = following - 1
        while inside >= 0 and not rest.startswith(texts[inside]):
            inside = parents[inside]
        while inside >= 0:
            links.append(_Link(first, inside, len(texts[inside])))
            inside = parents[inside]
        while following < len(texts) and texts[following].startswith(rest):
            links.append(_Link(first, following, len(rest)))
            following += 1
        if len(links) > most:
            return None
    return sorted({link for link in links if link.first != link.second})


def _find_starts(texts: Sequence[str]) -> list[tuple[int, int]] | None:
    """Return the places in texts where another may begin; None for far too many.

    Only some places of each text are looked up, among the first few places of all
    texts. Together they meet wherever `_SHORTEST` characters are the same.
    """
    beginnings = defaultdict[str, set[int]](set)
    for text in texts:
        for ahead in range(min(_STRIDE, len(text) - _GRAM + 1)):
            beginnings[text[ahead : ahead + _GRAM]].add(ahead)
    heads = {text[:_SHORTEST] for text in texts if len(text) >= _SHORTEST}
    short = tuple([text for text in texts if len(text) < _SHORTEST])
    most = _MANY * len(texts)
    starts = list[tuple[int, int]]()
    for number, text in enumerate(texts):
        places = range(0, len(text) - _GRAM + 1, _STRIDE)
        for at in [at for at in places if text[at : at + _GRAM] in beginnings]:
            for ahead in beginnings[text[at : at + _GRAM]]:
                start = at - ahead
                head = text[start : start + _SHORTEST] if start >= 0 else ""
                is_end = start >= 0 and len(head) < _SHORTEST
                if head in heads or is_end or head.startswith(short):
                    starts.append((number, start))
        if len(starts) > most:
            return None
    return sorted({*starts})


def _find_parents(texts: Sequence[str]) -> list[int]:
    """Return for each text the longest other one that it begins with; -1 for none."""
    parents = list[int]()
    for number, text in enumerate(texts):
        at = number - 1
        while at >= 0 and not text.startswith(texts[at]):
            at = parents[at]
        parents.append(at)
    return parents


class _Document:
    """The chunks of a document, as evidence of its splitter and of repeated text."""

    def __init__(
        self,
        pages: Sequence[Sequence[str]],
        linked: Sequence[Sequence[_Link] | None],
        *,
        hidden: bool,
    ) -> None:
        self._is_strict = hidden or len(pages) < _PAGES
        every = {text for texts in pages for text in texts}
        self._all = _BETWEEN.join(sorted(every))
        self._between = next((each for each in _SEPARATORS if each in self._all), "")
        several = [text for text in every if self._between in text] or every
        pieces = self._all.replace(_BETWEEN, self._between).split(self._between or None)
        self._longest_piece = max(map(len, pieces), default=0)
        self._largest = max(map(len, several), default=0)
        lengths = list[int]()
        for links in filter(None, linked):
            best: dict[int, int] = {}
            for link in links:
                best[link.first] = max(best.get(link.first, 0), link.length)
            lengths += best.values()
        usual = median(lengths) if lengths else 0
        self._least = max(_SHORTEST, usual / 2)
        self._most = min(_LONGEST * usual, self._largest / 2)
        self._longest = max(
            [length for length in lengths if length <= self._most], default=0
        )

    def accepts(self, link: _Link, texts: Sequence[str]) -> bool:
        """Return whether a link is as long as links are here, and as unique."""
        if not self._least <= link.length <= self._most:
            return False
        shared = texts[link.second][: link.length]
        lines = sorted(map(str.strip, shared.split("\n")), key=_has_digits)
        if not any(map(self._is_unique, lines)):
            return False
        return self._is_cut_there(link, texts)

    @cached_property
    def _counted(self) -> CountedText:
        return CountedText(_encode(self._all))

    @cached_property
    def _without_numbers(self) -> CountedText:
        return CountedText(_mask(self._all))

    def _is_cut_there(self, link: _Link, texts: Sequence[str]) -> bool:
        """Return whether a splitter that fills its chunks can have cut here.

        It goes on while the next piece fits, and repeats as many pieces as fit into the
        overlap. So the text that ends a page, which is short, is followed by nothing.
        """
        first, second = texts[link.first], texts[link.second]
        before, after = first[: -link.length], second[link.length :]
        following = self._piece(after)
        preceding = self._piece(before[::-1])
        if len(first) + following <= self._largest:
            return False
        repeats_all = link.length + preceding > self._longest
        return repeats_all or link.length + preceding + following > self._largest

    def may_go_on(self, text: str) -> bool:
        """Return whether a text may have been cut where it ends, as far as is known.

        If the head and the foot of a page are the same, they join the text after the
        one to the text before the other. Then the last text is from the middle of the
        page, and full. Other pages show such heads, if they can be seen.
        """
        return self._is_strict and len(text) + self._longest_piece > self._largest

    def _piece(self, text: str) -> int:
        """Return the length of the first piece, with its white space and separator."""
        separator = self._between
        start = len(text) - len(text.lstrip())
        at = text.find(separator, start) if separator else start
        end = len(text) if at < 0 else at
        return end + len(separator)

    def _is_unique(self, line: str) -> bool:
        """Return whether a line is where two chunks overlap, and nowhere else.

        Heads of pages that differ only in the page number count as the same.
        """
        if len(line) < _SHORTEST or not self._counted.has_twice(_encode(line)):
            return False
        return not _has_digits(line) or self._without_numbers.has_twice(_mask(line))


def _has_digits(text: str) -> bool:
    return _DIGIT.search(text) is not None


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _mask(text: str) -> bytes:
    return _encode(text).translate(_MASK)


def _chain(
    texts: Sequence[str], links: Sequence[_Link] | None, document: _Document
) -> Chain:
    """Prove the order of the chunks of one page."""
    if len(texts) < 2:  # noqa: PLR2004 -- one alone needs no order
        return Chain(dict.fromkeys(texts, 0))
    if links is None:
        return Chain({}, "ambiguous")
    shortest = min(map(len, texts))
    if shortest < _SHORTEST or any(
        link.length == min(len(texts[link.first]), len(texts[link.second]))
        for link in links
    ):
        return Chain({}, "nested")
    accepted = [link for link in links if document.accepts(link, texts)]
    return _chain_by(accepted, texts, document)


def _chain_by(
    links: Sequence[_Link], texts: Sequence[str], document: _Document
) -> Chain:
    """Join texts by links that count."""
    why_not = _is_one_chain(links, len(texts))
    if why_not:
        pieces = _find_pieces(texts, links) if why_not == "unlinked" else ()
        return Chain({}, why_not, pieces)
    starts, whole = _join(texts, links)
    if document.may_go_on(max(starts, key=starts.__getitem__)):
        return Chain({}, "unlinked")
    if has_repeated_run(whole, min(link.length for link in links)):
        return Chain({}, "repeated")
    return Chain(starts)


def _is_one_chain(links: Sequence[_Link], number: int) -> NotChained:
    """Return why links do not join this number of texts in one way."""
    ends, beginnings = {link.first for link in links}, {link.second for link in links}
    if len(ends) < len(links) or len(beginnings) < len(links) or len(links) >= number:
        return "ambiguous"
    if len(links) < number - 1 or not _reaches_all(links, number):
        return "unlinked"
    return ""


def _find_pieces(
    texts: Sequence[str], links: Sequence[_Link]
) -> tuple[tuple[str, ...], ...]:
    """Return the chains of two texts or more that links join in one way."""
    following = {link.first: link for link in links}
    seconds = {link.second for link in links}
    pieces = list[tuple[str, ...]]()
    for at in [each for each in sorted(following) if each not in seconds]:
        joined = [*_walk(at, following)]
        whole = texts[at] + "".join(
            texts[link.second][link.length :] for link in joined
        )
        if not has_repeated_run(whole, min(link.length for link in joined)):
            pieces.append((texts[at], *(texts[link.second] for link in joined)))
    return tuple(pieces)


def _walk(at: int, following: Mapping[int, _Link]) -> Iterator[_Link]:
    """Yield the links from one text on."""
    while at in following:
        link = following[at]
        yield link
        at = link.second


def _reaches_all(links: Sequence[_Link], number: int) -> bool:
    """Return whether all are in one chain: else some go round in a circle."""
    following = {link.first: link.second for link in links}
    at = next(each for each in range(number) if each not in {*following.values()})
    reached = 1
    while at in following:
        at, reached = following[at], reached + 1
    return reached == number


def _join(texts: Sequence[str], links: Sequence[_Link]) -> tuple[dict[str, int], str]:
    """Return where each text of one chain begins in the text that they give."""
    following = {link.first: link for link in links}
    seconds = {link.second for link in links}
    at = next(each for each in range(len(texts)) if each not in seconds)
    start, starts, whole = 0, {texts[at]: 0}, [texts[at]]
    while at in following:
        link = following[at]
        start += len(texts[at]) - link.length
        at = link.second
        starts[texts[at]] = start
        whole.append(texts[at][link.length :])
    return starts, "".join(whole)
