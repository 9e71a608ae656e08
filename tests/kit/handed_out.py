"""Ids and texts of a framework's objects, whatever their metadata hold."""

from collections.abc import Iterable
from typing import Any


def ids_and_texts(objects: Iterable[Any]) -> list[tuple[Any, str]]:
    return [_told(getattr(each, "node", each)) for each in objects]


def _told(each: Any) -> tuple[Any, str]:
    if hasattr(each, "page_content"):
        return each.id, each.page_content
    return each.node_id, each.get_content()
