"""Tables of a page that are made of other elements, by their roles (WAI-ARIA)."""

from __future__ import annotations

from typing import Any

_TABLES = "//*[@role='table' or @role='grid' or @role='treegrid'][not(self::table)]"
_CELLS = {"cell": "td", "gridcell": "td", "columnheader": "th", "rowheader": "th"}


def make_tables(root: Any) -> None:
    """Turn elements that say that they are a table into one, in place.

    Only if its rows hold nothing but cells, as anything else would not be read.

    Args:
        root: The page's element.
    """
    for table in root.xpath(_TABLES):
        groups = [each for each in table if each.get("role") == "rowgroup"]
        rows = [
            row for part in (table, *groups) for row in part if row.get("role") == "row"
        ]
        cells = [cell for row in rows for cell in row]
        known = {*rows, *groups}
        if not cells or any(each not in known for each in table):
            continue
        if any(cell.get("role") not in _CELLS for cell in cells):
            continue
        table.tag = "table"
        for element in groups:
            element.tag = "tbody"
        for element in rows:
            element.tag = "tr"
        for cell in cells:
            cell.tag = _CELLS[cell.get("role")]
            for span in ("colspan", "rowspan"):
                cell.set(span, cell.get(f"aria-{span}") or "1")
