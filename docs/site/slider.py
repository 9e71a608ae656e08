"""The example of the front page: what is read of one text, at each token budget.

The text is cut into paragraphs, BM25 ranks them for one question, and `order_context`
selects and orders them, as in an application. That is done here, when the site is
built; `slider.js` only shows the results. Without it the page shows one budget.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, Literal

from oprag import Passage, order_context, render
from oprag.optional import require
from oprag.tokens import resolve_token_counter

NAME = "lease.txt"
QUESTION = "What rent is due, and from when?"
BUDGETS = range(50, 501, 50)
"""Tokens."""
SHOWN = 200
"""The budget that is shown before the slider is moved, or without JavaScript."""

_MARK = "<!-- site: the budget slider -->"
_CAPTIONS = {"rank": "By rank", "document": "In the order of the document"}


def on_page_content(html: str, **_: object) -> str:
    """Put the example where a page has the comment for it."""
    return html.replace(_MARK, _example()) if _MARK in html else html


def steps() -> list[dict[str, Any]]:
    """Return what is read at each of the budgets, in both orders."""
    text = (Path(__file__).parent / NAME).read_text("utf-8")
    spans = [match.span() for match in re.finditer(r".+", text)]
    ranked = _ranked([text[start:end] for start, end in spans])
    texts = [text[start:end] for start, end in (spans[place] for place in ranked)]
    metadatas = [{"source": NAME, "start_index": spans[place][0]} for place in ranked]

    # Named, so that nothing is estimated where its file is not there.
    counter = resolve_token_counter("cl100k_base")

    def read(budget: int, order: Literal["rank", "document"]) -> list[Passage]:
        return order_context(
            texts, metadatas, token_budget=budget, order=order, token_counter=counter
        )

    return [
        {
            "budget": budget,
            "tokens": counter(render(read(budget, "document"))),
            "rank": _entries(read(budget, "rank")),
            "document": _entries(read(budget, "document")),
        }
        for budget in BUDGETS
    ]


def _ranked(texts: Sequence[str]) -> list[int]:
    """Return the places of the texts, best first; of equals, the earlier first."""
    bm25s = require("bm25s", extra="bm25", purpose="the example of the front page")
    quiet: dict[str, Any] = {"show_progress": False}
    index = bm25s.BM25()
    index.index(bm25s.tokenize(list(texts), **quiet), **quiet)
    words = bm25s.tokenize(QUESTION, return_ids=False, **quiet)[0]
    scores = index.get_scores(words)
    return sorted(range(len(texts)), key=lambda place: (-float(scores[place]), place))


def _entries(passages: Sequence[Passage]) -> list[tuple[int, str]]:
    return [(passage.rank + 1, passage.text) for passage in passages]


def _example() -> str:
    """Return the example as HTML: all steps as data, one as text."""
    found = steps()
    first = BUDGETS.index(SHOWN)
    shown = found[first]
    columns = "".join(
        f'<div><p id="by-{order}"><strong>{caption}</strong></p>'
        f'<ol class="{order}" aria-labelledby="by-{order}">'
        + "".join(
            f'<li value="{rank}">{escape(text)}</li>' for rank, text in shown[order]
        )
        + "</ol></div>"
        for order, caption in _CAPTIONS.items()
    )
    return (
        f'<div class="budget-example" data-steps="{escape(json.dumps(found))}">'
        "<p>A lease, with the letters and amendments that followed it, and a question: "
        f"<em>{QUESTION}</em> Each passage has its rank, 1 for the best.</p>"
        '<p class="budget" hidden><label for="token-budget">Token budget</label> '
        f'<input id="token-budget" type="range" max="{len(found) - 1}" '
        f'value="{first}" aria-valuetext="{shown["budget"]} tokens"></p>'
        f'<p aria-live="polite">Within <b class="limit">{shown["budget"]}</b> tokens '
        f'fit <b class="count">{len(shown["rank"])}</b> passages '
        f'(<b class="tokens">{shown["tokens"]}</b> tokens).</p>'
        f'<div class="orders">{columns}</div></div>'
    )
