"""Conditions of PostgreSQL on metadata that are JSON, for both frameworks."""

from __future__ import annotations

import importlib
from typing import Any

from oprag.metadata import CHUNK_INDEX, DOC_KEY
from oprag.stores.stored_chunks import Wanted


def match_wanted(wanted: Wanted, metadata: Any) -> Any:
    """Return the condition that a row is one of the chunks, for SQLAlchemy.

    Args:
        wanted: At least one document.
        metadata: The column of the metadata. Keys and values are bound parameters.
    """
    sql: Any = importlib.import_module("sqlalchemy")
    each = []
    for doc_key, indexes in wanted.items():
        of_one = metadata[DOC_KEY].astext == doc_key
        if indexes is not None:
            numbers = [*map(str, indexes)]
            of_one = sql.and_(of_one, metadata[CHUNK_INDEX].astext.in_(numbers))
        each.append(of_one)
    return sql.or_(*each)
