"""Readers of the chunks of vector stores, one file a store.

The stores' packages are never imported: a store is known by the names of its classes,
and read through the client that it holds. Its wrapper would also read vectors, has no
pages, and stops at its own limit. Some wrappers put a filter's value into SQL.
"""
