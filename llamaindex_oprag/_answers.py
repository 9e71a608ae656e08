"""Answers to questions as LlamaIndex gives them: whole or streamed, sync or async."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncGenerator, Generator, Iterable, Mapping, Sequence
from contextlib import aclosing, closing
from functools import partial
from typing import Any

import llama_index.core.instrumentation as instrument
from llama_index.core.base.response.schema import (
    RESPONSE_TYPE,
    AsyncStreamingResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.callbacks import CBEventType, EventPayload
from llama_index.core.instrumentation.events.synthesis import (
    SynthesizeEndEvent,
    SynthesizeStartEvent,
)
from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType
from llama_index.core.tools import FunctionTool

from llamaindex_oprag._llms import (
    answer_tokens_of,
    list_called_tools,
    name_of,
    read_usage,
    window_of,
)
from llamaindex_oprag._prompts import Sent, fill_prompt
from oprag import calls
from oprag.calls import (
    DECLINE_TOOL,
    CallModel,
    ClientCalls,
    arun_dialogue,
    frame_tokens,
    run_dialogue,
)
from oprag.documents import check_entries
from oprag.effects import run_in_thread

EMPTY_RESPONSE = "Empty Response"
"""The response of LlamaIndex's synthesizers if they have no answer."""

_dispatcher = instrument.get_dispatcher(__name__)  # type: ignore[attr-defined]  # re-exported there without an __all__


class Answering(calls.Answering[str]):
    """One question, and the nodes that it is answered from.

    Args:
        options: With `prices`, `counter`, `max_context_tokens` and `answer_tokens`.
        nodes: The retrieved nodes.
        additional: Further nodes to name as sources.
    """

    streams_drafts = False

    def __init__(
        self,
        options: Any,
        nodes: Sequence[NodeWithScore],
        additional: Sequence[NodeWithScore],
    ) -> None:
        super().__init__(options, options.counter)
        self.retrieved = nodes
        self._additional = additional

    @abstractmethod
    def llm(self, prompt: str) -> LLM:
        """Return the model that a prompt is for."""

    @abstractmethod
    def template(self, prompt: str) -> BasePromptTemplate:
        """Return the prompt of that name."""

    @abstractmethod
    def nodes_read(self) -> list[NodeWithScore]:
        """Return the nodes read for the answer so far, in reading order."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Return the response's metadata known so far, without nodes and usage."""

    def fill_values(self, values: Mapping[str, str]) -> Mapping[str, str]:
        """Complete the values of a prompt, from those that the method knows."""
        return values

    def fill_prompt(self, prompt: str, values: Mapping[str, str]) -> Sent:
        """Fill a prompt in."""
        return fill_prompt(
            self.llm(prompt), self.template(prompt), self.fill_values(values)
        )

    def count_prompt(self, prompt: str, values: Mapping[str, str]) -> int:
        """Count a prompt with its values, and the chat format around it."""
        sent = self.fill_prompt(prompt, values)
        if isinstance(sent, str):
            return self.counter(sent)
        text = "\n".join(message.content or "" for message in sent)
        return self.counter(text) + frame_tokens(len(sent))

    def read_window(self, prompt: str) -> int | None:
        """Return the window of the model."""
        return window_of(self.llm(prompt))

    def read_longest_answer(self, prompt: str) -> int | None:
        """Return the longest answer of the model."""
        return answer_tokens_of(self.llm(prompt))

    def name_model(self, prompt: str) -> str | None:
        """Name the model; None if it does not name itself."""
        return name_of(self.llm(prompt))

    def start_call(self, request: CallModel) -> ModelCall:
        """Begin a call of a model."""
        return ModelCall(self, request)

    def format_text(self, request: CallModel, text: str) -> Iterable[str]:
        """Return a piece of the answer; a draft is not part of it."""
        return () if request.purpose == "draft" else (text,)

    def source_nodes(self) -> list[NodeWithScore]:
        """Return the nodes read, and the additional nodes."""
        return [*self.nodes_read(), *self._additional]

    def metadata(self) -> dict[str, Any]:
        """Return the response's metadata known so far.

        Returns:
            The facts, `usage` (see `oprag.calls.Ledger.to_dict`), and the metadata of
            the nodes by their ids, as LlamaIndex writes them.
        """
        nodes = {each.node.node_id: each.node.metadata for each in self.source_nodes()}
        return {**nodes, **self.facts(), "usage": self.ledger.to_dict()}


def _decline(reason: str = "") -> str:
    """Stand for the tool, which nobody carries out."""
    return reason


_TOOL = FunctionTool.from_defaults(
    _decline, name=DECLINE_TOOL["name"], description=DECLINE_TOOL["description"]
)


class ModelCall(calls.ModelCall):
    """A call of an LLM."""

    def __init__(self, answering: Answering, request: CallModel) -> None:
        llm: Any = answering.llm(request.prompt)
        sent = answering.fill_prompt(request.prompt, request.values)
        method = "chat"
        given: list[Any] = [sent]
        options: dict[str, Any] = {}
        if isinstance(sent, str):
            method, options = "complete", {"formatted": True}
        elif answering.decline == "tool":
            method, given = "chat_with_tools", [[_TOOL], None, sent]

        def call_by(name: str) -> partial[Any]:
            return partial(getattr(llm, name), *given, **options)

        client = ClientCalls(
            ask=call_by(method),
            aask=call_by(f"a{method}"),
            stream=call_by(f"stream_{method}"),
            astream=call_by(f"astream_{method}"),
        )
        super().__init__(answering, request, client)

    def read_piece(self, piece: Any, *, whole: bool) -> str:
        """Return the text of a reply or a piece; note the facts that it reports.

        In a stream, the last part that reports tokens counts: servers that report in
        every part report the sum so far.
        """
        self.usage = read_usage(piece) or self.usage
        self.called.update(list_called_tools(piece))
        if not whole:
            return piece.delta or ""
        message = getattr(piece, "message", None)
        return (piece.text if message is None else message.content) or ""


def respond(answering: Answering, *, streaming: bool) -> Response | StreamingResponse:
    """Answer, and return the answer as a response.

    Args:
        answering: The question to answer.
        streaming: Whether to return as soon as the first piece is there. Metadata
            and source nodes are complete when the last piece is there.
    """
    pieces = run_dialogue(answering, streaming=streaming)
    if not streaming:
        text = "".join(pieces)
        return Response(text, answering.source_nodes(), answering.metadata())
    first = next(pieces, None)
    nodes, metadata = answering.source_nodes(), answering.metadata()

    def complete() -> Generator[str, None, None]:
        with closing(pieces):
            if first is not None:
                yield first
            yield from pieces
            metadata.update(answering.metadata())
            nodes[:] = answering.source_nodes()

    return StreamingResponse(complete(), nodes, metadata)


async def arespond(
    answering: Answering, *, streaming: bool
) -> Response | AsyncStreamingResponse:
    """Async version of `respond`.

    A stream calls no model before it is read. LlamaIndex reads the stream of a tool in
    another event loop, and a reply that began in one loop cannot be read on in another.
    Until then the source nodes are the retrieved ones.
    """
    pieces = arun_dialogue(answering, streaming=streaming)
    if not streaming:
        text = "".join([piece async for piece in pieces])
        nodes = await run_in_thread(answering.source_nodes)
        return Response(text, nodes, answering.metadata())
    nodes, metadata = list(answering.retrieved), answering.metadata()

    async def complete() -> AsyncGenerator[str, None]:
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece
            nodes[:] = await run_in_thread(answering.source_nodes)
            metadata.update(answering.metadata())

    return AsyncStreamingResponse(complete(), nodes, metadata)


class DrivenSynthesizer(BaseSynthesizer):
    """The synthesizer that LlamaIndex's query and chat engines call.

    The engines set `_streaming` to choose whether the next answer is streamed.
    """

    @abstractmethod
    def _begin_answering(
        self,
        query: QueryBundle,
        nodes: Sequence[NodeWithScore],
        additional: Sequence[NodeWithScore],
    ) -> Answering:
        """Begin to answer a question from nodes."""

    def synthesize(
        self,
        query: QueryType,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> RESPONSE_TYPE:
        """Answer from nodes.

        Raises:
            OpragError: The model failed, or another error that the class names.
        """
        _dispatcher.event(SynthesizeStartEvent(query=query))
        bundle = _check_question(query, nodes)
        answering = self._begin_answering(bundle, nodes, additional_source_nodes or ())
        payload: dict[str, Any] = {EventPayload.QUERY_STR: bundle.query_str}
        with self._callback_manager.event(CBEventType.SYNTHESIZE, payload) as event:
            response = respond(answering, streaming=self._streaming)
            event.on_end(payload={EventPayload.RESPONSE: response})
        _dispatcher.event(SynthesizeEndEvent(query=query, response=response))
        return response

    async def asynthesize(
        self,
        query: QueryType,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> RESPONSE_TYPE:
        """Async version of `synthesize`."""
        _dispatcher.event(SynthesizeStartEvent(query=query))
        bundle = _check_question(query, nodes)
        begin = partial(
            self._begin_answering, bundle, nodes, additional_source_nodes or ()
        )
        answering = await run_in_thread(begin)
        payload: dict[str, Any] = {EventPayload.QUERY_STR: bundle.query_str}
        with self._callback_manager.event(CBEventType.SYNTHESIZE, payload) as event:
            response = await arespond(answering, streaming=self._streaming)
            event.on_end(payload={EventPayload.RESPONSE: response})
        _dispatcher.event(SynthesizeEndEvent(query=query, response=response))
        return response


def _check_question(query: QueryType, nodes: list[NodeWithScore]) -> QueryBundle:
    check_entries("nodes", nodes, NodeWithScore)
    return QueryBundle(query) if isinstance(query, str) else query
