"""What ReadAgent remembers of a document: its pages, and a gist of each."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import asdict, dataclass
from typing import Any

from oprag.calls import TokenUsage
from oprag.chunk import Span
from oprag.evaluation.artifacts import Facts
from oprag.evaluation.bench import Bench
from oprag.evaluation.concurrently import made_together
from oprag.evaluation.data import Document
from oprag.evaluation.kept_replies import kept_reply
from oprag.evaluation.making_prompts import gist_call, page_break_call
from oprag.evaluation.readagent.paging import (
    Pages,
    PageUnit,
    PagingRules,
    page_steps,
    parts_of,
)


@dataclass(frozen=True)
class MemorySettings:
    """How pages are divided."""

    unit: PageUnit
    rules: PagingRules

    def as_json(self) -> dict[str, Any]:
        """Return the settings as plain JSON values."""
        return {"unit": self.unit, "words": asdict(self.rules)}


@dataclass(frozen=True)
class Memory:
    """Pages of a document in reading order, and a gist of each."""

    pages: tuple[Span, ...]
    gists: tuple[str, ...]
    usage: TokenUsage
    """Of all calls that it took, whether they were made now or before."""
    calls: int
    """How many they were."""
    unusable: int
    """Replies that named no place for the end of a page."""


async def memory_of(
    document: Document, settings: MemorySettings, bench: Bench
) -> Memory:
    """Return a document's pages and gists, made if they were not made before.

    They are kept by content and settings: the text, the lengths, the model.

    Args:
        document: The document; a blank one has no pages.
        settings: How it is divided.
        bench: The model and the cache.

    Raises:
        ChatModelError: A reply cannot be had, or a gist is empty.
        SpendingCapError: The run may not spend more.
    """

    async def make() -> Facts:
        return await _made(document.text, settings, bench)

    digest = hashlib.sha256(document.text.encode("utf-8", "surrogatepass"))
    made = await bench.artifacts.made(
        "readagent-memory",
        {
            "text": digest.hexdigest(),
            "settings": settings.as_json(),
            "model": bench.model.name,
            "prompts": [gist_call("").prompt, page_break_call([], [], "").prompt],
        },
        make,
    )
    return Memory(
        tuple(Span(*page) for page in made["pages"]),
        tuple(made["gists"]),
        TokenUsage(**made["usage"]),
        made["calls"],
        made["unusable"],
    )


async def _made(text: str, settings: MemorySettings, bench: Bench) -> Facts:
    pages, usage, calls = await _paged(text, settings, bench)
    gists = await made_together(
        [
            functools.partial(kept_reply, bench, gist_call(text[slice(*page)]))
            for page in pages.spans
        ]
    )
    return {
        "pages": pages.spans,
        "gists": [gist.text.strip() for gist in gists],
        "usage": sum((gist.usage for gist in gists), usage).to_dict(),
        "calls": calls + len(gists),
        "unusable": pages.unusable,
    }


async def _paged(
    text: str, settings: MemorySettings, bench: Bench
) -> tuple[Pages, TokenUsage, int]:
    """Ask page by page: where one ends decides what the next is asked about."""
    usage, calls = TokenUsage(), 0
    steps = page_steps(text, parts_of(text, settings.unit), settings.rules)
    try:
        asked = next(steps)
        while True:
            completion = await kept_reply(bench, page_break_call(*asked))
            usage, calls = usage + completion.usage, calls + 1
            asked = steps.send(completion.text)
    except StopIteration as stop:
        return stop.value, usage, calls
