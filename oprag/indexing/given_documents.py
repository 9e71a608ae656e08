"""What `index_documents` is given: a folder or several documents, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from oprag.errors import InvalidOptionError

__all__ = ["check_documents"]


def check_documents(documents: object, document_type: type) -> None:
    """Refuse what is no folder and no list of documents, before anything is read.

    Args:
        documents: What was given.
        document_type: The framework's class of documents.

    Raises:
        InvalidOptionError: It is one document, or cannot be iterated over.
    """
    what = type(documents).__name__
    if isinstance(documents, document_type):
        message = f"documents= is one {what}. Give a list: [document]."
    elif isinstance(documents, (str, Path, Iterable)):
        return
    else:
        message = (
            f"documents= is of type {what}. It takes the path of a folder of text "
            f"files, or several {document_type.__name__} objects, as a list."
        )
    raise InvalidOptionError(message, option="documents", value=documents)
