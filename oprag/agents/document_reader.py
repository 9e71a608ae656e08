"""Pages of documents for a model: read by place, outlined, listed, within a budget."""

# No `from __future__ import annotations`: LlamaIndex resolves no annotations of tools.

import re
from bisect import bisect
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

from oprag.agents.names import find_meant, name_for_readers
from oprag.chunk import Chunk, FullText, Passage, Span
from oprag.citations import as_line
from oprag.context import check_option, render, too_small
from oprag.documents import DocumentSource
from oprag.effects import Effects, describe_call, describe_work
from oprag.errors import (
    DocumentNotFoundError,
    InvalidOptionError,
    OpragError,
    count_nouns,
)
from oprag.metadata import DOC_URI, PART_INDEX, as_number
from oprag.positions import PART_KEYS
from oprag.splitting import find_headings
from oprag.tokens import TokenizerSpec, resolve_token_counter

DESCRIPTIONS: Mapping[str, str] = {
    "read": (
        "Read characters of a document exactly, by the place that a citation names: "
        "to go on where a passage ends, or before it begins. Returns one page at most; "
        "read on from the character at which it ends."
    ),
    "outline": (
        "List a document's headings, or how its paragraphs begin, with their places."
    ),
    "documents": "List the documents and how long they are.",
}
"""Descriptions of the tools, for a model."""

_LONGEST_TOKEN = 8
"""The most characters per token that a page is tried with."""
_MOST_LISTED = 200
"""Lines of a list."""
_WIDTH = 80
_PARAGRAPH = re.compile(r"(?:\A|\n[ \t]*\n)\s*(?P<title>\S[^\n]*)")

Named = Annotated[str, "The document's name, as citations have it."]
From = Annotated[int | None, "First character."]
To = Annotated[int | None, "Behind the last; left out, all the rest."]
Page = Annotated[
    str | int | None, 'What the citation says before "characters": "3" of "page 3".'
]


class ToolReply(NamedTuple):
    """An answer to a model, and the passages that it shows."""

    text: str
    passages: tuple[Passage, ...] = ()


class DocumentReader:
    """Reads documents by the names and places that citations have.

    Its methods are steps, for `run_effects` and `arun_effects`.
    """

    def __init__(
        self,
        source: DocumentSource,
        *,
        token_budget: int = 2_000,
        token_counter: TokenizerSpec = None,
    ) -> None:
        check_option("token_budget", token_budget)
        check_option("token_counter", token_counter)
        self._source = source
        self._budget = token_budget
        self._counter = token_counter

    def read(
        self, document: Named, start: From = 0, end: To = None, page: Page = None
    ) -> Effects[ToolReply]:
        """Return characters after their place, as a search writes them.

        Args:
            document: Its name in citations, or the end of its path if no other has it.
            start: First character.
            end: Behind the last; None for the rest, as far as the budget goes.
            page: The name of the page in the citation.

        Returns:
            The steps. Text that goes on is cut between words, and a line says where.

        Raises:
            DocumentNotFoundError: There is no such document.
            InvalidOptionError: It has no such page, or no such characters.
            BudgetTooSmallError: Not even a word fits.
        """
        name, shown, full = yield from self._find_document(document)
        part = _choose_page(shown, full, page)
        text = part.text
        first, last = _span_in(text, start, end)

        def page_to(stop: int) -> ToolReply:
            span = Span(first, stop)
            passage = _make_passage(name, shown, part, span, exact=full.exact)
            read = render([passage], citations=True)
            if stop < last:
                read += f"\n\n[goes on at character {stop} of {len(text)}]"
            return ToolReply(read, (passage,))

        counter = resolve_token_counter(self._counter)

        def size(stop: int) -> int:
            return counter(page_to(stop).text)

        most = min(last, first + _LONGEST_TOKEN * self._budget)
        if size(most) <= self._budget:
            return page_to(most)
        reached = first + bisect(range(first + 1, most), self._budget, key=size)
        if reached == first:
            raise too_small(self._budget, size(first + 1))
        words = re.match(r"(?s).*\s", text[first:reached])
        return page_to(first + words.end() if words else reached)

    def outline(self, document: Named) -> Effects[ToolReply]:
        """List headings, or how paragraphs begin, each with its characters."""
        _, _, full = yield from self._find_document(document)
        parts, lines = _split_pages(full), []
        for label, (text, *_) in parts.items():
            titles = [(each.start, each.title) for each in find_headings(text)]
            if not titles:
                found = _PARAGRAPH.finditer(text)
                titles = [(each.start("title"), each["title"]) for each in found]
            starts = titles[:: -(-len(titles) * len(parts) // _MOST_LISTED) or 1]
            ends = [start for start, _ in starts[1:]] + [len(text)]
            for (start, title), end in zip(starts, ends, strict=True):
                place = f"{label}, " if label else ""
                line = as_line(title[:_WIDTH])
                lines.append(f"{place}characters {start}-{end}: {line}")
        return ToolReply("\n".join(lines))

    def documents(
        self, containing: Annotated[str, "Part of the name."] = ""
    ) -> Effects[ToolReply]:
        """List documents by their names in citations, with their lengths."""
        shown = yield from self._list_shown_names()
        names = sorted((each, own) for own, each in shown.items() if containing in each)
        lines = []
        for each, own in names[:_MOST_LISTED]:
            try:
                *_, found = yield from self._named(own, each)
            except OpragError as error:
                lines.append(f"{each}: can be searched, not read ({error.message})")
                continue
            parts = _split_pages(found)
            pages = "" if "" in parts else f"{count_nouns(len(parts), 'page')}, "
            length = sum(len(part.text) for part in parts.values())
            lines.append(f"{each}: {pages}{length:,} characters")
        if (left := len(names) - _MOST_LISTED) > 0:
            lines.append(f"{left:,} more: give a part of the name as `containing`.")
        return ToolReply("\n".join(lines) or "No such document is listed here.")

    def _find_document(self, document: str) -> Effects[tuple[str, str, FullText]]:
        """Find own name, shown name and text of a document."""
        try:
            shown = name_for_readers({document: document})[document]
            return (yield from self._named(document, shown))
        except DocumentNotFoundError:
            names = yield from self._list_shown_names()
        name = find_meant(document, names)
        return (yield from self._named(name, names[name]))

    def _named(self, name: str, shown: str) -> Effects[tuple[str, str, FullText]]:
        source = self._source
        try:
            found = yield describe_call(source.read, source.aread, name)
        except OpragError as error:
            error.message = error.message.replace(name, shown)
            raise
        return name, shown, found

    def _list_shown_names(self) -> Effects[dict[str, str]]:
        names = yield describe_work(self._source.called)
        return name_for_readers(names)


def answer_refusal(steps: Effects[ToolReply]) -> Effects[ToolReply]:
    """Answer in plain words if steps are refused: no agent's run ends by it."""
    try:
        return (yield from steps)
    except OpragError as error:
        return ToolReply(error.message)


class _ShownPage(NamedTuple):
    """A page of a document, or all of it."""

    text: str
    metadata: Mapping[str, Any] = MappingProxyType({})
    name: str | None = None
    """Its name for readers; None for a document of one text."""


def _split_pages(full: FullText) -> dict[str, _ShownPage]:
    """Return the pages by their names for readers; "" for one text."""
    if not full.pages:
        return {"": _ShownPage(full.text)}
    return {
        name: _ShownPage(full.text[slice(*span)], metadata, name)
        for name, (metadata, span) in zip(full.page_names(), full.pages, strict=True)
    }


def _choose_page(name: str, full: FullText, page: str | int | None) -> _ShownPage:
    parts = _split_pages(full)
    for label in (str(page or ""), f"page {page}"):
        if label in parts:
            return parts[label]
    if "" in parts:
        message = f"{name!r} has no pages: leave `page` out."
    else:
        listed = ", ".join([*parts][:_MOST_LISTED])
        message = f"{name!r} has pages. Say which, as its citation does: {listed}."
    raise InvalidOptionError(message, option="page", value=page)


def _span_in(text: str, start: int | None, end: int | None) -> Span:
    start = start or 0
    first = as_number(start)
    last = len(text) if end is None else as_number(end)
    if first is not None and last is not None and first < last <= len(text):
        return Span(first, last)
    message = (
        f"There are no characters {start} to {'the end' if end is None else end}: the "
        f"text has {len(text):,}, and the end is exclusive."
    )
    raise InvalidOptionError(message, option="start", value=start)


def _make_passage(
    name: str, shown: str, part: _ShownPage, span: Span, *, exact: bool
) -> Passage:
    number = as_number(part.metadata.get(PART_INDEX))
    named = {key: part.metadata[key] for key in PART_KEYS if key in part.metadata}
    chunk = Chunk(
        part.text[slice(*span)],
        name,
        0,
        (number or 0, *span),
        span,
        number,
        document_name=shown,
        metadata={DOC_URI: name, **named},
        proof="compared" if exact else "recorded",
        pages=((part.name, Span(0, len(part.text))),) if part.name else None,
    )
    return Passage(chunk.text, chunk.document_key, (chunk,), (span,))
