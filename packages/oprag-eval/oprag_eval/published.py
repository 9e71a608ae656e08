"""Figures that papers published, to be drawn beside one's own.

They are the papers' figures with the papers' models, embeddings and splitting: a
reference, not a baseline that one's own run was compared with. `published.csv` holds
them, in percent.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("published.csv")
AVERAGE = "self-route/average"
"""The name of Self-Route's means over its nine sets; no set of this name is
loaded. Their measure is `average`: accuracy, F1 and ROUGE as each set has it. Those by
k (table 4) agree with the means over the seven sets of LongBench."""


@dataclass(frozen=True)
class Published:
    """One figure of a paper."""

    dataset: str
    """As `data.load` takes it; or `AVERAGE`."""
    measure: str
    """As `scores.jsonl` names it; or `token_share`, of all answers together."""
    model: str
    """The reader; `retrieval alone` where none was asked."""
    method: str
    tokens: int | None
    """The budget, or the mean tokens that were read; None where it is not given."""
    value: float
    """From 0 to 1, as our measures are."""
    source: str
    """The paper."""
    deviation: float | None = None
    """Standard deviation over the paper's runs, from 0 to 1; None: not given."""


@cache
def all_published() -> tuple[Published, ...]:
    """Return every figure: by set, measure and reader, in the order of the papers.

    ∞Bench En.QA and En.MC: the rows of whole contexts and Self-Route stand in OP-RAG's
    table as well; its text gives 34.32 for Llama's whole context, and Self-Route's
    paper 76.42 for GPT-4o's on En.MC. OP-RAG's score order was measured with 128
    chunks (En.QA) and 192 (En.MC) of 128 tokens. Self-Route's own tables have 5 chunks
    of Contriever's, where the method does not say otherwise.
    """
    with _FILE.open(encoding="utf-8", newline="") as file:
        return tuple(
            Published(
                row["dataset"],
                row["measure"],
                row["model"],
                row["method"],
                int(row["tokens"]) if row["tokens"] else None,
                round(float(row["percent"]) / 100, 6),
                row["source"],
                round(float(row["deviation"]) / 100, 6) if row["deviation"] else None,
            )
            for row in csv.DictReader(file)
        )


def published_for(dataset: str) -> tuple[Published, ...]:
    """Find the figures of a set.

    Returns:
        In the order of `all_published`; empty where the papers have none for the set.
    """
    name = dataset.removesuffix("/documents")
    return tuple(figure for figure in all_published() if figure.dataset == name)
