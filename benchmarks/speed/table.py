"""The results as a table, and what was reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.speed.bounds import BOUNDS, Bound
from benchmarks.speed.timing import Measured

_WORDS = {True: "yes", False: "**no**", None: ""}
_PEERS = {
    "NLTKTextSplitter": "nltk",
    "LangChain": "langchain-text-splitters",
    "LlamaIndex": "llama-index-core",
    "NodeWithScore": "llama-index-core",
    "Document()": "langchain-core",
    "chonkie": "chonkie",
    "semchunk": "semchunk",
    "Chroma": "chromadb",
}
"""The packages whose versions are said, by what names a peer; the first that does."""
_TWO_FREE = 1.6
"""Processors of two; with fewer, a bound for two threads says nothing of the code."""


def as_markdown(rows: Sequence[Measured], made_with: Mapping[str, Any]) -> str:
    """All rows in the order of the bounds, with what they were measured with."""
    measured = {row.key: row for row in rows}
    lines = ["# Speed beside the frameworks' own", ""]
    lines += ["Made by `make bench`; `README.md` says what is measured.", ""]
    lines += [
        "| work | against | threads | median | lowest–highest | bound | reached |"
    ]
    lines.append("|---|---|--:|--:|--:|--:|---|")
    for bound in BOUNDS:
        if bound.key in measured:
            lines.append(_line(bound, measured[bound.key], made_with))
    lines += ["", "![growth over size](growth.svg)", ""]
    lines += [f"- {name}: {value}" for name, value in made_with.items()]
    return "\n".join(lines) + "\n"


def checks(
    rows: Sequence[Measured],
) -> list[tuple[Bound, Measured | None, bool | None]]:
    """For every row with a bound whether it was reached; not measured: not reached.

    None if the machine was too busy to say.
    """
    measured = {row.key: row for row in rows}
    bounded = [bound for bound in BOUNDS if bound.limit is not None]
    pairs = [(bound, measured.get(bound.key)) for bound in bounded]
    return [
        (bound, row, _reached(bound, row) if row and row.value is not None else False)
        for bound, row in pairs
    ]


def _reached(bound: Bound, row: Measured) -> bool | None:
    reached = bound.reached(row.value)
    busy = bound.threads > 1 and row.facts.get("free", 2) < _TWO_FREE
    return None if busy and not reached else reached


def shown(bound: Bound, value: float | None) -> str:
    """A value with its unit: `12.3 ×`, `450 MB/s`."""
    if value is None:
        return "–"
    digits = f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"  # noqa: PLR2004
    return digits if bound.unit == "slope" else f"{digits} {bound.unit}"


def _line(bound: Bound, row: Measured, made_with: Mapping[str, Any]) -> str:
    spread = ""
    if row.low is not None and row.high is not None:
        spread = f"{shown(bound, row.low)} – {shown(bound, row.high)}"
    limit = ""
    if bound.limit is not None:
        limit = f"{'≥' if bound.at_least else '≤'} {shown(bound, bound.limit)}"
    reached = _WORDS[_reached(bound, row)]
    peer = _with_version(bound.against, made_with)
    cells = (bound.work, peer, bound.threads, shown(bound, row.value), spread)
    return f"| {' | '.join(map(str, cells))} | {limit} | {reached} |"


def _with_version(peer: str, made_with: Mapping[str, Any]) -> str:
    """A peer with its version: ``chonkie `TokenChunker` (1.7.0)``."""
    packages = [package for name, package in _PEERS.items() if name in peer]
    version = made_with.get(packages[0]) if packages else None
    return f"{peer} ({version})" if version else peer
