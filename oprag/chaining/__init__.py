"""Order that a store's own chunks prove: pages whose chunks overlap in one way."""

from oprag.chaining.document_chains import Counts, DocumentChains, report_unproved
from oprag.chaining.overlaps import Overlaps, Places

__all__ = ["Counts", "DocumentChains", "Overlaps", "Places", "report_unproved"]
