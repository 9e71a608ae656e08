"""How often routed systems answered early, and their share of tokens, as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oprag.evaluation.reports.curves import COLOURS
from oprag.evaluation.reports.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_routing(axes: Axes, summary: Summary) -> None:
    """Draw two bars for each routed arm; the line is what the full documents take."""
    rows = summary.routing
    places = range(len(rows))
    answerable = [100 * row.answerable for row in rows]
    axes.bar(
        [place - 0.2 for place in places],
        answerable,
        0.38,
        color=COLOURS[0],
        label="answered from the chunks, % of questions",
    )
    tokens = [(p, 100 * r.token_share) for p, r in enumerate(rows) if r.token_share]
    if tokens:
        axes.bar(
            [place + 0.2 for place, _ in tokens],
            [share for _, share in tokens],
            0.38,
            color=COLOURS[4],
            hatch="//",
            edgecolor="white",
            label="input tokens, % of the full documents'",
        )
        axes.axhline(100, color="#222222", linewidth=0.8)
    middle, half = (len(rows) - 1) / 2, max(len(rows), 4) / 2
    axes.set_xlim(middle - half, middle + half)
    axes.set_xticks(list(places), [row.arm for row in rows])
    axes.grid(visible=False, axis="x")
    axes.set_ylabel("%")
    axes.legend(loc="upper left", bbox_to_anchor=(0, -0.12), ncols=2, fontsize=9)
