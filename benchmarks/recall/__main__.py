"""`python -m benchmarks.recall`: measure every arm and write the table."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

from benchmarks.recall.arms import ARMS, BUDGETS, measure_book
from benchmarks.recall.books import SETS, data_folder, load_books
from benchmarks.recall.rankings import rank_chunks
from benchmarks.recall.table import Row, as_markdown
from oprag.tokens import resolve_token_counter

_HERE = Path(__file__).resolve().parents[1]
_NOT_EVERYWHERE = {"qmsum": {"uniform-128"}, "fairytaleqa": {"uniform-128"}}
"""Splittings that are left out, so that the vectors are made in time."""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall")
    parser.add_argument("--data", type=Path, default=data_folder())
    parser.add_argument("--cache", type=Path, default=_HERE.parent / ".oprag/recall")
    parser.add_argument("--out", type=Path, default=_HERE)
    parser.add_argument("--sets", nargs="*", choices=list(SETS), default=list(SETS))
    parser.add_argument("--arms", nargs="*", help="only arms with this in their name")
    given = parser.parse_args()
    if not given.data.is_dir():
        sys.exit(f"No question sets in {given.data}; name their folder with --data.")
    rows = []
    for name in given.sets:
        for row in _rows(name, given):
            print(f"{row.set:14} {row.arm:60} {row.full}", flush=True)
            rows.append(row)
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "recall.md").write_text(as_markdown(rows), "utf-8")
    found = [row._asdict() for row in rows]
    text = json.dumps({"budgets": BUDGETS, "rows": found}, indent=1)
    (given.out / "recall.json").write_text(text + "\n", "utf-8")


def _rows(name: str, given: argparse.Namespace) -> Iterator[Row]:
    counter = resolve_token_counter("cl100k_base")
    books = load_books(name, given.data, counter)
    skipped = _NOT_EVERYWHERE.get(name, set())
    arms = [
        arm
        for arm in ARMS
        if not skipped.intersection(arm.splitting)
        and (not given.arms or any(part in arm.name for part in given.arms))
    ]
    for splitting in dict.fromkeys(tuple(arm.splitting) for arm in arms):
        for book in books:  # vectors first, in one process
            rank_chunks(book, splitting, counter, given.cache)
    start = time.monotonic()
    jobs = [(arm, book, given.cache) for arm in arms for book in books]
    with get_context("spawn").Pool(2) as pool:
        measured = pool.map(measure_book, jobs, chunksize=1)
    print(f"{name}: measured in {time.monotonic() - start:.0f} s", file=sys.stderr)
    for arm in arms:
        kept = [
            row
            for (of, _, _), rows in zip(jobs, measured, strict=True)
            if of is arm
            for row in rows
        ]
        yield Row.of(name, arm.name, kept)


if __name__ == "__main__":
    main()
