"""Runnables that answer questions with chat models, the same in every way of asking."""

from __future__ import annotations

import contextlib
import functools
import re
from abc import abstractmethod
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from langchain_core.messages import BaseMessage
from langchain_core.messages.ai import UsageMetadata, add_usage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableSerializable
from langchain_core.runnables.utils import (
    AddableDict,
    ConfigurableFieldSpec,
    get_unique_config_specs,
)

from langchain_oprag._answer_run import AnswerRun, anotify, notify
from langchain_oprag._models import bind_tool, facts_of
from langchain_oprag._prompts import Question
from oprag import calls
from oprag.calls import (
    CallModel,
    ClientCalls,
    TokenUsage,
    frame_tokens,
    read_message_text,
)
from oprag.effects import Effects, arun_effects, run_effects, run_in_thread
from oprag.errors import refuse_unknown
from oprag.tokens import NamedTokenCounter, TokenizerSpec, resolve_token_counter

_CAME_EMPTY = ("No generation chunks were returned", "No generations found in stream")
"""LangChain's words for a model's stream without a piece, also inside `invoke`."""
_DATE = r"[-@]\d{3}[-\d]*$"
"""A date or version, as providers put it after a model's name."""
ChainInput: TypeAlias = str | dict[str, Any]
"""A question, `{"input": …}`, perhaps with `chat_history`, or `{"messages": […]}`."""


class Answering(calls.Answering[AddableDict]):
    """One question to a chain; its pieces add up to the output.

    Args:
        chain: The chain, for its options.
        question: The question.
        config: It decides configurable fields, and makes calls children of the run.
        counter: Counts tokens.
    """

    kind: ClassVar[str]
    """The name of its prompts in the tags of the calls."""

    def __init__(
        self,
        chain: Any,
        question: Question,
        config: RunnableConfig,
        counter: NamedTokenCounter,
    ) -> None:
        super().__init__(chain, counter)
        self.question = question
        self.config = config
        self.run = AnswerRun(config, chain.get_name(), question.text)
        self.facts: dict[str, Any] = {}
        """The `response_metadata` of the answer's message."""
        self.reported: dict[str, str] = {}
        """Names of the models as the providers reported them, by prompt."""
        self._chain = chain
        self._facts = functools.cache(lambda name: facts_of(self.llm(name), config))

    @abstractmethod
    def retrieve(self) -> Effects[list[AddableDict]]:
        """Retrieve the documents to read; return the output that is known by then."""

    @abstractmethod
    def messages(self, prompt: str, values: Mapping[str, str]) -> list[BaseMessage]:
        """Fill a prompt in."""

    def start_call(self, request: CallModel) -> ModelCall:
        """Begin a call of a model."""
        return ModelCall(self, request)

    def llm(self, prompt: str) -> Runnable[Any, Any]:
        """Return the model that a prompt is for."""
        llm: Runnable[Any, Any] = self._chain.llm
        return llm

    def name_model(self, prompt: str) -> str | None:
        """Name the model as the user named it, or as the prices name it."""
        names, reported = self._facts(prompt).names, self.reported.get(prompt)
        if len(names) > 1:  # with fallbacks, the reply says which one answered
            names = names & {reported, re.sub(_DATE, "", reported or "")}
        name = max(names, key=len, default="")
        prices = self._chain.prices or {}
        return reported if not name or reported in prices else name

    def read_window(self, prompt: str) -> int | None:
        """Return the window of the model."""
        return self._facts(prompt).window

    def read_longest_answer(self, prompt: str) -> int | None:
        """Return the longest answer of the model."""
        return self._facts(prompt).answer_tokens

    def count_prompt(self, prompt: str, values: Mapping[str, str]) -> int:
        """Count a prompt with its values, and the chat format around it."""
        messages = self.messages(prompt, values)
        tokens = sum(self.counter(read_message_text(message)) for message in messages)
        return tokens + frame_tokens(len(messages))


class ModelCall(calls.ModelCall):
    """A call of a chat model."""

    def __init__(self, answering: Answering, request: CallModel) -> None:
        answering.run.tags = [f"{answering.kind}:{request.prompt}"]
        self._reported = partial(answering.reported.__setitem__, request.prompt)
        self._usage: UsageMetadata | None = None
        messages = answering.messages(request.prompt, request.values)
        # Not `merge_configs`, which brings back the callbacks of the run around it.
        config = answering.run.config
        tags = [*(config.get("tags") or []), *answering.run.tags]
        model: Any = answering.llm(request.prompt)
        if answering.decline == "tool":
            model = bind_tool(model, config)
        config = {**config, "tags": tags}
        client = ClientCalls(
            ask=partial(model.invoke, messages, config),
            aask=partial(model.ainvoke, messages, config),
            stream=partial(model.stream, messages, config),
            astream=partial(model.astream, messages, config),
        )
        super().__init__(answering, request, client)

    def is_empty_stream(self, error: Exception) -> bool:
        """Return whether an error only says that a stream had no piece."""
        return isinstance(error, ValueError) and str(error).startswith(_CAME_EMPTY)

    def read_piece(self, piece: Any, *, whole: bool) -> str:
        """Return the text of a reply or a piece; note the facts that it reports."""
        if usage := getattr(piece, "usage_metadata", None):
            # The pieces of a stream add up to the whole call.
            self._usage = add_usage(self._usage, usage)
            self.usage = TokenUsage.reported(self._usage)
        metadata = getattr(piece, "response_metadata", None) or {}
        if name := metadata.get("model_name"):
            self._reported(name)
        for kind in ("tool_calls", "invalid_tool_calls"):
            for call in getattr(piece, kind, ()):
                if call["name"]:
                    self.called.add(call["name"])
        return read_message_text(piece)


class DrivenRunnable(RunnableSerializable[ChainInput, dict[str, Any]]):
    """A runnable that answers questions, the same in every way of asking."""

    if TYPE_CHECKING:
        token_counter: TokenizerSpec = None

    @abstractmethod
    def _begin_answering(self, given: Any, config: RunnableConfig) -> Answering:
        """Begin to answer an input.

        Args:
            given: The input.
            config: With the callbacks that make calls children of this run.
        """

    @abstractmethod
    def _inside(self) -> Iterable[Runnable[Any, Any]]:
        """Return the runnables that are asked: models and retrievers."""

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """Configurable fields of the retriever and the models."""
        return get_unique_config_specs(
            spec for runnable in self._inside() for spec in runnable.config_specs
        )

    def invoke(
        self,
        input: ChainInput,  # noqa: A002 -- the base class's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Answer a question; see the class for input and output.

        Raises:
            InvalidOptionError: There are arguments besides input and config.
        """
        refuse_unknown(kwargs, ())

        def run(given: ChainInput, config: RunnableConfig) -> dict[str, Any]:
            return dict(reduce(add, self._pieces(given, config, streaming=False)))

        return self._call_with_config(run, input, config)  # type: ignore[arg-type]  # it reads the parameters of `run`

    async def ainvoke(
        self,
        input: ChainInput,  # noqa: A002 -- the base class's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Async version of `invoke`."""
        refuse_unknown(kwargs, ())

        async def run(given: ChainInput, config: RunnableConfig) -> dict[str, Any]:
            pieces = self._apieces(given, config, streaming=False)
            return dict(reduce(add, [piece async for piece in pieces]))

        return await self._acall_with_config(run, input, config)  # type: ignore[arg-type]  # it reads the parameters of `run`

    def stream(
        self,
        input: ChainInput,  # noqa: A002 -- the base class's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[dict[str, Any]]:
        """Answer a question in pieces that add up to the output of `invoke`."""
        refuse_unknown(kwargs, ())

        def run(
            given: Iterator[ChainInput], config: RunnableConfig
        ) -> Iterator[dict[str, Any]]:
            yield from self._pieces(next(given), config, streaming=True)

        question = iter([input])
        yield from self._transform_stream_with_config(question, run, config)  # type: ignore[arg-type]  # as above

    async def astream(
        self,
        input: ChainInput,  # noqa: A002 -- the base class's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[dict[str, Any]]:
        """Async version of `stream`."""
        refuse_unknown(kwargs, ())

        async def only() -> AsyncIterator[ChainInput]:
            yield input

        async def run(
            given: AsyncIterator[ChainInput], config: RunnableConfig
        ) -> AsyncIterator[dict[str, Any]]:
            question = await anext(given)
            pieces = self._apieces(question, config, streaming=True)
            async with contextlib.aclosing(pieces):
                async for piece in pieces:
                    yield piece

        chunks = self._atransform_stream_with_config(only(), run, config)  # type: ignore[arg-type]  # as above
        async with contextlib.aclosing(chunks):  # type: ignore[type-var]  # a generator
            async for chunk in chunks:
                yield chunk

    def _pieces(
        self, given: ChainInput, config: RunnableConfig, *, streaming: bool
    ) -> Generator[AddableDict, None, None]:
        answering = self._begin_answering(given, config)
        run = answering.run
        try:
            yield AddableDict(input=answering.question.text)
            yield from run_effects(answering.retrieve())
            pieces = calls.run_dialogue(answering, streaming=streaming or run.shown)
            with contextlib.closing(pieces):
                for piece in pieces:
                    if text := piece.get("answer"):
                        notify(run.say(text))
                    yield piece
            message = run.message(answering.ledger, answering.facts)
            notify(run.end(message))
            if answering.question.of_messages:
                yield AddableDict(messages=[message])
        except BaseException as error:
            notify(run.fail(error))
            raise

    async def _apieces(
        self, given: ChainInput, config: RunnableConfig, *, streaming: bool
    ) -> AsyncGenerator[AddableDict, None]:
        """Async version of `_pieces`."""
        await run_in_thread(partial(resolve_token_counter, self.token_counter))
        answering = self._begin_answering(given, config)
        run = answering.run
        try:
            yield AddableDict(input=answering.question.text)
            for piece in await arun_effects(answering.retrieve()):
                yield piece
            pieces = calls.arun_dialogue(answering, streaming=streaming or run.shown)
            async with contextlib.aclosing(pieces):
                async for piece in pieces:
                    if text := piece.get("answer"):
                        await anotify(run.say(text))
                    yield piece
            message = run.message(answering.ledger, answering.facts)
            await anotify(run.end(message))
            if answering.question.of_messages:
                yield AddableDict(messages=[message])
        except BaseException as error:
            await anotify(run.fail(error))
            raise
