"""One retrieval: as many hits as a budget needs, what stands beside them, in order."""

from oprag.retrieving.retrieval import Fetch, FetchPlan, Retrieval

__all__ = ["Fetch", "FetchPlan", "Retrieval"]
