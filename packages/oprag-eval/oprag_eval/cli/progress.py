"""Progress of a run: answers, money and embedded texts, on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from langchain_core.embeddings import Embeddings
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from oprag_eval.running.limits import Spending


class CountedEmbeddings(Embeddings):
    """Embeddings that say how many texts they have embedded: that can take minutes."""

    def __init__(self, embeddings: Embeddings) -> None:
        self._embeddings = embeddings
        self.texts = 0
        self.told: Callable[[], None] = lambda: None

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector per text."""
        vectors = self._embeddings.embed_documents(texts)
        self.texts += len(texts)
        self.told()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """The vector to search with."""
        return self._embeddings.embed_query(text)


@contextmanager
def answering(
    console: Console,
    total: int,
    spending: Spending | None,
    embeddings: CountedEmbeddings,
) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """A bar on a terminal; nothing elsewhere.

    Yields:
        The function to call with each answer.
    """
    columns = (
        TextColumn("Answers"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=total)

        def tell() -> None:
            said = [spent(spending)] if spending is not None else []
            if embeddings.texts:
                said.append(f"{embeddings.texts:,} texts embedded")
            bar.update(task, description=", ".join(said))

        def answered(_: Mapping[str, Any]) -> None:
            bar.advance(task)
            tell()

        embeddings.told = tell
        yield answered


def spent(spending: Spending) -> str:
    """Tell tokens, and the cost where there is a price."""
    cost = spending.cost
    tokens = f"{spending.tokens:,} tokens"
    return tokens if cost is None else f"{tokens}, cost {cost:,.4f}"
