"""Growth over size, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.speed.bounds import BOUNDS
from benchmarks.speed.timing import Measured


def plot_growth(rows: Sequence[Measured], path: Path) -> None:
    """Draw time over size, both logarithmic, for every row that has points."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "oprag"  # the same file for the same points
    from matplotlib import pyplot as plt

    work = {bound.key: bound.work for bound in BOUNDS}
    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    for row in rows:
        if "points" in row.facts:
            sizes, times = zip(*row.facts["points"], strict=True)
            axes.loglog(sizes, times, marker="o", label=work[row.key])
    axes.set_xlabel("characters or chunks")
    axes.set_ylabel("seconds")
    axes.grid(visible=True, which="both", alpha=0.3)
    if axes.lines:
        axes.legend(fontsize="small")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
