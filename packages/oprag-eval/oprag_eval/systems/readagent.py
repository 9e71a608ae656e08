"""ReadAgent (arXiv 2402.09727): gists of all pages, and a few pages in full."""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from oprag.calls import TokenUsage
from oprag.chunk import Span
from oprag_eval.bench import Bench
from oprag_eval.data import Question
from oprag_eval.model_texts import gist_call, kept_reply, look_up_call, page_break_call
from oprag_eval.requests import choice_question, read
from oprag_eval.system import Attempt, Context, Count, Piece, Step, System
from oprag_eval.systems.pages import Break, PagingRules, page_steps, parts_of
from oprag_eval.workers import map_concurrently


class _Memory(NamedTuple):
    """Pages of a document in reading order, and a gist of each."""

    pages: Sequence[Span]
    gists: Sequence[str]
    usage: TokenUsage
    """Tokens of all calls for it, made now or before."""


async def _memory_of(text: str, rules: PagingRules, bench: Bench) -> _Memory:
    """Divide a text and have each page retold; every reply is kept (`kept_reply`)."""
    steps = page_steps(text, parts_of(text), rules)
    pages, usage = await _paged(steps, bench)
    calls = [gist_call(text[slice(*page)]) for page in pages]
    gists = await map_concurrently(partial(kept_reply, bench), calls)
    return _Memory(
        pages,
        [gist.text.strip() for gist in gists],
        sum((gist.usage for gist in gists), usage),
    )


async def _paged(
    steps: Generator[Break, str, list[Span]], bench: Bench
) -> tuple[list[Span], TokenUsage]:
    """Ask page by page: where one ends decides what the next is asked about."""
    usage = TokenUsage()
    try:
        asked = next(steps)
        while True:
            completion = await kept_reply(bench, page_break_call(*asked))
            usage += completion.usage
            asked = steps.send(completion.text)
    except StopIteration as stop:
        return stop.value, usage


_SEPARATOR = "\n\n"
_LIST = re.compile(r"\[([^\[\]]*)\]")


class _Page(NamedTuple):
    gist: str
    text: str
    piece: Piece
    """Of the full page."""


@dataclass(frozen=True, kw_only=True)
class ReadAgent(System):
    """Reads the gists of all pages, and in their places the pages that were looked up.

    Its tokens stand by stage: pages and gists under `index`, the look-up under
    `retrieve`, the answer under `answer`. The defaults are the DOS RAG paper's.
    """

    name: str = "readagent"
    pages: Count = 6
    """Pages that may be looked up."""
    page_words: Count = 600
    """Words of a page, about."""

    budgeted = False
    """The model decides how much it looks up."""

    async def attempt(
        self,
        question: Question,
        budget: int | None,  # noqa: ARG002 -- it has none
        bench: Bench,
    ) -> Attempt:
        """Make pages and gists if they are not there, look up, and answer."""
        rules = PagingRules(self.page_words)
        pages: list[_Page] = []
        usage = TokenUsage()
        for document in bench.documents(question):
            memory = await _memory_of(document.text, rules, bench)
            usage += memory.usage
            for span, gist in zip(memory.pages, memory.gists, strict=True):
                piece = Piece(document.doc_id, *span)
                pages.append(_Page(gist, document.text[slice(*span)], piece))
        # Options stay lettered here, whatever the style: pages have the numbers.
        call = look_up_call(
            choice_question(question),
            question.options,
            [page.gist for page in pages],
            self.pages,
        )
        completion = await bench.model.complete(call)
        wanted = named_pages(completion.text, len(pages), self.pages)
        retrieve = completion.usage
        looked = Step("look_up", completion.text, declined=False, usage=retrieve)
        context = _context(pages, wanted)
        return await read(
            question, context, bench, looked, index=usage, retrieve=retrieve
        )


def named_pages(reply: str, n_pages: int, most: int) -> list[int]:
    """Read which pages a reply names.

    Args:
        reply: Numbers from 1 in square brackets, such as `[3, 7]`; of several
            brackets the first that holds one.
        n_pages: How many pages there are.
        most: How many may be named; those named first are taken.

    Returns:
        Their indices from 0, ascending, each once. Pages that do not exist are left
        out; empty where none is named.
    """
    for found in _LIST.findall(reply):
        numbers = [int(number) for number in re.findall(r"\d+", found)]
        if numbers:
            known = [number - 1 for number in numbers if 1 <= number <= n_pages]
            return sorted(list(dict.fromkeys(known))[:most])
    return []


def _context(pages: Sequence[_Page], wanted: Collection[int]) -> Context:
    texts: list[str] = []
    pieces: list[Piece] = []
    for number, page in enumerate(pages):
        if number in wanted:
            texts.append(page.text.strip())
            pieces.append(page.piece)
        else:
            texts.append(page.gist)
            pieces.append(Piece(page.piece.document, note="gist"))
    return Context(_SEPARATOR.join(texts), tuple(pieces))
