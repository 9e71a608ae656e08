"""`SelfRouteChain`: the retrieved chunks first, the full documents if needed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import merge_configs
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field

from langchain_oprag._answer_run import NOT_SHOWN
from langchain_oprag._driver import DrivenRunnable
from langchain_oprag._questions import read_question
from langchain_oprag._self_route_options import (
    SelfRouteOptions,
    checked,
    context_options,
)
from langchain_oprag._self_routing import SelfRouting
from langchain_oprag._wrapping import search_filter
from oprag.diagnosing import Verifiable
from oprag.errors import InvalidOptionError
from oprag.tokens import resolve_token_counter

if TYPE_CHECKING:
    from oprag.diagnosing import Verification

_NO_ANSWER = "The documents do not hold the answer to this question."
"""What an agent reads in the place of a refusal."""


class _ToolArguments(BaseModel):
    question: str = Field(description="A question that stands by itself.")


class SelfRouteChain(Verifiable, DrivenRunnable, SelfRouteOptions):
    """Answers from the retrieved chunks; from the full documents if they fail.

    The model reads the retrieved chunks, in document order, and may refuse. Only
    then does it read the full documents of those chunks. Out of a store they are read
    through the retriever's filter: a document of which it hides chunks is left out, and
    named in the step's `note`. `rungs=` puts other steps in between. It takes the place
    of `create_retrieval_chain`.

    The input is a question, or `{"input": question}`, perhaps with `chat_history`
    (messages in any form that LangChain takes); or `{"messages": …}`, as LangGraph
    keeps them: the last one of the user is the question. The output has

    - `input`: the question;
    - `context`: the documents that were read for the answer, in reading order: the
      retrieved ones, or of full documents one for each slice that was read;
    - `answer`: a string. If the model refuses at the last step, what it said;
      without any context the sentinel;
    - `route`: `rung`, the name of the step that the answer is from (None without
      any context), and `answered`, False for a refusal;
    - `usage`: what it took, see `oprag.calls.Ledger.to_dict`;
    - `messages`, where the input has them: the answer as an `AIMessage`, with the
      tokens of all steps in `usage_metadata` and the route in `response_metadata`.

    A stream gives these keys in this order, `answer` in pieces that join to it. Text
    is streamed once it cannot be a refusal any more; a refusal is not shown, unless
    it is the final reply. LangGraph's `stream_mode="messages"` and `astream_events`
    show the same, as one run of a chat model; with the tag `nostream` nothing. All
    other callbacks hear the calls of the model, which carry the tag `rung:<name>`.

    Args:
        **options: The fields of `SelfRouteOptions`.
        name: What runs are called in traces; None for the class's name.

    Raises:
        InvalidOptionError: On construction and assignment, for an option that does
            not exist or cannot have this value. It is a `ValueError`.
        RungFailedError: When invoked: the model failed for good. It carries
            the usage of the steps before.
        ContextWindowError: When invoked: a prompt does not fit the window.
        DocumentNotFoundError: When invoked: `documents` lacks a document.
        OpragError: When invoked: as `OrderPreservingRetriever` raises it.

    Source:
        Self-Route (arXiv 2407.16833). We differ: document order by default, and
        any number of steps.

    Example:
        >>> from langchain_core.documents import Document
        >>> from langchain_core.language_models import FakeListChatModel
        >>> from langchain_core.runnables import RunnableLambda
        >>> chunk = Document("It rained.", metadata={"source": "a", "start_index": 0})
        >>> chain = SelfRouteChain(
        ...     llm=FakeListChatModel(responses=["unanswerable", "In May."]),
        ...     retriever=RunnableLambda(lambda query: [chunk]),
        ...     documents={"a": "It rained. That was in May."},
        ... )
        >>> result = chain.invoke("When did it rain?")
        >>> result["answer"], result["route"]
        ('In May.', {'rung': 'full', 'answered': True})
    """

    def as_tool(
        self,
        args_schema: type[BaseModel] | None = None,
        *,
        name: str | None = None,
        description: str | None = None,
        arg_types: dict[str, type] | None = None,
    ) -> BaseTool:
        """Make a tool for agents: it answers one question.

        Args:
            args_schema: Not possible: the tool takes a question.
            name: What the agent calls it; None for `ask_documents`.
            description: What the agent is told of it; say what the documents are
                about.
            arg_types: Not possible, as `args_schema`.

        Returns:
            The tool. What the agent reads is the answer, or a sentence that says that
            there is none. The message's `artifact`, in plain values that can be kept,
            has `route`, `usage`, and `sources`: the metadata of what was read. Token
            streams show nothing of the tool's own calls.
        """
        if args_schema is not None or arg_types is not None:
            message = "The tool takes one argument, the question. Leave the schema out."
            raise InvalidOptionError(message, option="args_schema", value=args_schema)

        def ask(question: str, config: RunnableConfig) -> tuple[str, dict[str, Any]]:
            return _reported(self.invoke({"input": question}, _unshown(config)))

        async def aask(
            question: str, config: RunnableConfig
        ) -> tuple[str, dict[str, Any]]:
            return _reported(await self.ainvoke({"input": question}, _unshown(config)))

        told = "Answers a question from the documents, or says that they do not."
        return StructuredTool.from_function(
            ask,
            aask,
            name=name or "ask_documents",
            description=description or told,
            args_schema=_ToolArguments,
            response_format="content_and_artifact",
        )

    def _verification(self) -> Verification:
        # Here, so that importing the package does not take longer.
        from langchain_oprag._verifying import searched_stores
        from oprag.diagnosing import Verification

        options = context_options(self, resolve_token_counter(self.token_counter))
        if self.documents is not None:
            search = search_filter(self.retriever, {}, {})
            options = replace(options, documents=self._full_texts().within(search))
        full = any(rung.full for rung in checked(self).rungs)
        name = type(self).__name__
        stores = searched_stores(name, self.retriever)
        return Verification(name, stores, options, full)

    def _inside(self) -> list[Runnable[Any, Any]]:
        return [self.retriever, self.llm, *(self.rung_llms or {}).values()]

    def _answering(self, given: Any, config: RunnableConfig) -> SelfRouting:
        counter = resolve_token_counter(self.token_counter)
        question = read_question(given)
        return SelfRouting(self, question, config, counter, self._full_texts())


def _unshown(config: RunnableConfig) -> RunnableConfig:
    """Have token streams show the answer once: as the message of the tool."""
    return merge_configs(config, {"tags": [NOT_SHOWN]})


def _reported(result: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return what an agent reads, and what is kept with it: nothing of long texts."""
    route = result["route"]
    answer = result["answer"] if route["answered"] else _NO_ANSWER
    sources = [dict(document.metadata) for document in result["context"]]
    return answer, {"route": route, "sources": sources, "usage": result["usage"]}
