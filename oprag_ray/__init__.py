"""Indexing on a Ray cluster; Ray is imported only when called."""

from oprag_ray.indexing import index_on_ray

__all__ = ["index_on_ray"]
