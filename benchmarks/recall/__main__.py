"""`python -m benchmarks.recall`: measure every arm and write the table."""

from __future__ import annotations

import argparse
import json
import sys
import time
from multiprocessing import get_context
from pathlib import Path

from benchmarks.recall.arms import ARMS, BUDGETS, measure_book
from benchmarks.recall.books import SETS, data_folder, load_books, sampled
from benchmarks.recall.rankings import rank_chunks
from benchmarks.recall.table import Difference, Row, as_markdown, differences
from oprag.tokens import resolve_token_counter

_HERE = Path(__file__).resolve().parents[1]


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
    rows: list[Row] = []
    compared: list[Difference] = []
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.sets:
        found, differing = _measured(name, given)
        rows += found
        compared += differing
        for row in found:
            print(f"{row.set:14} {row.arm:60} {row.full}", flush=True)
        (given.out / "recall.md").write_text(as_markdown(rows, compared), "utf-8")
        text = json.dumps(
            {
                "budgets": BUDGETS,
                "rows": [row._asdict() for row in rows],
                "differences": [each._asdict() for each in compared],
            },
            indent=1,
        )
        (given.out / "recall.json").write_text(text + "\n", "utf-8")


def _measured(
    name: str, given: argparse.Namespace
) -> tuple[list[Row], list[Difference]]:
    counter = resolve_token_counter("cl100k_base")
    books = sampled(name, load_books(name, given.data, counter))
    wanted = given.arms or [""]
    arms = [arm for arm in ARMS if any(part in arm.name for part in wanted)]
    for splitting in dict.fromkeys(tuple(arm.splitting) for arm in arms):
        for book in books:  # vectors first, in one process
            rank_chunks(book, splitting, counter, given.cache)
    start = time.monotonic()
    jobs = [(arm, book, given.cache) for book in books for arm in arms]
    with get_context("spawn").Pool(2) as pool:
        found = pool.map(measure_book, jobs, chunksize=1)
    print(f"{name}: measured in {time.monotonic() - start:.0f} s", file=sys.stderr)
    measured = [
        (
            arm,
            [
                kept
                for (of, _, _), rows in zip(jobs, found, strict=True)
                if of is arm
                for kept in rows
            ],
        )
        for arm in arms
    ]
    documents = [q.document for book in books for q in book.questions]
    rows = [Row.of(name, arm.name, kept) for arm, kept in measured]
    return rows, differences(name, measured, documents)


if __name__ == "__main__":
    main()
