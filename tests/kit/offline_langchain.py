"""Stand-ins for models and embeddings of LangChain, for tests."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from pydantic import Field


class WordEmbeddings(Embeddings):
    """Texts that share words are near each other: enough to retrieve by."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector of length 1 per text."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Count the words, hashed into 256 places."""
        vector = [0.0] * 256
        for word in text.lower().split():
            vector[zlib.crc32(word.strip(".,;?").encode()) % 256] += 1.0
        length = math.sqrt(sum(x * x for x in vector)) or 1.0
        return [x / length for x in vector]


class RecordingChatModel(BaseChatModel):
    """Gives the replies it was told to give and remembers what it was sent."""

    replies: list[AIMessage]
    prompts: list[str] = Field(default_factory=list)

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
        self.prompts.append("\n".join(str(message.content) for message in messages))
        reply = self.replies[min(len(self.prompts), len(self.replies)) - 1]
        return ChatResult(generations=[ChatGeneration(message=reply)])

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[Any, AIMessage]:
        """Agents bind their tools; the replies already say which one to call."""
        return self
