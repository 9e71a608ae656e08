"""A question and its options outside the page: as a link, and as Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args
from urllib.parse import urlencode

from oprag.context import Selection
from oprag_cli.options import SearchOptions

BUDGETS = (500, 1_000, 2_000, 4_000, 8_000, 16_000)
"""Tokens, as the slider has them."""
_LARGEST = 100_000
"""The largest value of a number that the page sends."""


def chosen_options(given: Mapping[str, Any], options: SearchOptions) -> SearchOptions:
    """Return options, changed by those that the page or a link gives.

    Args:
        given: Values by name, as text or as in JSON. Other options stay.
        options: The options to change.

    Raises:
        ValueError: The page does not offer such a value.
    """
    changed: dict[str, Any] = {}
    if "token_budget" in given:
        wanted = int(given["token_budget"])
        changed["token_budget"] = min(BUDGETS, key=lambda each: abs(each - wanted))
    for name in ("k", "widen"):
        if name in given:
            changed[name] = _number(given[name])
    if given.get("widen") == "fill":
        changed["widen"] = "fill"
    if "selection" in given:
        if given["selection"] not in get_args(Selection):
            raise ValueError(given["selection"])
        changed["selection"] = given["selection"]
    if "merge" in given:
        changed["merge"] = str(given["merge"]).lower() in {"true", "1"}
    return replace(options, **changed)


def link_to(question: str, options: SearchOptions) -> str:
    """Return the part of a link that holds a question and its options."""
    if not question:
        return "/"
    return "/?" + urlencode(
        {"q": question, **_find_differing(options)}, errors="replace"
    )


def write_python(question: str, options: SearchOptions) -> str:
    """Return the lines that retrieve the same from a vector store."""
    named = {"token_budget": options.token_budget, **_find_differing(options)}
    named |= {"merge": options.merge, "order": "document", "citations": True}
    lines = "".join(f"    {name}={value!r},\n" for name, value in named.items())
    return (
        "from langchain_oprag import OrderPreservingRetriever, format_documents\n\n"
        "retriever = OrderPreservingRetriever(\n"
        "    vectorstore=vectorstore,  # yours, with your files in it\n"
        f"{lines})\n"
        f"documents = retriever.invoke({question!r})\n"
        "print(format_documents(documents, citations=True))\n"
    )


def _find_differing(options: SearchOptions) -> dict[str, Any]:
    """Return the options whose values are not the defaults."""
    usual = SearchOptions()
    names = ("token_budget", "k", "widen", "selection", "merge")
    values = {name: getattr(options, name) for name in names}
    return {n: value for n, value in values.items() if value != getattr(usual, n)}


def _number(value: object) -> int | None:
    if value in (None, "", "fill"):
        return None
    return min(max(int(str(value)), 1), _LARGEST)
