"""What retrievers that wrap another one have in common."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, TypeVar

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.prompts.mixin import PromptDictType, PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle

from llamaindex_oprag._fetching import Fetch
from oprag.errors import InvalidOptionError

_Received = TypeVar("_Received")
_Receive: TypeAlias = Callable[[list[NodeWithScore]], tuple[_Received, bool]]
"""From what came, index nodes resolved, to a result, and whether all was used."""
_AReceive: TypeAlias = Callable[
    [list[NodeWithScore]], Awaitable[tuple[_Received, bool]]
]


class WrappingRetriever(BaseRetriever):
    """A retriever around another one, whose public attributes it passes through.

    Args:
        base_retriever: Returns nodes best first.
        callback_manager: None for that of `base_retriever`.
        **options: The others of `BaseRetriever`.

    Raises:
        InvalidOptionError: `base_retriever` is no retriever.
    """

    def __init__(
        self,
        base_retriever: BaseRetriever,
        *,
        callback_manager: CallbackManager | None,
        **options: Any,
    ) -> None:
        check_retriever("base_retriever", base_retriever)
        self.base_retriever = base_retriever
        manager = callback_manager or getattr(base_retriever, "callback_manager", None)
        super().__init__(callback_manager=manager, **options)

    def __getattr__(self, name: str) -> Any:
        """Pass through what the base retriever has and this one has not."""
        if name.startswith("_") or name == "base_retriever":  # while being copied
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=self)
        return getattr(self.base_retriever, name)

    def _fetched(
        self, query: QueryBundle, fetch: Fetch, receive: _Receive[_Received]
    ) -> _Received:
        """Ask the base retriever until `receive` did not use all that came."""
        while True:
            found = fetch.retriever().retrieve(query)
            nodes = super()._handle_recursive_retrieval(query, found)
            received, used_all = receive(nodes)
            if not fetch.wants_more(found, used_all=used_all):
                return received

    async def _afetched(
        self, query: QueryBundle, fetch: Fetch, receive: _AReceive[_Received]
    ) -> _Received:
        """Async version of `_fetched`."""
        while True:
            found = await fetch.retriever().aretrieve(query)
            nodes = await super()._ahandle_recursive_retrieval(query, found)
            received, used_all = await receive(nodes)
            if not fetch.wants_more(found, used_all=used_all):
                return received

    def _handle_recursive_retrieval(
        self, query_bundle: QueryBundle, nodes: list[NodeWithScore]
    ) -> list[NodeWithScore]:
        """Leave the nodes as they are: index nodes were resolved before."""
        return nodes

    async def _ahandle_recursive_retrieval(
        self, query_bundle: QueryBundle, nodes: list[NodeWithScore]
    ) -> list[NodeWithScore]:
        return nodes

    def _get_prompts(self) -> PromptDictType:
        return self.base_retriever._get_prompts()  # noqa: SLF001 -- overridden here

    def _get_prompt_modules(self) -> PromptMixinType:
        return self.base_retriever._get_prompt_modules()  # noqa: SLF001 -- as above

    def _update_prompts(self, prompts_dict: PromptDictType) -> None:
        self.base_retriever._update_prompts(prompts_dict)  # noqa: SLF001 -- as above


def check_retriever(option: str, value: Any) -> None:
    """Reject what is no retriever.

    Raises:
        InvalidOptionError: It is none.
    """
    if isinstance(value, BaseRetriever):
        return
    hint = " Pass index.as_retriever()." if hasattr(value, "as_retriever") else ""
    message = f"{option} takes a retriever, not a {type(value).__name__}.{hint}"
    raise InvalidOptionError(message, option=option, value=type(value).__name__)
