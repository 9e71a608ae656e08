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
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias, TypeVar

from langchain_core.messages import BaseMessage
from langchain_core.messages.ai import UsageMetadata, add_usage
from langchain_core.runnables import (
    Runnable,
    RunnableConfig,
    RunnableSequence,
    RunnableSerializable,
    RunnableWithFallbacks,
)
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.config import merge_configs
from langchain_core.runnables.utils import (
    AddableDict,
    ConfigurableFieldSpec,
    get_unique_config_specs,
)

from langchain_oprag._answer_run import AnswerRun, anotify, notify
from langchain_oprag._options import unwrapped
from langchain_oprag._prompts import Question
from oprag import routing
from oprag.calls import (
    DECLINE_TOOL,
    CallModel,
    TokenUsage,
    field_of,
    frame_tokens,
    text_of,
)
from oprag.errors import refuse_unknown
from oprag.tokens import (
    NamedTokenCounter,
    Steps,
    TokenizerSpec,
    acarry_out,
    carry_out,
    in_thread,
    resolve_token_counter,
)

_T = TypeVar("_T")
ChainInput: TypeAlias = str | dict[str, Any]
"""A question, `{"input": …}`, perhaps with `chat_history`, or `{"messages": […]}`."""


class Answering(routing.Answering[AddableDict]):
    """One question to a chain; the sum of what it gives out is the output.

    Args:
        chain: Its options.
        question: What was asked.
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
    def retrieving(self) -> Steps[list[AddableDict]]:
        """Retrieve what is read; return what is output of it."""

    @abstractmethod
    def messages(self, prompt: str, values: Mapping[str, str]) -> list[BaseMessage]:
        """Fill a prompt in."""

    def begin(self, request: CallModel) -> ModelCall:
        """Begin a call of a model."""
        return ModelCall(self, request)

    def llm(self, prompt: str) -> Runnable[Any, Any]:
        """The model that a prompt is for."""
        llm: Runnable[Any, Any] = self._chain.llm
        return llm

    def model(self, prompt: str) -> str | None:
        """Name the model as the user does, or as it has a price."""
        names, reported = self._facts(prompt).names, self.reported.get(prompt)
        if len(names) > 1:  # of fallbacks the reply says which one answered
            names = names & {reported, re.sub(_DATE, "", reported or "")}
        name = max(names, key=len, default="")
        prices = self._chain.prices or {}
        return reported if not name or reported in prices else name

    def known_limits(self, prompt: str) -> tuple[int | None, int | None]:
        """Return the window and the longest answer of the model."""
        return self._facts(prompt)[1:]

    def tokens(self, prompt: str, values: Mapping[str, str]) -> int:
        """Count a prompt with its values, and what the chat format puts around it."""
        messages = self.messages(prompt, values)
        tokens = sum(self.counter(text_of(message)) for message in messages)
        return tokens + frame_tokens(len(messages))


class ModelCall(routing.ModelCall):
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
            model = with_tool(model, config)
        ways = (model.invoke, model.ainvoke, model.stream, model.astream)
        calls = (partial(way, messages, {**config, "tags": tags}) for way in ways)
        super().__init__(answering, request, calls)

    def read(self, piece: Any, *, whole: bool) -> str:
        """Return the text of a reply or a piece; take note of what it reports."""
        if usage := getattr(piece, "usage_metadata", None):
            # The pieces of a stream add up to the whole call.
            self._usage = add_usage(self._usage, usage)
            self.usage = TokenUsage.reported(self._usage)
        metadata = getattr(piece, "response_metadata", None) or {}
        if name := metadata.get("model_name"):
            self._reported(name)
        for kind in ("tool_calls", "invalid_tool_calls"):
            calls = getattr(piece, kind, ())
            self.called.update(call["name"] for call in calls if call["name"])
        return text_of(piece)


class DrivenRunnable(RunnableSerializable[ChainInput, dict[str, Any]]):
    """A runnable that answers questions, the same in every way of asking."""

    if TYPE_CHECKING:
        token_counter: TokenizerSpec = None

    @abstractmethod
    def _answering(self, given: Any, config: RunnableConfig) -> Answering:
        """Begin to answer an input.

        Args:
            given: The input.
            config: With the callbacks that make calls children of this run.
        """

    @abstractmethod
    def _inside(self) -> Iterable[Runnable[Any, Any]]:
        """Return what is asked: models and retrievers."""

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

        return self._call_with_config(run, input, config)  # type: ignore[arg-type]  # it looks at what `run` takes

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

        return await self._acall_with_config(run, input, config)  # type: ignore[arg-type]  # it looks at what `run` takes

    def stream(
        self,
        input: ChainInput,  # noqa: A002 -- the base class's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[dict[str, Any]]:
        """Answer a question in pieces that add up to what `invoke` gives."""
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
        answering = self._answering(given, config)
        run = answering.run
        try:
            yield AddableDict(input=answering.question.text)
            yield from carry_out(answering.retrieving())
            pieces = routing.answer(answering, streaming=streaming or run.shown)
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
        await in_thread(partial(resolve_token_counter, self.token_counter))
        answering = self._answering(given, config)
        run = answering.run
        try:
            yield AddableDict(input=answering.question.text)
            for piece in await acarry_out(answering.retrieving()):
                yield piece
            pieces = routing.aanswer(answering, streaming=streaming or run.shown)
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


def with_tool(model: Any, config: RunnableConfig) -> Runnable[Any, Any] | None:
    """Give a model the tool with which it declines, inside of all that wraps it.

    Args:
        model: The runnable that is called. Tools that were bound to it are not sent:
            nobody would carry them out.
        config: It decides configurable fields.

    Returns:
        What is called instead; None if it takes no tools, or something behind it
        hides that it calls one.
    """
    if isinstance(model, RunnableBindingBase):
        bound = with_tool(model.bound, merge_configs(model.config, config))
        kwargs = {k: v for k, v in model.kwargs.items() if k not in _OF_TOOLS}
        return bound and model.model_copy(update={"bound": bound, "kwargs": kwargs})
    if isinstance(model, RunnableWithFallbacks):
        given = [with_tool(each, config) for each in model.runnables]
        changes = {"runnable": given[0], "fallbacks": given[1:]}
        return None if None in given else model.model_copy(update=changes)
    if isinstance(model, RunnableSequence):
        last = with_tool(model.last, config)
        return last and RunnableSequence(*model.steps[:-1], last)
    inner, config, _ = unwrapped(model, config)
    if inner is not model:
        return with_tool(inner, config)
    try:
        return model.bind_tools([{"type": "function", "function": DECLINE_TOOL}])  # type: ignore[no-any-return]  # a Runnable
    except (AttributeError, NotImplementedError):
        return None


_OF_TOOLS = ("tools", "tool_choice", "tool_config", "functions", "function_call")
"""Names that integrations give to the tools that `bind_tools` binds."""
_DATE = r"[-@]\d{3}[-\d]*$"
"""A date or version, as providers put it after a model's name."""
_NAMES = ("model_name", "model", "model_id")
_ANSWER_LIMITS = (
    "max_completion_tokens",
    "max_tokens",
    "max_output_tokens",
    "num_predict",
)
"""Names of the longest answer in integrations, in tokens."""


class ModelFacts(NamedTuple):
    """Facts about a model that are known without a call."""

    names: set[str]
    """As the user named it and its fallbacks; "" for one without a name."""
    window: int | None
    """Tokens that it takes at most, by its profile (LangChain 1.x)."""
    answer_tokens: int | None
    """The longest answer that it is set to give."""


def facts_of(model: Runnable[Any, Any], config: RunnableConfig) -> ModelFacts:
    """Look at the model inside `bind`, `with_retry`, `with_fallbacks` and the like.

    Args:
        model: The runnable that is called. Of fallbacks the first counts, and the
            names of all; of a sequence the first step that is a model.
        config: It decides configurable fields.
    """
    bound: dict[str, Any] = {}
    others: set[str] = set()
    while True:
        model, config, more = unwrapped(model, config)
        bound = {**more, **bound}
        if isinstance(model, RunnableWithFallbacks):
            others.update(*(facts_of(each, config).names for each in model.fallbacks))
            model = model.runnable
        elif isinstance(model, RunnableSequence):
            named = (step for step in model.steps if _said(step, _NAMES, str))
            model = next(named, model.steps[0])
        else:
            break
    profile = getattr(model, "profile", None)
    window = profile.get("max_input_tokens") if isinstance(profile, Mapping) else None
    return ModelFacts(
        {_said(bound, ("model",), str) or _said(model, _NAMES, str) or "", *others},
        window if _is_said(window, int) else None,
        _said(bound, _ANSWER_LIMITS, int) or _said(model, _ANSWER_LIMITS, int),
    )


def _said(holder: Any, names: Iterable[str], kind: type[_T]) -> _T | None:
    """Return the first value of a kind that an object or a mapping has."""
    values = (field_of(holder, name) for name in names)
    return next((value for value in values if _is_said(value, kind)), None)


def _is_said(value: Any, kind: type) -> bool:
    # Some write -1 for "no limit".
    found: Any = type(value)
    return found is kind and bool(value if kind is str else value > 0)
