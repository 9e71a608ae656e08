"""A chat model that answers as it was told and remembers what it was sent."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field


class RecordingChatModel(BaseChatModel):
    """Gives its replies one after another, the last one for ever."""

    replies: list[AIMessage] = Field(default_factory=lambda: [AIMessage("answer")])
    calls: list[list[BaseMessage]] = Field(default_factory=list)
    """The messages of every call, in the order of the calls."""

    @property
    def sent(self) -> str:
        """The text of all messages of the last call."""
        return "\n".join(str(message.content) for message in self.calls[-1])

    @property
    def _llm_type(self) -> str:
        return "recording"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self.calls.append(messages)
        reply = self.replies[min(len(self.calls), len(self.replies)) - 1]
        return ChatResult(generations=[ChatGeneration(message=reply)])

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Agents bind their tools; the replies already say which one to call."""
        return self
