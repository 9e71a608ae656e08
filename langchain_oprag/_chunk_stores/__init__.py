"""How the chunks of each vector store are read, one file a store.

The stores' packages are never imported: a store is known by the names of its classes.
"""
