"""The model and the scripts that the other commands are tested with."""

from tests.cli.conftest import (
    environment,
    pytest_collection_modifyitems,
    scripted,
    tiny_model,
)

__all__ = ["environment", "pytest_collection_modifyitems", "scripted", "tiny_model"]
