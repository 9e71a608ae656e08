"""Long retrieval units: documents grouped by their links (LongRAG)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from oprag.chunk import Span
from oprag.errors import (
    InvalidOptionError,
    PositionError,
    invalid_option,
    named,
    written,
)
from oprag.metadata import named_id
from oprag.splitting import split_sentences
from oprag.tokens import NamedTokenCounter, TokenizerSpec, resolve_token_counter
from oprag.units.link_groups import Group, LinkGraph, group
from oprag.units.links import find_links, neighbour_links

_LINES = re.compile(r"[^\n]*\n+|[^\n]+")
_MOST_LINKS = 10_000
"""The authors' code leaves out documents with more."""


def group_documents(
    documents: Mapping[str, str] | Mapping[str, int],
    links: Iterable[tuple[str, str]] | None = None,
    max_tokens: int = 4000,
    token_counter: TokenizerSpec = None,
    *,
    compat: Literal["official"] | None = None,
    read: Callable[[str], str] | None = None,
) -> list[LongUnit]:
    """Group documents into long units by their links.

    See `link_groups.group` for the rule. A document without links is a unit by
    itself. One of more than `max_tokens` becomes consecutive units of at most as
    many, cut at line ends where there are some (a single grapheme of more tokens
    stays whole). An empty document is a member like any other, and adds no text.

    Args:
        documents: Texts by document name, or tokens by document name. Their order is
            the order of the members and of ties.
        links: Pairs of names; direction, order and repetition mean nothing, nor
            does a link of a document to itself. None: those in the texts, else
            neighbours in a folder (see `oprag.units.links`).
        max_tokens: Tokens of a unit at most, its documents counted alone.
        token_counter: Anything that `resolve_token_counter` takes; for texts.
        compat: `"official"` groups as the authors' code does: documents that are
            empty, without links, or with more than 10,000 are lost, and if none is,
            the group that was finished first; an over-long document stays whole;
            units come in the order in which they were finished.
        read: Gives the text of a document that is over `max_tokens`, to cut it, where
            tokens are given; no other is asked for.

    Returns:
        The units, by their first members. The same for every order of the links.

    Raises:
        InvalidOptionError: A link leads to a document that is not there,
            `max_tokens` is below 1, a value is neither a text nor a number of
            tokens, or a document is over `max_tokens` and its text is not there.
        TokenizerError: As `resolve_token_counter` raises it.

    Source:
        LongRAG (arXiv 2406.15319). The authors lose documents; here none is lost.

    Example:
        >>> texts = {"a": "one two", "b": "three", "c": "four five", "d": "six"}
        >>> units = group_documents(
        ...     texts, [("b", "a"), ("b", "c")], 4, lambda text: len(text.split())
        ... )
        >>> [(unit.documents, unit.tokens) for unit in units]
        [(('a', 'b'), 3), (('c',), 2), (('d',), 1)]
    """
    if not isinstance(documents, Mapping):
        message = f"documents= is {named(documents)}. It takes {{name: text}}."
        raise InvalidOptionError(message, option="documents", value=documents)
    if type(max_tokens) is not int or max_tokens < 1:
        raise invalid_option("max_tokens", max_tokens, "It takes a number from 1.")
    if compat not in {None, "official"}:
        raise invalid_option("compat", compat, "It takes None or 'official'.")
    names = list(documents)
    texts = {name: value for name, value in documents.items() if isinstance(value, str)}
    counter = resolve_token_counter(token_counter if texts or read else "approximate")
    sizes = [_size(name, value, counter) for name, value in documents.items()]
    if links is None:
        links = find_links(texts) or neighbour_links(names)
    graph = LinkGraph(len(names), _numbered(names, links))
    if compat == "official":
        return [
            LongUnit(tuple([names[member] for member in members]), size)
            for members, size, _ in _official(sizes, graph, max_tokens)
        ]
    units: list[LongUnit] = []
    for members, size, _ in group(sizes, graph, max_tokens):
        unit = LongUnit(tuple([names[member] for member in members]), size)
        if size > max_tokens:
            text = texts.get(unit.name) if read is None else read(unit.name)
            units += _parts(unit, text, max_tokens, counter)
        else:
            units.append(unit)
    return units


def _official(sizes: list[int], graph: LinkGraph, max_tokens: int) -> list[Group]:
    def lost(document: int) -> bool:
        return not sizes[document] or not 0 < graph.degrees[document] <= _MOST_LINKS

    groups = group(sizes, graph, max_tokens, leave_out=lost)
    groups.sort(key=lambda made: made.made)
    unlinked = any(size and lost(number) for number, size in enumerate(sizes))
    # Their code takes the first id for that of the documents in no group.
    return groups if unlinked else groups[1:]


def _parts(
    unit: LongUnit, text: str | None, max_tokens: int, counter: NamedTokenCounter
) -> Iterator[LongUnit]:
    if text is None:
        message = (
            f"Document {unit.name!r} has {unit.tokens} tokens, more than max_tokens, "
            "and its text is not there to be cut. Give read=, a function from its name "
            "to its text."
        )
        raise InvalidOptionError(message, option="read", value=None)
    pieces = split_sentences(
        text,
        chunk_size=max_tokens,
        tokenizer=counter,
        sentence_spans=lambda text: [line.span() for line in _LINES.finditer(text)],
    )
    for part, (start, end, tokens) in enumerate(pieces):
        yield LongUnit(unit.documents, tokens, Span(start, end), part)


def _size(name: str, value: str | int, counter: NamedTokenCounter) -> int:
    if isinstance(value, str):
        return counter(value) if value else 0
    if type(value) is int and value >= 0:
        return value
    message = (
        f"documents= has {written(value):.60} for {name!r}, which is neither a text "
        "nor a number of tokens."
    )
    raise InvalidOptionError(message, option="documents", value=name)


def _numbered(
    names: list[str], links: Iterable[tuple[str, str]]
) -> Iterator[tuple[int, int]]:
    numbers = {name: number for number, name in enumerate(names)}
    for link in links:
        try:
            first, second = (numbers[name] for name in link)
        except KeyError as error:
            message = (
                f"The link {link!r} names the document {error.args[0]!r}, which is not "
                "among documents=. Leave it out."
            )
            raise InvalidOptionError(message, option="links", value=link) from None
        if first != second:
            yield first, second


@dataclass(frozen=True, slots=True)
class LongUnit:
    """One or more whole documents, or a part of one that is too long.

    Every document is in exactly one unit, or in consecutive units of its own.
    """

    documents: tuple[str, ...]
    """Names of its documents, in the order in which they were given; at least one."""
    tokens: int
    """Tokens of its documents, each counted alone, or of the part. What is put
    between documents when they are sent is not in it."""
    span: Span | None = None
    """Characters of its one document; None when it holds whole documents."""
    part: int | None = None
    """Number of the part, from 0; None when it holds whole documents."""

    @property
    def name(self) -> str:
        """Name of its one document; of several a JSON list of their names."""
        if len(self.documents) == 1:
            return self.documents[0]
        return json.dumps(self.documents, ensure_ascii=False)

    @property
    def id(self) -> str:
        """A UUID made of its name and part, the same on every machine."""
        return named_id(f"long unit\n{self.name}\n{self.part or 0}")

    def text(self, read: Callable[[str], str], separator: str = "\n\n") -> str:
        """Return its text.

        Args:
            read: Gives the full text of a document by its name.
            separator: Put between documents; empty ones are left out.

        Raises:
            PositionError: A document is shorter than it was.
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
        if self.span.end > len(read(name)):
            message = (
                f"Document {name!r} has {len(read(name))} characters, and a unit of it "
                f"ends at {self.span.end}. It was changed since; group again."
            )
            raise PositionError(
                message,
                kind="invalid_span",
                document=name,
                start=self.span.start,
                end=self.span.end,
            )
        return [self.span]
