"""`OrderPreservingPostprocessor` where LlamaIndex's users look for postprocessors."""

from llamaindex_oprag import OrderPreservingPostprocessor

__all__ = ["OrderPreservingPostprocessor"]
