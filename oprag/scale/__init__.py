"""Indexing on a Ray cluster; Ray is imported only when called."""

from oprag.scale.indexing import index_on_ray

__all__ = ["index_on_ray"]
