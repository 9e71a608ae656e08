"""Token streams of a question: they show its answer, and nothing of a refusal.

LangGraph's `stream_mode="messages"` and `astream_events` listen to every call of a chat
model, and would show a reply before it is known to be a refusal. So their handlers are
taken off our calls. They get one run of a chat model instead, whose reply is the answer
in the pieces that are given out. Tracers and all other callbacks hear the calls.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, TypeAlias, TypeVar
from uuid import uuid4

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.messages.ai import InputTokenDetails, UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tracers._streaming import _StreamingCallbackHandler

from oprag.calls import Ledger

NOT_SHOWN = "nostream"
"""LangGraph's tag for calls that token streams leave out."""

Notices: TypeAlias = Generator[Any, Any, None]
"""Calls of callbacks, one after another; an async run awaits each and sends its result.
"""

_ManagerT = TypeVar("_ManagerT", bound=BaseCallbackManager)


def notify(notices: Notices) -> None:
    """Make the calls of a run that is not async."""
    result = None
    try:
        while True:
            result = notices.send(result)
    except StopIteration:
        return


async def anotify(notices: Notices) -> None:
    """Async version of `notify`."""
    result = None
    try:
        while True:
            result = await notices.send(result)
    except StopIteration:
        return


class AnswerRun:
    """The run that token streams show, for one question.

    Args:
        config: The config of the question; its callbacks make calls children of the
            run.
        name: The name of the run.
        question: The question.
    """

    def __init__(self, config: RunnableConfig, name: str, question: str) -> None:
        self.config = config
        """For calls of models: without the handlers of token streams."""
        self.shown = False
        """Whether a token stream listens."""
        self.tags: list[str] = []
        """The tags of the call whose reply is given out."""
        self._id = f"run-{uuid4()}"
        self._name = name
        self._question = question
        self._said: list[str] = []
        self._manager: Any = config.get("callbacks")
        self._run: Any = None
        if isinstance(self._manager, BaseCallbackManager):
            self.config = {
                **config,
                "callbacks": _split_manager(self._manager, streams=False),
            }
            self._take_over()
            self._manager = _split_manager(self._manager, streams=True)
            hidden = NOT_SHOWN in self._manager.tags
            self.shown = bool(self._manager.handlers) and not hidden

    def _take_over(self) -> None:
        """Let runs inside this one inherit its config.

        Models with `bind` and the like look for a config in the context. LangChain
        copies the context for every run if it can; if it cannot, the context holds the
        config of another run.
        """
        around: Any = var_child_runnable_config.get() or {}
        run_id = getattr(around.get("callbacks"), "parent_run_id", None)
        if run_id == self._manager.parent_run_id:
            var_child_runnable_config.set(self.config)

    def message(self, ledger: Ledger, facts: Mapping[str, Any]) -> AIMessage:
        """Return the part of the answer given out so far, with the tokens of all calls.

        Args:
            ledger: The account of the question.
            facts: Further facts about the answer.
        """
        usage = ledger.usage
        tokens = UsageMetadata(
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            total_tokens=usage.input_tokens + usage.output_tokens,
            input_token_details=InputTokenDetails(cache_read=usage.cached_tokens),
        )
        return AIMessage(
            content="".join(self._said),
            id=self._id,
            usage_metadata=tokens,
            response_metadata=dict(facts),
        )

    def say(self, text: str) -> Notices:
        """Take a piece of the answer, and show it."""
        self._said.append(text)
        if not self.shown:
            return
        if self._run is None:
            self._manager.add_tags(self.tags, inherit=False)
            asked = [[HumanMessage(self._question)]]
            started = self._manager.on_chat_model_start({}, asked, name=self._name)
            (self._run,) = yield started
        chunk = ChatGenerationChunk(message=AIMessageChunk(content=text, id=self._id))
        yield self._run.on_llm_new_token(text, chunk=chunk)

    def end(self, message: AIMessage) -> Notices:
        """Say that the answer is complete."""
        if self._run is not None:
            run, self._run = self._run, None  # later errors are not its own
            reply = ChatGeneration(message=message)
            yield run.on_llm_end(LLMResult(generations=[[reply]]))

    def fail(self, error: BaseException) -> Notices:
        """Say that the answer was abandoned, or broke off."""
        if self._run is not None:
            yield self._run.on_llm_error(error)


def _split_manager(manager: _ManagerT, *, streams: bool) -> _ManagerT:
    """Return the manager with the handlers of token streams alone, or all others."""
    part = manager.copy()
    for handlers in (part.handlers, part.inheritable_handlers):
        handlers[:] = [
            handler
            for handler in handlers
            if isinstance(handler, _StreamingCallbackHandler) is streams
        ]
    return part
