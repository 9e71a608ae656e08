"""Readers of the chunks of vector stores, one file a store.

The stores' packages are never imported: a store is known by the names of its classes,
and read through the client that it holds. Its wrapper would read vectors too, has no
pages, and stops at a number of its own; and some put a filter's value into SQL.
"""
