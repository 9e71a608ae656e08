"""One retrieval: as many hits as a budget needs, and their neighbours, in order."""

from oprag.retrieving.retrieval import (
    Fetch,
    FetchPlan,
    OwnNumber,
    Retrieval,
    WordSearch,
)

__all__ = ["Fetch", "FetchPlan", "OwnNumber", "Retrieval", "WordSearch"]
