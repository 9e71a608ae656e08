"""Stand-ins for models and embeddings of LlamaIndex, for tests."""

from __future__ import annotations

import math
import zlib
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import (
    CompletionResponse,
    CompletionResponseGen,
    CustomLLM,
    LLMMetadata,
)
from llama_index.core.llms.callbacks import llm_completion_callback
from pydantic import Field


class WordEmbedding(BaseEmbedding):
    """Texts that share words are near each other: enough to retrieve by."""

    def _get_text_embedding(self, text: str) -> list[float]:
        vector = [0.0] * 256
        for word in text.lower().split():
            vector[zlib.crc32(word.strip(".,;?").encode()) % 256] += 1.0
        length = math.sqrt(sum(x * x for x in vector)) or 1.0
        return [x / length for x in vector]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


class RecordingLLM(CustomLLM):
    """Gives the replies it was told to give and remembers what it was sent."""

    reply: str = ""
    replies: list[str] = Field(default_factory=list)
    """In turn, the last one for ever; without any, `reply`."""
    prompts: list[str] = Field(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        """A window large enough for the examples."""
        return LLMMetadata(context_window=8_000, num_output=256)

    @llm_completion_callback()
    def complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        """Remember the prompt and give the reply."""
        self.prompts.append(prompt)
        replies = self.replies or [self.reply]
        return CompletionResponse(
            text=replies[min(len(self.prompts), len(replies)) - 1]
        )

    @llm_completion_callback()
    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        """Give the reply word by word."""
        text = ""
        whole = self.complete(prompt, formatted=formatted, **kwargs)
        for word in whole.text.split(" "):
            delta = f" {word}" if text else word
            text += delta
            yield CompletionResponse(text=text, delta=delta)
