"""Blocks of Ray Data that hold any objects: one column of pickled items."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from typing import Any

from oprag.optional import require

_COLUMN = "item"


def packed(items: Iterable[Any]) -> Any:
    """Return a table of Arrow that holds items, in their order."""
    arrow = require("pyarrow", extra="ray", purpose="A run on a cluster")
    rows = [pickle.dumps(item, pickle.HIGHEST_PROTOCOL) for item in items]
    return arrow.table({_COLUMN: arrow.array(rows, arrow.large_binary())})


def unpacked(table: Any) -> list[Any]:
    """Return the items of a table that `packed` made."""
    rows = table.column(_COLUMN).to_pylist()
    return [pickle.loads(row) for row in rows]  # noqa: S301 -- a worker of ours made it
