"""Quality against what it took: a curve per system, and the papers' figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from oprag_eval.published import Published
from oprag_eval.reports.measuring import title_of
from oprag_eval.reports.summary import ArmSummary, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#6a3d9a",
    "#4d4d4d",
)
"""Okabe and Ito's, which the colour-blind can tell apart, and two more."""
_MARKERS = "osD^vPX*"
_PAPER = "#8a8a8a"
_PAPER_MARKERS = "1234+x|_"
_APART = 0.012
_COST = "cost of a question, in the currency of the prices"
_TOKENS = "input tokens of a question (mean)"
_CONTEXT = "tokens of the context (mean)"


def draw_against_tokens(axes: Axes, summary: Summary, measure: str) -> None:
    """Draw a measure against the mean tokens of each arm, and papers' figures."""
    _published(axes, summary.published)
    _curves(axes, summary, measure, lambda arm: arm.tokens)
    prompts = all(arm.input_tokens for arm in summary.arms)
    _finish(axes, measure, _TOKENS if prompts else _CONTEXT)
    _plain_numbers(axes)


def draw_against_cost(axes: Axes, summary: Summary, measure: str) -> None:
    """Draw a measure against the mean cost of a question in each arm."""
    _curves(axes, summary, measure, lambda arm: arm.cost or 0.0)
    _finish(axes, measure, _COST)


_Place = Callable[[ArmSummary], float]


def _curves(axes: Axes, summary: Summary, measure: str, place: _Place) -> None:
    """One line per system, its points at what the arms took, intervals around them.

    Systems of one budget take nearly the same: each is moved by a percent or so, for
    their intervals to be told apart.
    """
    systems: dict[str, list[ArmSummary]] = {}
    for arm in summary.arms:
        systems.setdefault(arm.system, []).append(arm)
    for number, arms in enumerate(systems.values()):
        shown = sorted((arm for arm in arms if measure in arm.measures), key=place)
        if not shown:
            continue
        moved = 1 + _APART * (number - (len(systems) - 1) / 2)
        figures = [arm.measures[measure] for arm in shown]
        x = [place(arm) * moved for arm in shown]
        y = [100 * figure.mean for figure in figures]
        low = [100 * (f.mean if f.low is None else f.low) for f in figures]
        high = [100 * (f.mean if f.high is None else f.high) for f in figures]
        axes.errorbar(
            x,
            y,
            yerr=[
                [max(0.0, a - b) for a, b in zip(y, low, strict=True)],
                [max(0.0, b - a) for a, b in zip(y, high, strict=True)],
            ],
            color=COLOURS[number % len(COLOURS)],
            marker=_MARKERS[number % len(_MARKERS)],
            linestyle=("-", "--", ":")[number // len(COLOURS) % 3],
            markersize=5,
            linewidth=1.4,
            elinewidth=0.8,
            capsize=2,
            label=shown[0].name,
        )
        if measure == summary.measure:
            for arm, across, up in zip(shown, x, y, strict=True):
                _ring(axes, summary, arm, across, up)


def _ring(
    axes: Axes, summary: Summary, arm: ArmSummary, across: float, up: float
) -> None:
    """Mark the sweet spot of a system, and with a wider ring that of the whole run."""
    for spot in summary.sweet_spots:
        if spot.chosen == arm.label:
            axes.plot(
                [across],
                [up],
                "o",
                markersize=13 if spot.system else 18,
                markeredgewidth=1.0 if spot.system else 1.8,
                fillstyle="none",
                color="#222222",
                zorder=5,
            )


def curve_of(figure: Published) -> tuple[str, str, str]:
    """Name the curve that a figure is on: its model and method, and the paper."""
    return figure.model, figure.method, figure.source


def _published(axes: Axes, published: Sequence[Published]) -> None:
    """Figures of papers in grey, by what was read; across where it is not told."""
    curves: dict[tuple[str, str, str], list[Published]] = {}
    for figure in published:
        curves.setdefault(curve_of(figure), []).append(figure)
    styles = ((0, (4, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (2, 3)))
    for number, ((model, method, source), figures) in enumerate(curves.items()):
        label = f"{method}, {model} ({source.partition(',')[0]})"
        style: dict[str, Any] = {
            "color": _PAPER,
            "linewidth": 1.0,
            "linestyle": styles[number % len(styles)],
            "label": label,
        }
        placed = [(f.tokens, 100 * f.value) for f in figures if f.tokens is not None]
        if placed:
            tokens, values = zip(*placed, strict=True)
            marker = _PAPER_MARKERS[number % len(_PAPER_MARKERS)]
            axes.plot(tokens, values, marker=marker, markersize=6, **style)
        else:
            axes.axhline(100 * figures[0].value, **style)


def _finish(axes: Axes, measure: str, x: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(f"{title_of(measure)} × 100, with 95 % intervals")
    from matplotlib.container import ErrorbarContainer

    found = zip(*axes.get_legend_handles_labels(), strict=True)
    own_first = sorted(
        found, key=lambda each: not isinstance(each[0], ErrorbarContainer)
    )
    handles, labels = zip(*own_first, strict=True)
    axes.legend(
        handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1), fontsize=8.5
    )


def _plain_numbers(axes: Axes) -> None:
    """A logarithmic axis with plain numbers, at 1, 2 and 5 of each power of ten."""
    from matplotlib import ticker

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(ticker.LogLocator(base=10, subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
    axes.xaxis.set_minor_formatter(ticker.NullFormatter())
