"""Indexing and evaluating on a Ray cluster; Ray is imported only when called."""

from typing import TYPE_CHECKING, Any

from oprag.scale.clusters import connected
from oprag.scale.indexing import index_on_ray

if TYPE_CHECKING:
    from oprag.scale.evaluating import QuestionsOnRay

__all__ = ["QuestionsOnRay", "connected", "index_on_ray"]


def __getattr__(name: str) -> Any:
    """Load what evaluates when it is asked for: indexing needs none of it."""
    if name != "QuestionsOnRay":
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from oprag.scale.evaluating import QuestionsOnRay

    return QuestionsOnRay
