"""Long retrieval units: documents grouped by their links (LongRAG)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from oprag.chunk import Span
from oprag.documents import document_source
from oprag.errors import (
    InvalidOptionError,
    PositionError,
    describe_type,
    invalid_option,
)
from oprag.metadata import make_named_id, text_hash
from oprag.splitting import split_sentences
from oprag.tokens import TokenizerSpec, resolve_token_counter
from oprag.units.links import find_links, neighbour_links

_LINES = re.compile(r"[^\n]*\n+|[^\n]+")
_MOST_LINKS = 10_000
"""The authors' code leaves out documents with more."""


def group_documents(
    documents: Mapping[str, str] | Sequence[Any],
    links: Iterable[tuple[str, str]] | None = None,
    max_tokens: int = 4000,
    token_counter: TokenizerSpec = None,
    *,
    compat: Literal["official"] | None = None,
) -> list[LongUnit]:
    """Group documents into long units by their links.

    Documents are taken by their number of neighbours, fewest first. Each is joined
    with the groups that neighbours of it are already in, the smallest first, while
    the sum stays within `max_tokens`, up to the first that does not fit. If it joins
    none, it starts a group. Equal numbers of neighbours stand in the order given,
    groups of equal size by their first member.

    A document without links is a unit by itself. One of more than `max_tokens` becomes
    consecutive units of at most as many, cut at line ends if there are any (a single
    grapheme of more tokens stays whole). An empty document is a member like any other,
    and adds no text.

    Args:
        documents: Texts by document name, or a list of LangChain's or LlamaIndex's
            documents. Their order is the order of the members and of ties.
        links: Pairs of names; direction, order and repetition mean nothing, nor
            does a link of a document to itself. None: those in the texts, else
            neighbours in a folder (see `oprag.units.links`).
        max_tokens: Tokens of a unit at most, its documents counted alone.
        token_counter: Anything that `resolve_token_counter` takes.
        compat: `"official"` groups as the authors' code does. Documents that are
            empty, without links, or with over 10,000 links are lost, and if none is,
            the group that was finished first. An over-long document stays whole.
            Units come in the order in which they were finished.

    Returns:
        The units, by their first members. The same for every order of the links.

    Raises:
        InvalidOptionError: `documents` are not texts by name, a link leads to a
            document that is not there, or `max_tokens` is below 1.
        TokenizerError: As `resolve_token_counter` raises it.

    Source:
        LongRAG (arXiv 2406.15319). The authors lose documents; here none is lost, and
        groups of equal size do not come in the order of a set.

    Example:
        >>> texts = {"a": "one two", "b": "three", "c": "four five", "d": "six"}
        >>> units = group_documents(
        ...     texts, [("b", "a"), ("b", "c")], 4, lambda text: len(text.split())
        ... )
        >>> [(unit.documents, unit.tokens) for unit in units]
        [(('a', 'b'), 3), (('c',), 2), (('d',), 1)]
    """
    texts = _load_texts(documents)
    if type(max_tokens) is not int or max_tokens < 1:
        raise invalid_option("max_tokens", max_tokens, "It takes a number from 1.")
    if compat not in (None, "official"):
        raise invalid_option("compat", compat, "It takes None or 'official'.")
    names = list(texts)
    counter = resolve_token_counter(token_counter)
    sizes = [counter(text) if text else 0 for text in texts.values()]
    if links is None:
        links = find_links(texts) or neighbour_links(names)
    neighbours = _neighbours(names, links)
    groups = (_group_by_links if compat is None else _official)(
        sizes, neighbours, max_tokens
    )
    units: list[LongUnit] = []
    for group in groups:
        unit = LongUnit(tuple([names[member] for member in group.members]), group.size)
        if unit.tokens > max_tokens and compat is None:
            hashed = text_hash(texts[unit.name])
            pieces = split_sentences(
                texts[unit.name],
                chunk_size=max_tokens,
                tokenizer=counter,
                sentence_spans=lambda t: [line.span() for line in _LINES.finditer(t)],
            )
            units += [
                LongUnit(unit.documents, tokens, Span(start, end), part, hashed)
                for part, (start, end, tokens) in enumerate(pieces)
            ]
        else:
            units.append(unit)
    return units


def _load_texts(documents: Any) -> Mapping[str, str]:
    if isinstance(documents, (list, tuple)):
        source = document_source(documents)
        return {name: source.get(name) for name in source.names()}
    is_mapping = isinstance(documents, Mapping)
    for text in [*documents, *documents.values()] if is_mapping else [documents]:
        if not isinstance(text, str) or not is_mapping:
            takes = "{name: text}, or a list of documents"
            message = f"documents= takes {takes}, but got {describe_type(text)}."
            raise InvalidOptionError(message, option="documents", value=documents)
    return documents  # type: ignore[no-any-return]  # they are texts


class _Unit(NamedTuple):
    """Documents that form a unit together, as their numbers."""

    members: tuple[int, ...]
    """Ascending, at least one."""
    size: int
    """Sum of their sizes."""
    made: int
    """The order of making: groups made earlier have a lower number."""


def _group_by_links(
    sizes: Sequence[int],
    neighbours: Sequence[Collection[int]],
    limit: int,
    lost: Collection[int] = (),
) -> list[_Unit]:
    """Group documents by the rule of `group_documents`."""
    group_of: dict[int, _Unit] = {}
    order = sorted(range(len(sizes)), key=lambda number: len(neighbours[number]))
    for made, number in enumerate(order):
        if number in lost:
            continue
        members: tuple[int, ...] = (number,)
        size = sizes[number]
        near = [group_of[other] for other in neighbours[number] if other in group_of]
        beside = {group.made: group for group in near}.values()
        for group in sorted(beside, key=lambda group: (group.size, group.members)):
            if size + group.size > limit:
                break
            members, size = members + group.members, size + group.size
        joined = _Unit(tuple(sorted(members)), size, made)
        group_of |= dict.fromkeys(members, joined)
    return sorted({group.made: group for group in group_of.values()}.values())


def _official(
    sizes: Sequence[int], neighbours: Sequence[Collection[int]], limit: int
) -> list[_Unit]:
    """Group documents as the authors' code does, with the same ones lost."""
    lost = {
        number
        for number, size in enumerate(sizes)
        if not size or not 0 < len(neighbours[number]) <= _MOST_LINKS
    }
    groups = _group_by_links(sizes, neighbours, limit, lost)
    groups.sort(key=lambda group: group.made)
    # Their code takes the first id for that of the documents in no group.
    return groups if any(sizes[number] for number in lost) else groups[1:]


def _neighbours(
    names: Sequence[str], links: Iterable[tuple[str, str]]
) -> list[set[int]]:
    numbers = {name: number for number, name in enumerate(names)}
    neighbours: list[set[int]] = [set() for _ in names]
    for link in links if isinstance(links, Iterable) else [links]:
        try:
            first, second = (numbers[name] for name in link)
        except KeyError as error:
            message = (
                f"The link {link!r} names the document {error.args[0]!r}, which is not "
                "among documents=. Leave it out."
            )
            raise InvalidOptionError(message, option="links", value=link) from None
        except (TypeError, ValueError) as error:
            takes = 'It takes pairs of names: [("a.md", "b.md")].'
            raise invalid_option("links", link, takes) from error
        if first != second:
            neighbours[first].add(second)
            neighbours[second].add(first)
    return neighbours


@dataclass(frozen=True, slots=True)
class LongUnit:
    """One or more whole documents, or a part of one that is too long.

    Every document is in exactly one unit, or alone in consecutive units.
    """

    documents: tuple[str, ...]
    """Names of its documents, in the order in which they were given; at least one."""
    tokens: int
    """Tokens of its documents, each counted alone, or of the part. Separators between
    documents that are sent are not in it."""
    span: Span | None = None
    """Characters of its one document; None when it holds whole documents."""
    part: int | None = None
    """Number of the part, from 0; None when it holds whole documents."""
    text_hash: str = ""
    """Hash of its one document's text; empty when it holds whole documents."""

    @property
    def name(self) -> str:
        """Name of its one document; of several a JSON list of their names."""
        if len(self.documents) == 1:
            return self.documents[0]
        return json.dumps(self.documents, ensure_ascii=False)

    @property
    def id(self) -> str:
        """A UUID made of its name and part, the same on every machine."""
        return make_named_id(f"long unit\n{self.name}\n{self.part or 0}")

    def text(self, read: Callable[[str], str], separator: str = "\n\n") -> str:
        """Return the text of the unit.

        Args:
            read: Gives the full text of a document by its name.
            separator: Put between documents; empty ones are left out.

        Raises:
            PositionError: A document that it belongs to was changed.
        """
        spans = self.spans(read)
        texts = [
            read(name)[span.start : span.end]
            for name, span in zip(self.documents, spans, strict=True)
        ]
        return separator.join(text for text in texts if text)

    def spans(self, read: Callable[[str], str]) -> list[Span]:
        """Return the characters that it holds of each of its documents.

        Args and errors are those of `text`.
        """
        if self.span is None:
            return [Span(0, len(read(name))) for name in self.documents]
        (name,) = self.documents
        if text_hash(read(name)) != self.text_hash:
            message = f"Document {name!r} was changed after grouping: group again."
            raise PositionError(
                message,
                kind="invalid_span",
                document=name,
                start=self.span.start,
                end=self.span.end,
            )
        return [self.span]
