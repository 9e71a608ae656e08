"""Plots are drawn of what there is, without dates, and show every system."""

import dataclasses
from xml.etree import ElementTree as ET

import pytest
from matplotlib.figure import Figure

from oprag_eval.reports.plots import _curves, overlapping, plots_of
from oprag_eval.statistics import Figure as Mean
from tests.evaluation.cli.test_sweep import arm, summary


@pytest.mark.slow
def test_images_are_whole_and_hold_no_date(reported):
    folder, _ = reported
    for name in ("quality_tokens", "quality_cost"):
        svg = (folder / "plots" / f"{name}.svg").read_bytes()
        assert ET.fromstring(svg).tag.endswith("svg")  # noqa: S314 -- our own
        assert b"metadata" not in svg
        assert b'href="http' not in svg


def _summary(*systems):
    mean = Mean(0.5, 0.4, 0.6, 9, 3)
    return summary([arm(s, n, float(n), mean) for s in systems for n in (100, 200)])


def test_without_figures_nothing_is_drawn():
    assert plots_of(dataclasses.replace(_summary(), measure="")) == []


def test_every_system_is_a_line_with_its_intervals():
    axes = Figure().add_subplot()
    _curves(axes, _summary("vanilla-rag", "dos-rag"), lambda arm: arm.tokens)
    own, other = axes.containers

    assert [own.get_label(), other.get_label()] == ["vanilla-rag", "dos-rag"]
    assert own.lines[0].get_ydata().tolist() == [50, 50]
    tops = [segment.max(axis=0)[1] for segment in own.lines[2][0].get_segments()]
    assert tops == pytest.approx([60, 60])


def _said(**means):
    """What is said of systems with such means at 100, 200 and 400 tokens."""
    tokens = (100, 200, 400)
    arms = [
        arm(name, n, float(n), Mean(mean, 0, 1, 9, 3))
        for name, values in means.items()
        for n, mean in zip(tokens, values, strict=False)
    ]
    return overlapping(summary(arms), lambda arm: arm.tokens)


def test_lines_that_lie_on_one_another_are_named():
    said = _said(one=(0.5, 0.7, 0.9), two=(0.5, 0.7), three=(0.1, 0.2))
    assert said == "Lines that lie on one another: two on one."


def test_lines_that_share_some_points_do_so_in_part():
    said = _said(one=(0.5, 0.9, 0.9), two=(0.4, 0.9, 0.9), three=(0.5, 0.9, 0.9))
    whole = "three on one"
    assert said == (
        f"Lines that lie on one another: {whole}; in part two on one, three on two."
    )


def test_lines_that_cross_in_a_point_do_not_lie_on_one_another():
    assert _said(one=(0.5, 0.9, 0.7), two=(0.4, 0.9, 0.9)) == ""
