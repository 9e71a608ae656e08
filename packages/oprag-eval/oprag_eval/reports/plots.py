"""The plots of a run: quality against tokens, and against cost."""

from __future__ import annotations

import io
from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from oprag_eval.reports.summary import ArmSummary, Summary
from oprag_eval.reports.tables import heading_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = [
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"),
    *("#6a3d9a", "#4d4d4d"),
]
"""Okabe and Ito's, which the colour-blind can tell apart, and two more."""
_MARKERS = "osD^vPX*"
_APART = 0.012
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
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


class Plot(NamedTuple):
    """One plot, drawn."""

    name: str
    """The name of its file, without the ending."""
    title: str
    """Its content, in a line."""
    svg: bytes
    note: str = ""
    """Says which of its lines lie on one another."""


def plots_of(summary: Summary) -> list[Plot]:
    """Draw quality against tokens, and with a price against cost.

    Returns:
        The same bytes for the same summary; nothing if the run has no measure that
        arms are compared by.
    """
    if not summary.measure:
        return []
    prompts = all(arm.input_tokens for arm in summary.arms)
    tokens = "input tokens of a question" if prompts else "tokens of the context"
    plots = [_drawn(summary, "tokens", f"{tokens} (mean)", lambda arm: arm.tokens)]
    if any(arm.cost for arm in summary.arms):
        axis = "cost of a question, in the currency of the prices"
        plots.append(_drawn(summary, "cost", axis, lambda arm: arm.cost or 0.0))
    return plots


def _drawn(
    summary: Summary, name: str, axis: str, place: Callable[[ArmSummary], float]
) -> Plot:
    import matplotlib as mpl
    from matplotlib import ticker
    from matplotlib.figure import Figure

    measure = heading_of(summary.measure, summary)
    title = (
        f"{measure[0].upper()}{measure[1:]} against {name}, "
        f"{summary.questions:,} questions"
    )
    ring = summary.sweet_spot.chosen if summary.sweet_spot else None
    if ring:
        title += f"\nthe ring: {ring}"
    with mpl.rc_context():
        mpl.rcdefaults()  # the user's own style would change the bytes
        mpl.rcParams.update(_STYLE)
        figure = Figure(figsize=(8.2, 4.6), layout="constrained")
        axes = figure.add_subplot()
        axes.set_title(title, loc="left", fontsize=11)
        _curves(axes, summary, place)
        axes.set_xlabel(axis)
        axes.set_ylabel(f"{measure} × 100, with 95 % intervals")
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), fontsize=8.5)
        if name == "tokens":
            axes.set_xscale("log")
            axes.xaxis.set_major_locator(ticker.LogLocator(base=10, subs=(1, 2, 5)))
            axes.xaxis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
            axes.xaxis.set_minor_formatter(ticker.NullFormatter())
        svg = io.BytesIO()
        figure.savefig(svg, format="svg", metadata=_NO_METADATA)
    note = overlapping(summary, place)
    return Plot(f"quality_{name}", title.replace("\n", "; "), svg.getvalue(), note)


_NEAR = 0.05
"""Share of the tokens, or the cost, within which points are at one place."""
_LEVEL = 0.01


def overlapping(summary: Summary, place: Callable[[ArmSummary], float]) -> str:
    """Say which systems have points where another has them; empty if none.

    One point that two lines share is a crossing; from two on they are one line.
    """
    points: dict[str, list[tuple[float, float]]] = {}
    for arm in summary.arms:
        if figure := arm.measures.get(summary.measure):
            points.setdefault(arm.system, []).append((place(arm), figure.mean))
    wholly, partly = [], []
    for other, one in combinations(points, 2):
        shared = sum(any(_at(a, b) for b in points[other]) for a in points[one])
        if shared == len(points[one]):
            wholly.append(f"{one} on {other}")
        elif shared > 1:
            partly.append(f"{one} on {other}")
    told = "; ".join(wholly)
    if partly:
        told += f"{'; ' if told else ''}in part {', '.join(partly)}"
    return f"Lines that lie on one another: {told}." if told else ""


def _at(one: tuple[float, float], other: tuple[float, float]) -> bool:
    near = abs(one[0] - other[0]) <= _NEAR * max(one[0], other[0])
    return near and abs(one[1] - other[1]) <= _LEVEL


def _curves(axes: Axes, summary: Summary, place: Callable[[ArmSummary], float]) -> None:
    """Draw a line per system, its points at the arms' tokens or cost, and intervals.

    Systems of one budget take nearly the same: each is moved by a percent or so, to
    keep their intervals apart.
    """
    systems: dict[str, list[ArmSummary]] = {}
    for arm in summary.arms:
        if summary.measure in arm.measures:
            systems.setdefault(arm.system, []).append(arm)
    ring = summary.sweet_spot.chosen if summary.sweet_spot else None
    for number, arms in enumerate(systems.values()):
        shown = sorted(arms, key=place)
        moved = 1 + _APART * (number - (len(systems) - 1) / 2)
        x = [place(arm) * moved for arm in shown]
        figures = [arm.measures[summary.measure] for arm in shown]
        y = [100 * f.mean for f in figures]
        ends = [
            [100 * (f.mean if end is None else end) for end in (f.low, f.high)]
            for f in figures
        ]
        lengths = [
            (max(0.0, mean - low), max(0.0, high - mean))
            for mean, (low, high) in zip(y, ends, strict=True)
        ]
        axes.errorbar(
            x,
            y,
            yerr=[*zip(*lengths, strict=True)],
            color=_COLOURS[number % len(_COLOURS)],
            marker=_MARKERS[number % len(_MARKERS)],
            linestyle=("-", "--", ":")[number // len(_COLOURS) % 3],
            markersize=5,
            linewidth=1.4,
            elinewidth=0.8,
            capsize=2,
            label=shown[0].name,
        )
        for arm, across, up in zip(shown, x, y, strict=True):
            if arm.label == ring:
                face, edge = "none", "#222222"
                axes.scatter(
                    across, up, 324, facecolors=face, edgecolors=edge, zorder=5
                )
