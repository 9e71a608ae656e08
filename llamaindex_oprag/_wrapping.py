"""What retrievers that wrap another one have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.prompts.mixin import PromptDictType, PromptMixinType
from llama_index.core.schema import IndexNode, NodeWithScore, QueryBundle

from llamaindex_oprag._fetching import Fetch
from oprag.errors import InvalidOptionError

_Received = TypeVar("_Received")


class WrappingRetriever(BaseRetriever):
    """A retriever around another one, whose public attributes it passes through.

    Args:
        base_retriever: Returns nodes best first.
        callback_manager: None for that of `base_retriever`.
        object_map: What index nodes stand for, by their `index_id`.
        objects: The same as a list of index nodes that hold their objects.
        verbose: Print what index nodes are resolved to.

    Raises:
        InvalidOptionError: `base_retriever` is no retriever.
    """

    def __init__(
        self,
        base_retriever: BaseRetriever,
        *,
        callback_manager: CallbackManager | None,
        object_map: dict[str, Any] | None,
        objects: list[IndexNode] | None,
        verbose: bool,
    ) -> None:
        if not isinstance(base_retriever, BaseRetriever):
            raise _no_retriever(base_retriever)
        self.base_retriever = base_retriever
        inherited = getattr(base_retriever, "callback_manager", None)
        super().__init__(
            callback_manager=callback_manager or inherited,
            object_map=object_map,
            objects=objects,
            verbose=verbose,
        )

    def __getattr__(self, name: str) -> Any:
        """Pass through what the base retriever has and this one has not."""
        if name.startswith("_") or name == "base_retriever":  # while being copied
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=self)
        return getattr(self.base_retriever, name)

    def _fetched(
        self,
        query_bundle: QueryBundle,
        fetch: Fetch,
        receive: Callable[[list[NodeWithScore]], tuple[_Received, bool]],
    ) -> _Received:
        """Ask the base retriever, again while more are wanted.

        Args:
            query_bundle: The question.
            fetch: For how many nodes.
            receive: From the nodes that came, index nodes resolved, to what they are
                made into, and whether all of them were used for it.
        """
        while True:
            found = fetch.retriever().retrieve(query_bundle)
            nodes = super()._handle_recursive_retrieval(query_bundle, found)
            received, used_all = receive(nodes)
            if not fetch.wants_more(found, used_all=used_all):
                return received

    async def _afetched(
        self,
        query_bundle: QueryBundle,
        fetch: Fetch,
        receive: Callable[[list[NodeWithScore]], tuple[_Received, bool]],
    ) -> _Received:
        """Async version of `_fetched`."""
        while True:
            found = await fetch.retriever().aretrieve(query_bundle)
            nodes = await super()._ahandle_recursive_retrieval(query_bundle, found)
            received, used_all = receive(nodes)
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


def _no_retriever(value: Any) -> InvalidOptionError:
    hint = " Pass index.as_retriever()." if hasattr(value, "as_retriever") else ""
    message = f"base_retriever takes a retriever, not a {type(value).__name__}.{hint}"
    return InvalidOptionError(message, option="base_retriever", value=value)
