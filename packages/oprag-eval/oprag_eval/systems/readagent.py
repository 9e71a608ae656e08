"""ReadAgent (arXiv 2402.09727): gists of all pages, and a few pages in full."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from oprag.calls import TokenUsage
from oprag.chunk import Span
from oprag.splitting import punkt_sentence_spans
from oprag_eval.bench import Bench
from oprag_eval.data import Question
from oprag_eval.model_texts import gist_call, kept_reply, look_up_call, page_break_call
from oprag_eval.requests import choice_question, read
from oprag_eval.system import Attempt, Context, Count, Piece, Step, System
from oprag_eval.workers import map_concurrently

_EARLIEST = 280
"""Words before the end of the part that follows a place where a page may end."""
_REST = 350
"""Words of the rest at the end; if it has fewer, it is one page."""
_SEPARATOR = "\n\n"
_LIST = re.compile(r"\[([^\[\]]*)\]")
_MARKED = re.compile(r"<\s*(\d+)\s*>")
_NUMBER = re.compile(r"(\d+)")


async def pages_of(
    text: str, page_words: int, bench: Bench
) -> tuple[list[Span], TokenUsage]:
    """Divide a text into pages that end where the model says a reader would pause.

    Parts are sentences, as in the DOS RAG paper. If a page can end in one place only,
    the model is not asked. If its reply names no place, the page ends with the passage.
    Text between two sentences belongs to the one before.

    Returns:
        The pages in reading order, which together are the text, and the tokens of all
        calls for them; no pages of a text of white space alone.

    Source:
        ReadAgent (arXiv 2402.09727), section 3.1; the lengths are of the authors' code.
    """
    starts = [start for start, _ in punkt_sentence_spans(text)]
    bounds = [0, *starts[1:], len(text)] if starts else []
    parts = [text[start:end] for start, end in itertools.pairwise(bounds)]
    words = [len(part.split()) for part in parts]
    pages: list[Span] = []
    usage = TokenUsage()
    first = 0
    while first < len(parts):
        breaks = _breaks(words[first:], page_words)
        end = first + breaks[-1]
        if sum(words[first:end]) >= _REST and len(breaks) > 1:
            before = text[slice(*pages[-1])] if pages else ""
            after = "".join(parts[end : end + 1])
            call = page_break_call(parts[first:end], breaks, before, after)
            completion = await kept_reply(bench, call)
            usage += completion.usage
            reply = completion.text
            found = _MARKED.search(reply) or _NUMBER.search(reply)
            number = int(found[1]) if found else 0
            if 1 <= number <= len(breaks):
                end = first + breaks[number - 1]
        pages.append(Span(bounds[first], bounds[end]))
        first = end
    return pages, usage


def _breaks(words: Sequence[int], page_words: int) -> list[int]:
    """Return the places after which the next page may end, as numbers of parts.

    As in the authors' notebook, a place is before the part with which there are
    enough words; the last one is after the passage.
    """
    total = words[0]
    found: list[int] = []
    before = 1
    while total < page_words and before < len(words):
        total += words[before]
        if total >= _EARLIEST:
            found.append(before)
        before += 1
    return [*found, before]


class _Page(NamedTuple):
    gist: str
    text: str
    piece: Piece
    """The piece of the full page."""


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
    """Words of a page, about: parts are added until there are so many."""

    budgeted = False
    """The model decides how much it looks up."""

    async def attempt(
        self,
        question: Question,
        budget: int | None,  # noqa: ARG002 -- it has none
        bench: Bench,
    ) -> Attempt:
        """Make pages and gists if they are not there, look up, and answer."""
        pages: list[_Page] = []
        usage = TokenUsage()
        for document in bench.dataset.documents_of(question):
            spans, paging = await pages_of(document.text, self.page_words, bench)
            texts = [document.text[slice(*span)] for span in spans]
            gists = await map_concurrently(
                partial(kept_reply, bench), map(gist_call, texts)
            )
            usage = sum((gist.usage for gist in gists), usage + paging)
            for span, text, gist in zip(spans, texts, gists, strict=True):
                piece = Piece(document.doc_id, *span)
                pages.append(_Page(gist.text.strip(), text.strip(), piece))
        # Options stay lettered here, whatever the style: pages have the numbers.
        asked = choice_question(question)
        call = look_up_call(asked, [page.gist for page in pages], self.pages)
        completion = await bench.model.complete(call)
        wanted = named_pages(completion.text, len(pages), self.pages)
        shown = [
            (page.text, page.piece)
            if number in wanted
            else (page.gist, Piece(page.piece.document, note="gist"))
            for number, page in enumerate(pages)
        ]
        context = Context(
            _SEPARATOR.join(text for text, _ in shown),
            tuple(piece for _, piece in shown),
        )
        retrieve = completion.usage
        looked = Step("look_up", completion.text, declined=False, usage=retrieve)
        return await read(
            question, context, bench, looked, index=usage, retrieve=retrieve
        )


def named_pages(reply: str, n_pages: int, most: int) -> list[int]:
    """Read which pages a reply names: numbers from 1 in square brackets, as `[3, 7]`.

    Of several brackets the first that holds a number is read.

    Returns:
        Their indices from 0, ascending, each once; of more than `most` those named
        first. Pages that do not exist are left out.
    """
    for found in _LIST.findall(reply):
        numbers = [int(number) for number in _NUMBER.findall(found)]
        if numbers:
            known = [number - 1 for number in numbers if 1 <= number <= n_pages]
            return sorted(list(dict.fromkeys(known))[:most])
    return []
