"""Files of each format, written by the tests themselves."""

import csv
import json
import warnings

import pytest

from oprag.errors import OpragWarning


@pytest.fixture
def write_jsonl(tmp_path):
    """Write rows (or raw lines) as a JSON Lines file."""

    def write(name, rows):
        lines = [r if isinstance(r, str) else json.dumps(r) for r in rows]
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        return path

    return write


@pytest.fixture
def write_csv(tmp_path):
    """Write rows as a CSV file with the first row's keys as its heading."""

    def write(name, rows):
        path = tmp_path / name
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        return path

    return write


@pytest.fixture
def counts_differ():
    """Let samples be smaller than the sets that the papers count."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OpragWarning)
        yield
