"""`python -m benchmarks.corpus`: LongRAG asked of a corpus of any size.

Writes a corpus in the form that the authors publish (`nq_corpus.jsonl`), of made-up
words, 900 in each unit, and asks five questions of all of it. For each number of units,
in a process of its own, it prints the seconds until the first question is answered for
(that splits and embeds everything), those of one question after it, and the most memory
that the process had. Vectors are counts of words: no model is asked or loaded.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
import warnings
import zlib
from pathlib import Path

import numpy as np
from langchain_core.embeddings import Embeddings

from oprag_eval.bench import Bench
from oprag_eval.data import load
from oprag_eval.readers.offline import OfflineReader
from oprag_eval.systems.longrag import LongRag
from oprag_eval.vectors import Vectors

_WIDTH, _WORDS, _QUESTIONS = 64, 900, 5
_MEBI = 1024  # of what Linux counts in KiB


class WordCounts(Embeddings):
    """Counts words into a few places."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one row of counts per text."""
        rows = np.zeros((len(texts), _WIDTH))
        for row, text in zip(rows, texts, strict=True):
            for word in text.split():
                row[zlib.crc32(word.encode()) % _WIDTH] += 1
        counted: list[list[float]] = rows.tolist()
        return counted

    def embed_query(self, text: str) -> list[float]:
        """Return the same of a question."""
        return self.embed_documents([text])[0]


def write(folder: Path, units: int) -> None:
    """Write a corpus and questions on it."""
    drawn = random.Random(1)  # noqa: S311 -- made-up text, not a secret
    words = [f"word{n}" for n in range(5000)]
    with (folder / "nq_corpus.jsonl").open("w") as file:
        for n in range(units):
            text = f"{' '.join(drawn.choices(words, k=_WORDS))}. Mill {n} ground rye."
            row = {"corpus_id": n, "titles": [f"Mill {n}"], "text": text}
            file.write(json.dumps(row) + "\n")
    with (folder / "nq.jsonl").open("w") as file:
        for n in range(_QUESTIONS):
            told = {"query": f"What did mill {n} grind?", "answer": ["rye"]}
            own = {"query_id": n, "context": "-", "context_titles": ["-"]}
            file.write(json.dumps({**own, **told}) + "\n")


def measure(folder: Path) -> list[float]:
    """Seconds to the first context and of one after it; the most memory, in MiB."""
    warnings.simplefilter("ignore")  # it is not of the published size
    began = time.perf_counter()
    dataset = load("longrag/nq", folder, corpus=folder)
    vectors = Vectors(WordCounts(), name="words", folder=folder)
    bench = Bench(dataset, OfflineReader(vectors), vectors)
    took = []
    for question in dataset.questions:
        LongRag(links="none").context(question, bench)
        took.append(time.perf_counter() - began)
        began = time.perf_counter()
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MEBI
    return [took[0], min(took[1:]), most]


def main() -> None:
    """Measure, each number of units in a process of its own."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpus")
    parser.add_argument("--units", type=int, nargs="+", default=[500, 5_000, 50_000])
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.folder is not None:
        print(json.dumps(measure(given.folder)))
        return
    print("| units | first question, s | each after it, s | most memory, MiB |")
    print("|---|---|---|---|")
    for units in given.units:
        with tempfile.TemporaryDirectory() as name:
            write(Path(name), units)
            command = [sys.executable, "-m", "benchmarks.corpus", "--folder", name]
            told = subprocess.run(  # noqa: S603 -- this file
                command, check=True, capture_output=True, text=True
            )
        first, after, most = json.loads(told.stdout)
        print(f"| {units:,} | {first:.1f} | {after:.2f} | {most:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
