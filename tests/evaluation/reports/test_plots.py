"""Plots are drawn of what there is, without dates, and show every system."""

from __future__ import annotations

import dataclasses
import json
import struct
from xml.etree import ElementTree as ET

import pytest
from matplotlib.figure import Figure

from oprag_eval.published import Published
from oprag_eval.reports import write_reports
from oprag_eval.reports.plots import (
    PLOT_NAMES,
    _routed_by_k,
    _six_lines,
    draw_routing_by_k,
    plots_of,
)
from oprag_eval.systems.self_route import SelfRoute
from tests.evaluation.reports.runs import ask


@pytest.mark.slow
def test_images_are_whole_and_hold_no_date(reported):
    folder, _ = reported
    pngs, svgs = (sorted((folder / "plots").glob(f"*.{e}")) for e in ("png", "svg"))
    assert len(pngs) == len(svgs) == len({*PLOT_NAMES} - {"routing_k"})
    for path in pngs:
        png = path.read_bytes()
        assert png.startswith(b"\x89PNG\r\n\x1a\n")
        assert png.endswith(b"IEND\xaeB`\x82")
        assert struct.unpack(">II", png[16:24]) == (1066, 598)
        assert b"tEXt" not in png
    for path in svgs:
        svg = path.read_bytes()
        assert ET.fromstring(svg).tag.endswith("svg")  # noqa: S314 -- our own
        assert b"metadata" not in svg
        assert b'href="http' not in svg


def _arms(*systems):
    from oprag_eval.reports.summary import ArmSummary
    from oprag_eval.reports.summary import Figure as Mean

    mean = Mean(0.5, 0.4, 0.6, None, 9, 3)
    return tuple(
        ArmSummary(
            system,
            budget,
            1,
            9,
            9,
            0,
            0,
            {"token_f1": mean},
            float(budget),
            float(budget),
            1.0,
            0,
            estimated=False,
            cost=None,
            index_cost=None,
        )
        for system in systems
        for budget in (100, 200)
    )


def test_the_curves_have_a_name_for_every_system_and_paper():
    """The legend is drawn as shapes, so it is read from the axes."""
    from matplotlib.figure import Figure

    from oprag_eval.reports.curves import draw_against_tokens

    summary = _summary(_arms("vanilla-rag", "dos-rag"))
    axes = Figure().add_subplot()
    paper = Published("s", "token_f1", "R", "Old", 150, 0.5, "P, arXiv:1")
    draw_against_tokens(
        axes, dataclasses.replace(summary, published=(paper,)), "token_f1"
    )

    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "vanilla-rag",
        "dos-rag",
        "Old, R (P)",
    ]
    (own, *_) = axes.containers
    assert own.lines[0].get_ydata().tolist() == [50, 50]
    tops = [segment.max(axis=0)[1] for segment in own.lines[2][0].get_segments()]
    assert tops == pytest.approx([60, 60])


def test_a_plot_has_six_lines_at_most():
    systems = [f"system-{n}" for n in range(8)]
    papers = [
        Published("s", "token_f1", "R", f"Old {n}", 150, 0.5, "P") for n in range(6)
    ]
    seven = plots_of(_summary(_arms(*systems[:7])))
    six = plots_of(_summary(_arms(*systems[:6])))
    both = dataclasses.replace(_summary(_arms(*systems)), published=tuple(papers))

    assert [plot.name for plot in six] == ["quality_tokens"]
    assert [plot.name for plot in seven] == ["quality_tokens", "quality_tokens_2"]
    assert "part 2 of 2" in seven[1].title
    parts = list(_six_lines(both))
    assert [len({arm.system for arm in part.arms}) for part in parts] == [6, 2, 1, 1]
    assert [len(part.published) for part in parts] == [0, 0, 5, 1]


def _summary(arms):
    from oprag_eval.reports.summary import Summary

    return Summary(
        "s", 9, 3, "token_f1", ("token_f1",), "documents", 3, 10, 1, {}, tuple(arms)
    )


def test_without_figures_nothing_is_drawn():
    assert plots_of(dataclasses.replace(_summary(()), measure="")) == []


def test_self_route_with_several_k_is_drawn_over_k(tmp_path):
    systems = [SelfRoute(name=f"k{k}", k=k, size=20) for k in (4, 1, 2)]
    directory, dataset = ask(tmp_path, systems)
    told = {"systems": {system.name: system.settings() for system in systems}}
    directory.write_text("run.json", json.dumps(told))
    summary = write_reports(directory, dataset, resamples=20)
    drawn = Figure().add_subplot()
    rows = _routed_by_k(summary)
    draw_routing_by_k(drawn, summary, rows)

    assert (tmp_path / "plots" / "routing_k.svg").exists()
    assert [k for k, _, _ in rows] == [1, 2, 4]
    assert [tick.get_text() for tick in drawn.get_xticklabels()] == ["1", "2", "4"]
    score, early, tokens = (line.get_ydata() for line in drawn.get_lines())
    assert list(early) == [100 * row.answerable for _, row, _ in rows]
    assert list(tokens) == [100 * row.token_share for _, row, _ in rows]
    assert len(score) == 3
