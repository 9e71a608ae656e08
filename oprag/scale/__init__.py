"""Indexing and evaluating on a Ray cluster; Ray is imported only when called."""

from oprag.scale.clusters import connected

__all__ = ["connected"]
