"""A line of Python to copy: the setting that a run advises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SPLITTERS = {
    "sentences": "OffsetSentenceSplitter(chunk_size={size})",
    "tokens": "OffsetTokenSplitter(chunk_size={size})",
    "langchain": "RecursiveCharacterTextSplitter(chunk_size={size}, "
    "chunk_overlap={overlap})",
    "llamaindex": "SentenceSplitter(chunk_size={size}, chunk_overlap={overlap})",
}
"""Splitters of `langchain_oprag` and the frameworks, by the unit of the chunks."""
_FRAMEWORKS = {"langchain", "llamaindex"}
_OVERLAP = 200
_LEAST = 5


def line_to_copy(settings: Mapping[str, Any] | None, budget: int | None) -> str:
    """Write a system that retrieves as a line of Python.

    Args:
        settings: Those of the system, as `run.json` has them.
        budget: Its tokens; None for a number of chunks.

    Returns:
        The line, with a comment that names the splitter. Empty for systems that are no
        retriever (the full document, trees of summaries), or that no store cuts so.
    """
    found = settings or {}
    unit, sizes = found.get("unit"), found.get("size")
    if not isinstance(sizes, list) or unit not in _SPLITTERS or _of_authors(found):
        return ""
    made = " and ".join(
        _SPLITTERS[unit].format(size=size, overlap=min(_OVERLAP, size // _LEAST))
        for size in sizes
    )
    return f"{_retriever(found, budget)}  # chunks of {made}"


def _of_authors(settings: Mapping[str, Any]) -> bool:
    return settings.get("compat") == "official"


def _retriever(settings: Mapping[str, Any], budget: int | None) -> str:
    top_n = settings.get("top_n")
    plain = settings["order"] == "rank" and settings["search"] == "vectors"
    if plain and top_n and settings["unit"] in _FRAMEWORKS:
        if settings["unit"] == "langchain":
            return f'store.as_retriever(search_kwargs={{"k": {top_n}}})'
        return f"index.as_retriever(similarity_top_k={top_n})"
    options = ["vectorstore=store"]
    if top_n:
        options.append(f"k={top_n}")
    if budget is not None:
        options.append(f"token_budget={budget}")
    if settings["order"] != "document":
        options.append(f'order="{settings["order"]}"')
    if settings["selection"] != "budget":
        options.append(f'selection="{settings["selection"]}"')
    if settings["search"] == "hybrid":
        options.append("bm25=True")
    return f"OrderPreservingRetriever({', '.join(options)})"
