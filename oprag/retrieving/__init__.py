"""One retrieval: as many hits as a budget needs, and their neighbours, in order."""

from oprag.retrieving.retrieval import Fetch, FetchPlan, Retrieval

__all__ = ["Fetch", "FetchPlan", "Retrieval"]
