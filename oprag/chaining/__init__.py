"""Order that a store's own chunks prove: pages whose chunks overlap in one way."""

from oprag.chaining.document_chains import DocumentChains, PageCounts
from oprag.chaining.overlaps import MOST_CHUNKS, Overlaps, Places, report_unproved

__all__ = [
    "MOST_CHUNKS",
    "DocumentChains",
    "Overlaps",
    "PageCounts",
    "Places",
    "report_unproved",
]
