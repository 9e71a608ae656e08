"""Readers of the chunks of vector stores, one file a store.

The stores' packages are never imported: a store is known by the names of its classes.
"""
