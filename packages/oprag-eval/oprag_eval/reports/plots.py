"""The plots of a run, PNG and SVG; the same bytes for the same summary."""

from __future__ import annotations

import dataclasses
import functools
import io
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from oprag_eval.reports.curves import (
    COLOURS,
    curve_of,
    draw_against_cost,
    draw_against_tokens,
)
from oprag_eval.reports.measuring import published_by, title_of
from oprag_eval.reports.summary import ArmSummary, Routing, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes


PLOT_NAMES = (
    "quality_tokens",
    "evidence_tokens",
    "quality_cost",
    "routing",
    "routing_k",
)
"""Of all plots that a run may have; the second part of one is called `NAME_2`."""

_STYLE: Any = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "font.size": 10,
    "grid.color": "#e3e3e3",
    "legend.frameon": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "oprag",
}
_SIZE = (8.2, 4.6)
_DPI = 130
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


class Plot(NamedTuple):
    """One plot, drawn."""

    name: str
    """Of its files, without the ending."""
    title: str
    """What it shows, in a line."""
    png: bytes
    svg: bytes


def plots_of(summary: Summary) -> list[Plot]:
    """Draw what a summary has figures for; published ones in grey.

    Returns:
        Quality against tokens; evidence against tokens; quality against cost, with a
        price; the shares of routed systems, and by their k where it differs.
    """
    return [_drawn(name, title, draw) for name, title, draw in _wanted(summary)]


_Draw = Callable[["Axes"], None]


def _wanted(summary: Summary) -> Iterator[tuple[str, str, _Draw]]:
    measure, n = summary.measure, f"{summary.questions:,} questions"
    spots = summary.sweet_spots
    wide = spots[-1].chosen if spots else None
    rings = f"\nrings: sweet spots; the wide one: {wide}" if wide else ""
    tokens, cost = draw_against_tokens, draw_against_cost
    if measure:
        title = f"{_begin(measure)} against tokens, {n}{rings}"
        draw = functools.partial(tokens, measure=measure)
        papers = published_by(summary.published, measure)
        shown = dataclasses.replace(summary, published=papers)
        yield from _parts("quality_tokens", title, draw, shown)
    evidence = "evidence_recall"
    if measure != evidence and any(evidence in arm.measures for arm in summary.arms):
        title = f"{_begin(evidence)} against tokens, {n}"
        draw = functools.partial(tokens, measure=evidence)
        yield from _parts("evidence_tokens", title, draw, _without_papers(summary))
    if measure and any(arm.cost for arm in summary.arms):
        title = f"{_begin(measure)} against cost, {n}{rings}"
        draw = functools.partial(cost, measure=measure)
        yield from _parts("quality_cost", title, draw, _without_papers(summary))
    if summary.routing:
        yield (
            "routing",
            f"Questions answered from the chunks, and tokens used, {n}",
            lambda axes: draw_routing(axes, summary),
        )

    if measure and len(chunks := _routed_by_k(summary)) > 1:
        yield (
            "routing_k",
            f"Self-Route by its number of chunks k, {n}",
            lambda axes: draw_routing_by_k(axes, summary, chunks),
        )


def _routed_by_k(summary: Summary) -> list[tuple[int, Routing, ArmSummary]]:
    """The routed arms that choose from k chunks, by k; those without a budget."""
    settings = summary.settings.get("systems", {})
    arms = {arm.label: arm for arm in summary.arms}
    found = []
    for row in summary.routing:
        arm = arms[row.arm]
        k = settings.get(arm.system, {}).get("k")
        if k is not None and arm.budget is None and summary.measure in arm.measures:
            found.append((k, row, arm))
    return sorted(found, key=lambda each: each[0])


_MOST_LINES = 6
"""In one plot: more cannot be told apart."""


def _without_papers(summary: Summary) -> Summary:
    return dataclasses.replace(summary, published=())


def _parts(
    name: str, title: str, draw: Callable[[Axes, Summary], None], summary: Summary
) -> Iterator[tuple[str, str, _Draw]]:
    """One plot, or several where it would have more than six lines."""
    parts = list(_six_lines(summary))
    for number, part in enumerate(parts, start=1):
        head, *rest = title.split("\n")
        if len(parts) > 1:
            head += f", part {number} of {len(parts)}"
        told = "\n".join([head, *rest])
        called = name if number == 1 else f"{name}_{number}"
        yield called, told, functools.partial(_draw_part, draw, part)


def _draw_part(
    draw: Callable[[Axes, Summary], None], part: Summary, axes: Axes
) -> None:
    draw(axes, part)


def _six_lines(summary: Summary) -> Iterator[Summary]:
    """Systems first; then papers' figures, each time beside the highest system."""
    systems = list(dict.fromkeys(arm.system for arm in summary.arms))
    curves = list(dict.fromkeys(curve_of(each) for each in summary.published))
    if len(systems) + len(curves) <= _MOST_LINES:
        yield summary
        return
    for begin in range(0, len(systems), _MOST_LINES):
        shown = systems[begin : begin + _MOST_LINES]
        yield _only(summary, shown, ())
    spots = [spot.best for spot in summary.sweet_spots[-1:]]
    best = [arm.system for arm in summary.arms if arm.label in spots] or systems
    for begin in range(0, len(curves), _MOST_LINES - 1):
        beside = curves[begin : begin + _MOST_LINES - 1]
        yield _only(summary, best[:1], beside)


def _only(
    summary: Summary, systems: Sequence[str], curves: Sequence[tuple[str, str, str]]
) -> Summary:
    return dataclasses.replace(
        summary,
        arms=tuple(arm for arm in summary.arms if arm.system in systems),
        published=tuple(p for p in summary.published if curve_of(p) in curves),
    )


def _begin(measure: str) -> str:
    title = title_of(measure)
    return title[0].upper() + title[1:]


def _drawn(name: str, title: str, draw: _Draw) -> Plot:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context():
        mpl.rcdefaults()  # the user's own style would change the bytes
        mpl.rcParams.update(_STYLE)
        figure = Figure(figsize=_SIZE, layout="constrained")
        axes = figure.add_subplot()
        axes.set_title(title, loc="left", fontsize=11)
        draw(axes)
        png, svg = io.BytesIO(), io.BytesIO()
        figure.savefig(png, format="png", dpi=_DPI, metadata={"Software": None})
        figure.savefig(svg, format="svg", metadata=_NO_METADATA)
    return Plot(name, title.replace("\n", "; "), png.getvalue(), svg.getvalue())


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


def draw_routing_by_k(
    axes: Axes, summary: Summary, rows: Sequence[tuple[int, Routing, ArmSummary]]
) -> None:
    """Draw score, answers from the chunks and tokens against k.

    Source:
        Self-Route (arXiv:2407.16833), figure 3.
    """
    places = range(len(rows))
    curves = {
        f"{title_of(summary.measure)} × 100": [
            100 * arm.measures[summary.measure].mean for _, _, arm in rows
        ],
        "answered from the chunks, % of questions": [
            100 * row.answerable for _, row, _ in rows
        ],
    }
    if all(row.token_share is not None for _, row, _ in rows):
        curves["input tokens, % of the full documents'"] = [
            100 * (row.token_share or 0) for _, row, _ in rows
        ]
    for number, (label, values) in enumerate(curves.items()):
        axes.plot(
            places, values, marker="osD"[number], color=COLOURS[number], label=label
        )
    axes.set_xticks(list(places), [f"{k:,}" for k, _, _ in rows])
    axes.set_xlabel("k, the chunks of the first step")
    axes.set_ylabel("%")
    axes.legend(loc="upper left", bbox_to_anchor=(0, -0.12), ncols=2, fontsize=9)
