"""Order controls: one chunk set, read in an order that nothing else depends on.

Their chunks are those of DOS RAG at the same budget; the hash of the chunk set stands
with every answer, and `contexts.check_chunk_sets` compares them.
"""

from __future__ import annotations

from oprag.evaluation.contexts import ChunkOrder
from oprag.evaluation.splittings import Splitting, SplitUnit
from oprag.evaluation.systems.retrieved import Retrieved
from oprag.evaluation.systems.system import Count


def order_document(
    *, name: str = "order-document", unit: SplitUnit = "sentences", size: Count = 100
) -> Retrieved:
    """In the order of the document."""
    return _control(name, unit, size, "document")


def order_score(
    *, name: str = "order-score", unit: SplitUnit = "sentences", size: Count = 100
) -> Retrieved:
    """Best first."""
    return _control(name, unit, size, "score")


def order_reverse(
    *, name: str = "order-reverse", unit: SplitUnit = "sentences", size: Count = 100
) -> Retrieved:
    """The document's order backwards."""
    return _control(name, unit, size, "reverse")


def order_shuffled(
    *, name: str = "order-shuffled", unit: SplitUnit = "sentences", size: Count = 100
) -> Retrieved:
    """Drawn, by the bench's seed and the question."""
    return _control(name, unit, size, "shuffled")


def order_edges(
    *, name: str = "order-edges", unit: SplitUnit = "sentences", size: Count = 100
) -> Retrieved:
    """The best at both ends, the worst in the middle."""
    return _control(name, unit, size, "edges")


def _control(name: str, unit: SplitUnit, size: int, order: ChunkOrder) -> Retrieved:
    return Retrieved(name, Splitting(unit, size), order)
