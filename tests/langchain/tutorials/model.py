"""The question, and a chat model that answers by a script."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from tests.langchain.recording import RecordingChatModel

QUESTION = "What does the lease bind?"
OTHER_QUESTION = "Which rules bind whoever signs?"
INPUT = {"messages": [{"role": "user", "content": QUESTION}]}

Script: TypeAlias = Callable[[list[BaseMessage]], AIMessage]
"""What the model answers to messages."""


class ScriptedModel(RecordingChatModel):
    """Answers what its script says, and remembers what it was sent."""

    script: Script

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        self.calls.append(messages)
        return ChatResult(generations=[ChatGeneration(message=self.script(messages))])


def calling(name: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": name}])


SEARCH = calling("retrieve", query=QUESTION)
ANSWER = AIMessage("An answer.")


def searching(messages: list[BaseMessage]) -> AIMessage:
    """Search, and answer when the tool has answered."""
    return ANSWER if messages[-1].type == "tool" else SEARCH


def answering(messages: list[BaseMessage]) -> AIMessage:
    return ANSWER
