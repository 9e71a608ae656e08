"""Several runs in one table: models and arms down, sets across, and their mean."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from oprag.errors import InvalidOptionError, UnreadableFileError
from oprag_eval.reports.measuring import title_of
from oprag_eval.reports.summary import arm_label
from oprag_eval.reports.tables import Table


def together(folders: Sequence[Path]) -> Table:
    """Put the scores of several runs into one table.

    Each set is scored by what its run was compared by, as Self-Route's mean over nine
    sets is of accuracy, F1 and ROUGE. The mean stands where an arm has all sets.

    Args:
        folders: Of runs that were reported: each has a `summary.json`.

    Raises:
        InvalidOptionError: One model has one arm on one set in two of the folders.
        UnreadableFileError: A folder has no summary, or one that cannot be read.
    """
    found: dict[tuple[str, str], dict[str, float]] = {}
    sets: dict[str, None] = {}
    for folder in folders:
        summary = _read(folder / "summary.json")
        measure, model = summary["measure"], str(summary["settings"].get("model", ""))
        name = f"{summary['dataset']}, {title_of(measure)}"
        sets[name] = None
        for arm in summary["arms"]:
            if measure not in arm["measures"]:
                continue
            label = arm_label(arm["system"], arm["budget"], cut=bool(arm["cut"]))
            cells = found.setdefault((model, label), {})
            if name in cells:
                raise _twice(folder, model, label, name)
            cells[name] = 100 * arm["measures"][measure]["mean"]
    rows = tuple(
        (*key, *(_cell(cells.get(name)) for name in sets), _mean(cells, len(sets)))
        for key, cells in found.items()
    )
    note = "Scores times 100; the mean is over all sets, each counted once."
    return Table("Runs together", note, ("model", "arm", *sets, "mean"), rows)


def _read(path: Path) -> dict[str, Any]:
    try:
        read: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        message = (
            f"{path} cannot be read: {error}. Give folders of runs that ended with a "
            "report; the command of a run writes it anew."
        )
        raise UnreadableFileError(message, path=str(path), reason=str(error)) from error
    return read


def _twice(folder: Path, model: str, label: str, name: str) -> InvalidOptionError:
    message = (
        f"{str(folder)!r} holds {label} of {model} on {name}, and a folder before it "
        "does, too. Give each run once."
    )
    return InvalidOptionError(message, option="together", value=str(folder))


def _cell(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _mean(cells: dict[str, float], sets: int) -> str:
    return _cell(sum(cells.values()) / sets if len(cells) == sets else None)
