"""Chat models that answer as they were told and remember what they were sent."""

import json
import re
from collections.abc import Iterator
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
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

    def reply(self, messages: list[BaseMessage]) -> AIMessage:
        self.calls.append(messages)
        return self.replies[min(len(self.calls), len(self.replies)) - 1]

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        message = self.reply(messages)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Agents bind their tools; the replies already say which one to call."""
        return self


class StreamingChatModel(RecordingChatModel):
    """The same, as a stream word by word."""

    def _stream(
        self, messages, stop=None, run_manager=None, **kwargs
    ) -> Iterator[ChatGenerationChunk]:
        reply = self.reply(messages)
        calls: Any = [
            {**call, "args": json.dumps(call["args"]), "index": number, "type": None}
            for number, call in enumerate(reply.tool_calls)
        ]
        yield ChatGenerationChunk(message=AIMessageChunk("", tool_call_chunks=calls))
        for word in re.findall(r"\s*\S+", str(reply.content)):
            yield ChatGenerationChunk(message=AIMessageChunk(word))
