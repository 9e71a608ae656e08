"""`Place`, and the expressions that several places have in common."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CHAINED", "FUSION", "SEARCH", "Place", "over_pipeline"]

CHAINED = "MarkdownNodeParser(), SentenceSplitter(chunk_size=60, chunk_overlap=0)"
FUSION = "QueryFusionRetriever([retriever, other], llm=writer, similarity_top_k=10)"
SEARCH = 'name="search", description="Searches the lease."'


class Place(NamedTuple):
    """A place to put one of oprag's components."""

    id: str
    """Names the place in the page and in the tests; it does not change."""
    kind: str
    """What it belongs to; the tests of a kind are in one module."""
    where: str
    """The place in words, in Markdown."""
    how: str
    """One Python expression on the names of `ingredients.py`."""
    instead: str | None = None
    """Where order is lost: id of a place that keeps it. None where it is kept."""

    @property
    def verdict(self) -> str:
        """What the page says of the order."""
        if self.instead is None:
            return "yes"
        lost = "error" if self.kind == "refused" else "no"
        return f"{lost}: `{self.instead}`"


def over_pipeline(transformations: str, documents: str) -> str:
    return (
        "OrderPreservingRetriever(retriever_over(IngestionPipeline("
        f"transformations=[{transformations}]).run(documents={documents})))"
    )
