"""The embedding models that the other commands are tested with."""

from tests.cli.conftest import minilm, pytest_collection_modifyitems, tiny_model

__all__ = ["minilm", "pytest_collection_modifyitems", "tiny_model"]
