"""ReadAgent (arXiv 2402.09727): gists of all pages, and a few pages in full."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from oprag.calls import TokenUsage
from oprag.evaluation.asking import choice_question
from oprag.evaluation.bench import Bench
from oprag.evaluation.contexts import Context
from oprag.evaluation.data import Question
from oprag.evaluation.making_prompts import look_up_call
from oprag.evaluation.readagent.memory import MemorySettings, memory_of
from oprag.evaluation.readagent.paging import PageUnit, PagingRules
from oprag.evaluation.systems.reading import read
from oprag.evaluation.systems.system import Attempt, Count, Piece, System

_SEPARATOR = "\n\n"
_LIST = re.compile(r"\[([^\[\]]*)\]")


class _Page(NamedTuple):
    gist: str
    text: str
    piece: Piece
    """Of the full page."""


@dataclass(frozen=True)
class ReadAgent(System):
    """Reads the gists of all pages, and in their places the pages that were looked up.

    Its tokens stand by stage: pages and gists under `index`, the look-up under
    `retrieve`, the answer under `answer`.
    """

    name: str
    memory: MemorySettings
    pages: int
    """Pages that may be looked up."""

    @property
    def budgeted(self) -> bool:
        """False: the model decides how much it looks up."""
        return False

    def settings(self) -> dict[str, Any]:
        """Return how documents are divided, and how many pages may be looked up."""
        return {**self.memory.as_json(), "pages": self.pages}

    async def attempt(
        self,
        question: Question,
        budget: int | None,  # noqa: ARG002 -- it has none
        bench: Bench,
    ) -> Attempt:
        """Make pages and gists if they are not there, look up, and answer.

        Raises:
            ChatModelError: See `memory_of`.
        """
        pages: list[_Page] = []
        usage, calls = TokenUsage(), 0
        for document in bench.documents(question):
            memory = await memory_of(document, self.memory, bench)
            usage, calls = usage + memory.usage, calls + memory.calls
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
        return await read(
            question,
            _context(pages, wanted, bench),
            bench,
            usage={"index": usage, "retrieve": completion.usage},
            calls={"index": calls, "retrieve": 1},
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


def _context(pages: Sequence[_Page], wanted: Collection[int], bench: Bench) -> Context:
    texts: list[str] = []
    pieces: list[Piece] = []
    for number, page in enumerate(pages):
        if number in wanted:
            texts.append(page.text.strip())
            pieces.append(page.piece)
        else:
            texts.append(page.gist)
            pieces.append(Piece(page.piece.document, note="gist"))
    text = _SEPARATOR.join(texts)
    return Context(text, tuple(pieces), bench.counter(text), "")


def readagent(
    *,
    name: str = "readagent",
    unit: PageUnit = "sentences",
    pages: Count = 6,
    page_words: Count = 600,
) -> ReadAgent:
    """The DOS RAG paper's variant: pages of sentences, up to 6 looked up.

    Args:
        name: Of the system.
        unit: What pages are made of; `"paragraphs"` as in ReadAgent's own paper.
        pages: Pages that may be looked up.
        page_words: Words of a page, about.
    """
    rules = PagingRules(page=page_words)
    return ReadAgent(name, MemorySettings(unit, rules), pages)
