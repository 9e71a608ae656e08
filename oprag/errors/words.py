"""Names of objects in messages, without anything that may be secret."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Collection, Mapping
from pathlib import PurePath
from types import FrameType, MethodType
from typing import Any

_PLAIN = ("builtins", "datetime", "decimal", "enum", "fractions", "numpy", "oprag")
"""Packages whose values are written out."""

_NOT_THE_USERS = {
    *("oprag", "langchain_oprag", "llamaindex_oprag", "oprag_ray", "oprag_cli"),
    *("langchain", "langchain_classic", "langchain_core", "langgraph"),
    *("llama_index", "llama_index_instrumentation"),
    *("asyncio", "concurrent", "contextlib", "functools", "pydantic", "runpy"),
    *("selectors", "threading", "wrapt"),
}
"""Packages that call each other on the way from the user's line."""


def safe_repr(value: Any) -> str:
    """Return a value in the form that messages show.

    Returns:
        Its `repr`. For an object that may be a client, or has one inside, only the
        class, because the `repr` may have its key.
    """
    return repr(value) if _is_plain(value) else f"<{type(value).__name__}>"


def _is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return type(value) is dict and _is_plain([*value, *value.values()])
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(map(_is_plain, value))
    package = type(value).__module__.partition(".")[0]
    is_path, is_method = isinstance(value, PurePath), isinstance(value, MethodType)
    return (package in _PLAIN or is_path) and not is_method


def count_nouns(number: int, noun: str) -> str:
    """Return a number and a noun, in the plural unless it is one."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def describe_type(value: Any) -> str:
    """Return the kind of a value in words, and nothing of its contents.

    Returns:
        Such as `a list`, `None`, `the class Chroma`, or `a Document of llama_index`.
    """
    if value is None:
        return "None"
    if inspect.isclass(value):
        return f"the class {value.__name__}"
    if inspect.isroutine(value):
        return (
            "an async function" if inspect.iscoroutinefunction(value) else "a function"
        )
    if isinstance(value, bytes):
        return "bytes"
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    article = "an" if kind.__name__[0].lower() in "aeiou" else "a"
    of = "" if package in {"builtins", "pathlib"} else f" of {package}"
    return f"{article} {kind.__name__}{of}"


COUNTS = ("k", "top_n", "similarity_top_k")
"""The option for a number of results: frameworks have different words in each place."""
_WORDS_FOR: Mapping[tuple[str, ...], str] = {
    COUNTS: "top_k n n_results num_results limit",
    ("token_budget",): "budget max_tokens max_context_tokens token_limit tokens",
    ("answer_tokens",): "max_tokens max_new_tokens max_output_tokens",
    ("max_context_tokens",): "context_window window token_budget",
    ("token_counter", "tokenizer"): "length_function encoding_name encoding counter",
    ("vectorstore",): "vector_store store db",
    ("base_retriever", "retriever"): "base",
    ("documents",): "docs full_texts texts sources",
    ("document_key",): "doc_key doc_id id_key source_key source_id_key",
    ("position_keys",): "position_key page_key start_index sort_key",
    ("order",): "sort sort_by order_by",
    ("sort_documents",): "sort_by document_order",
    ("merge",): "merge_adjacent merge_chunks join",
    ("widen",): "neighbors neighbours expand window_size num_nodes",
    ("bm25",): "hybrid use_bm25 keyword_search",
    ("citations",): "cite citation with_citations include_citations",
    ("on_problem",): "on_error errors strict",
    ("separator",): "sep joiner document_separator",
    ("selection",): "mode strategy",
    ("llm",): "model chat_model language_model",
    ("prompts",): "prompt qa_prompt text_qa_template system_prompt",
    ("chunk_size",): "size max_chunk_size",
    ("chunk_overlap",): "overlap",
    ("splitter", "node_parser"): "text_splitter transformations parser",
}
"""Options, and the words of users who know them from other components."""
_OF_SPLITTERS = {"chunk_size", "chunk_overlap"}
_SPLITTING = {*_OF_SPLITTERS, "splitter", "node_parser"}
"""Options of splitters, and of components that are given one."""


def suggest_option(word: str, known: Collection[str]) -> str:
    """Ask back for the option that a word stands for, or else for the nearest.

    Args:
        word: The word that the user wrote.
        known: The options of the component. No others are named. If there are several
            words for one thing, these are the words of its framework.

    Returns:
        The question with a space after it. For an option of splitters, advice to set it
        there. Empty if nothing is near.
    """
    if word in _OF_SPLITTERS and _SPLITTING.isdisjoint(known):
        return "Set it on the splitter, before texts are indexed. "
    for options, words in _WORDS_FOR.items():
        if word in options or word in words.split():
            for option in options:
                if option in known:
                    return f"Did you mean {option!r}? "
    return did_you_mean(word, known)


def did_you_mean(name: str, known: Collection[str]) -> str:
    """Ask back for the nearest known name.

    Returns:
        The question with a space after it; empty if nothing is near.
    """
    import difflib  # here, because this is hardly ever needed

    near = difflib.get_close_matches(name, known, n=1)
    return f"Did you mean {near[0]!r}? " if near else ""


def find_caller_stacklevel() -> int:
    """Return the `stacklevel` of a warning at the first line of the user's code.

    In a thread without such a line, it is that of the caller's caller.
    """
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 -- as `warnings` does
    level = 1
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] not in _NOT_THE_USERS:
            return level
        frame, level = frame.f_back, level + 1
    return 2
