"""What is said of options and methods that are not there: what to write instead."""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar, cast

from oprag.errors import InvalidOptionError, did_you_mean, named

_Called = TypeVar("_Called", bound=Callable[..., Any])

COUNTS = ("top_n", "k", "similarity_top_k")
"""How many chunks: the words of components. Each has one of them."""
COUNT_WORDS = (*COUNTS, "top_k", "limit", "n_results", "num_results", "max_results")
"""All words for it that are used elsewhere."""
BUDGET_WORDS = (
    *("token_budget", "budget", "max_tokens", "token_limit", "max_tokens_limit"),
    *("max_token_limit", "max_context_tokens"),
)
"""The words for how many tokens are read."""

_SAME = (
    COUNT_WORDS,
    BUDGET_WORDS,
    ("token_counter", "tokenizer", "length_function", "encoding_name"),
    ("llm", "model", "chat_model", "language_model"),
    ("vectorstore", "vector_store", "vectordb", "store", "index", "db"),
    ("base_retriever", "retriever"),
    ("splitter", "node_parser", "text_splitter", "parser", "transformations"),
    ("documents", "docs", "docstore", "full_documents", "full_texts"),
    ("prompts", "prompt", "qa_prompt"),
    ("citations", "citation"),
    ("bm25", "hybrid", "keywords"),
)
"""Words of one meaning. A component has one word of each."""

GONE = {
    "preset": 'Write selection="recall" for what preset="recall" was.',
    "count_full_documents": "Leave it out: full documents are read only when they "
    "are sent, and usage says what every call took.",
    "multiple_choice": "Write the options below the question, as "
    "oprag.calls.format_options does; how to answer is said by the prompt.",
    "response_synthesizer": "Leave it out: llm= and rung_llms= read, with the prompts "
    "of rag_prompt= and full_prompt=.",
}
"""Names that were options once, of any component, and what to write instead."""

_OF_RENDERING = "It belongs to oprag.render, which writes the passages as text."
_NOT_HERE = {
    **dict.fromkeys(("citations", "citation"), _OF_RENDERING),
    **dict.fromkeys(
        ("widen", "bm25"), "Set it on OrderPreservingRetriever, which knows the store."
    ),
    **dict.fromkeys(
        ("hybrid", "keywords"),
        "Set bm25=True on OrderPreservingRetriever, which knows the store.",
    ),
    **dict.fromkeys(
        ("splitter", "node_parser", "text_splitter", "parser", "transformations"),
        "Give it to index_documents: documents are split before they are stored.",
    ),
    **dict.fromkeys(
        ("embedding", "embeddings", "embed_model"),
        "Leave it out: a store is searched with the embedding that it was made with.",
    ),
    "chunk_overlap": "Leave it out: chunks of whole sentences do not overlap.",
}
"""Options of others that have no other word here, and what to do."""


def refuse_unknown(
    given: Mapping[str, Any],
    known: Collection[str],
    elsewhere: Mapping[str, str] | None = None,
) -> None:
    """Reject what is not an option of a component.

    Args:
        given: Options by name.
        known: All that the component has.
        elsewhere: What to do instead, by option, for those that others have.

    Raises:
        InvalidOptionError: For the first one. The message names what to write instead,
            or the nearest option and all of them.
    """
    for option, value in given.items():
        if option not in known:
            instead = (elsewhere or {}).get(option) or _instead(option, known)
            message = f"There is no option {option!r}. {instead}"
            raise InvalidOptionError(message, option=option, value=value)


def _right_word(option: str, known: Collection[str]) -> str | None:
    """Return the option that a component has for another word; None if it has none."""
    for words in _SAME:
        if option in words:
            return next((word for word in words if word in known), None)
    return None


def _instead(option: str, known: Collection[str]) -> str:
    if word := _right_word(option, known):
        return f"Write {word}= here."
    if option in GONE:
        return GONE[option]
    if option in _NOT_HERE:
        return _NOT_HERE[option]
    return f"{did_you_mean(option, known)}Known options: {', '.join(known)}."


def needs(
    write: str, called: str | None = None, elsewhere: Mapping[str, str] | None = None
) -> Callable[[_Called], _Called]:
    """Have a constructor say what it lacks, or does not know, and how it is called.

    Args:
        write: The call, without the class's name where that is called itself.
        called: Name of what is called, where it is a function or a class method.
        elsewhere: See `refuse_unknown`.

    Returns:
        A decorator for `__init__`, for functions and below `@classmethod`.
    """

    def checking(function: _Called) -> _Called:
        parameters = [*inspect.signature(function).parameters.values()]
        bound = int(parameters[0].name in {"self", "cls"})
        parameters = parameters[bound:]
        listed = [p for p in parameters if p.kind is not p.VAR_KEYWORD]
        unnamed = [p for p in listed if p.kind is p.POSITIONAL_OR_KEYWORD]
        required = [p.name for p in listed if p.default is p.empty]
        known = [p.name for p in listed] if listed == parameters else None

        def check(*arguments: Any, **options: Any) -> None:
            given = arguments[bound:]
            name = called or type(arguments[0]).__name__
            example = f"Write {name}{write}."
            if len(given) > len(unnamed):
                value = given[len(unnamed)]
                message = (
                    f"{name} takes its options by name, and was given {named(value)} "
                    f"without one. {example}"
                )
                raise InvalidOptionError(message, option=name, value=value)
            missing = [r for r in required[len(given) :] if r not in options]
            if missing:
                has = [*(p.name for p in listed[: len(given)]), *options]
                found = f"{_named(has)} alone" if has else "nothing"
                message = f"{name} needs {_named(missing)}, and was given {found}."
                raise InvalidOptionError(
                    f"{message} {example}", option=missing[0], value=None
                )
            if known is not None:
                instead = {o: example for o in options if not _right_word(o, known)}
                refuse_unknown(
                    options, known, {**instead, **_NOT_HERE, **(elsewhere or {})}
                )

        return _checked(function, check)

    return checking


def _checked(called: _Called, check: Callable[..., None]) -> _Called:
    """Have a function, plain or `async`, look at what it is given before it runs."""

    @functools.wraps(called)
    def checked(*given: Any, **options: Any) -> Any:
        check(*given, **options)
        return called(*given, **options)

    @functools.wraps(called)
    async def achecked(*given: Any, **options: Any) -> Any:
        check(*given, **options)
        return await called(*given, **options)

    return cast("_Called", achecked if inspect.iscoroutinefunction(called) else checked)


def _named(options: Sequence[str]) -> str:
    *first, last = [f"{option}=" for option in options]
    return f"{', '.join(first)} and {last}" if first else last


_CALLS = ("invoke", "retrieve", "get_relevant_documents", "query")
"""Words for asking a retriever; of their async versions each begins with an a."""


def no_attribute(component: str, name: str, asked: str, of: str = "question") -> str:
    """Return what is said of an attribute that a component does not have.

    Args:
        component: Its class name.
        name: What was looked for.
        asked: The method to call.
        of: What it is called with.
    """
    message = f"{component!r} object has no attribute {name!r}"
    for a in ("", "a"):
        if name in [a + call for call in _CALLS]:
            return f"{message}. Write {a}{asked}({of})."
    return message


_COUNTERPARTS = {
    "LongReader": "LongReaderSynthesizer",
    "OffsetSentenceSplitter": "OffsetSentenceNodeParser",
    "OffsetTokenSplitter": "OffsetTokenNodeParser",
    "OrderPreservingCompressor": "OrderPreservingPostprocessor",
    "SelfRouteChain": "SelfRouteQueryEngine",
    "annotate_positions": "PositionAnnotator",
    "as_documents": "as_nodes",
    "format_documents": "format_nodes",
}
"""What LangChain's adapter has, and what LlamaIndex's has in its place."""


def no_name(module: str, name: str) -> str:
    """Return what is said of a name that an adapter does not have."""
    message = f"module {module!r} has no attribute {name!r}"
    others = {**_COUNTERPARTS, **{new: old for old, new in _COUNTERPARTS.items()}}
    if name in others:
        return f"{message}. Write {others[name]} here."
    if name in sys.modules["oprag"].__all__:
        return f"{message}. Write from oprag import {name}."
    return message


_SEARCH = re.compile(
    "search|retrieve|max_marginal|relevant_documents|fusion|merge_documents"
)


def is_search(name: str, value: object) -> bool:
    """Say whether a method of what is wrapped returns what it finds, as it ranks it.

    Args:
        name: Of the attribute. Reading by ids is no search.
        value: What it is: settings of a search may have such a name too.
    """
    routine = inspect.isroutine(value) or isinstance(value, functools.partial)
    return routine and _SEARCH.search(name) is not None


def not_ordered(component: str, name: str, instead: str) -> str:
    """Return what is said of a search that a retriever keeps to itself.

    Args:
        component: Its class name.
        name: What was looked for.
        instead: What to do in its place, as a sentence.
    """
    return (
        f"{component!r} object has no attribute {name!r}: that of what it wraps would "
        f"return what it finds best first, not in document order. {instead}"
    )


def refuse_beside(options: Mapping[str, Any], component: str) -> None:
    """Refuse options that are given beside a component that has its own.

    Args:
        options: What was given.
        component: The component's class name.

    Raises:
        InvalidOptionError: For the first one. It says where it is set.
    """
    for option, value in options.items():
        message = (
            f"{option}= is given beside an {component}, whose own options hold. "
            f"Write {component}(…, {option}={value!r})."
        )
        raise InvalidOptionError(message, option=option, value=value)


def knows_its_options(
    elsewhere: Mapping[str, str] | None = None,
) -> Callable[[_Called], _Called]:
    """Have a function refuse what is not an option of it, in the words of this module.

    Args:
        elsewhere: As `refuse_unknown` takes it.

    Returns:
        A decorator for functions, plain and `async`.
    """

    def checking(called: _Called) -> _Called:
        known = [*inspect.signature(called).parameters]

        def check(*_: Any, **options: Any) -> None:
            refuse_unknown(options, known, elsewhere)

        return _checked(called, check)

    return checking
