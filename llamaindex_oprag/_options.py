"""Options that can be assigned later, given for one call, or left to LlamaIndex.

LlamaIndex's methods take no options, and it traces a method that overrides one a second
time. So these classes stand beside its base classes, and not below them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import llama_index.core
from llama_index.core.schema import NodeWithScore, QueryType

from llamaindex_oprag.documents import SourceLike
from oprag.context import (
    DESCRIPTIONS,
    ContextKeywords,
    ContextOptions,
    Widen,
    check_option,
)
from oprag.errors import refuse_in_call
from oprag.tokens import TokenizerSpec


class RetrieverKeywords(ContextKeywords, total=False):
    """Options of order and text of `OrderPreservingRetriever`, for type checkers."""

    documents: SourceLike | None


class OrderedKeywords(RetrieverKeywords, total=False):
    """All options of `OrderPreservingRetriever` that decide which nodes are read."""

    similarity_top_k: int | None
    widen: Widen | None
    bm25: bool
    verify_index: bool


class AssignableOption:
    """An option of the core, which is read and assigned as an attribute.

    Args:
        convert: Makes the core's value of the assigned one; None to take it unchanged.
    """

    def __init__(self, convert: Callable[[Any], Any] | None = None) -> None:
        self._convert = convert

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._name = name

    def __get__(self, component: Any, owner: type[Any]) -> Any:
        """Return the value that the component has."""
        if component is None:
            return self
        return getattr(component._options, self._name)  # noqa: SLF001 -- of this package

    def __set__(self, component: Any, value: Any) -> None:
        """Assign the option, or refuse its value."""
        value = value if self._convert is None else self._convert(value)
        options = replace(component._options, **{self._name: value})  # noqa: SLF001 -- as above
        component._options = options  # noqa: SLF001 -- as above


class OwnOption:
    """A component's own option, which is checked when it is assigned."""

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._name = name

    def __get__(self, component: Any, owner: type[Any]) -> Any:
        """Return the value that the component has."""
        return self if component is None else vars(component)[self._name]

    def __set__(self, component: Any, value: Any) -> None:
        """Assign the option, or refuse its value."""
        check_option(self._name, value)
        vars(component)[self._name] = value


class _CallOptions:
    per_call: ClassVar[Collection[str]]
    """Names of the options that may be given for one call."""
    advice: ClassVar[Mapping[str, str]]
    """Advice for names that are no option here."""

    def _for_call(self, call: Mapping[str, Any]) -> Self:
        """Return a copy with the options of one call.

        Raises:
            InvalidOptionError: An option is not for one call, or has no such value.
        """
        name = type(self).__name__
        refuse_in_call(name, call, self.per_call, DESCRIPTIONS, self.advice)
        copied = copy.copy(self)
        for name, value in call.items():
            setattr(copied, name, value)
        return copied


class RetrievingWithOptions(_CallOptions):
    """Retrieve with options for one call; name this before LlamaIndex's base class."""

    def retrieve(
        self, str_or_query_bundle: QueryType, **call: Any
    ) -> list[NodeWithScore]:
        """Retrieve nodes, in the order of their documents.

        Args:
            str_or_query_bundle: The question.
            **call: `similarity_top_k`, `token_budget` and `merge` for this call.

        Raises:
            InvalidOptionError: An option is not for one call, or has no such value.
        """
        if call:
            return self._for_call(call).retrieve(str_or_query_bundle)
        return super().retrieve(str_or_query_bundle)  # type: ignore[misc,no-any-return]  # of the base class beside it

    async def aretrieve(
        self, str_or_query_bundle: QueryType, **call: Any
    ) -> list[NodeWithScore]:
        """Async version of `retrieve`."""
        if call:
            return await self._for_call(call).aretrieve(str_or_query_bundle)
        return await super().aretrieve(str_or_query_bundle)  # type: ignore[misc,no-any-return]  # as above


class PostprocessingWithOptions(_CallOptions):
    """Postprocess with options for one call; name this before LlamaIndex's class."""

    def postprocess_nodes(
        self, nodes: list[NodeWithScore], *args: Any, **call: Any
    ) -> list[NodeWithScore]:
        """Select the best nodes and put them in the order of their documents.

        Args:
            nodes: Best first. Not changed.
            *args: Query bundle and query, as LlamaIndex gives them; not used.
            **call: Those two by name; `top_n`, `token_budget` and `merge` for this
                call.

        Raises:
            OpragError: As the component says.
        """
        query, options = _split_call(call)
        if options:
            component = self._for_call(options)
            return component.postprocess_nodes(nodes, *args, **query)
        return super().postprocess_nodes(nodes, *args, **query)  # type: ignore[misc,no-any-return]  # of the base class beside it

    async def apostprocess_nodes(
        self, nodes: list[NodeWithScore], *args: Any, **call: Any
    ) -> list[NodeWithScore]:
        """Async version of `postprocess_nodes`."""
        query, options = _split_call(call)
        if options:
            component = self._for_call(options)
            return await component.apostprocess_nodes(nodes, *args, **query)
        return await super().apostprocess_nodes(nodes, *args, **query)  # type: ignore[misc,no-any-return]  # as above


def _split_call(call: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return LlamaIndex's own arguments of a call, and the options beside them."""
    query = {name: each for name, each in call.items() if name in _QUERY}
    return query, {name: each for name, each in call.items() if name not in _QUERY}


_QUERY = ("query_bundle", "query_str")


def default_tokenizer(token_counter: TokenizerSpec) -> TokenizerSpec:
    """Return the given counter; without one, the one that LlamaIndex was told to use.

    That is `Settings.tokenizer` if somebody set it; reading the setting would set it.
    """
    if token_counter is None:
        return llama_index.core.global_tokenizer
    return token_counter


def set_tokenizer(options: ContextOptions) -> ContextOptions:
    """Return options with LlamaIndex's counter if none was given."""
    counter = default_tokenizer(options.token_counter)
    if counter is options.token_counter:
        return options
    return replace(options, token_counter=counter)
