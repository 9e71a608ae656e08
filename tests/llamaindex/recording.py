"""Real LlamaIndex models for tests: one embeds words, one remembers its prompts."""

from __future__ import annotations

import math
import zlib
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import Field
from llama_index.core.llms import (
    CompletionResponse,
    CompletionResponseGen,
    CustomLLM,
    LLMMetadata,
)
from llama_index.core.llms.callbacks import llm_completion_callback

_DIMENSIONS = 256


class WordEmbedding(BaseEmbedding):
    """Bag of words, hashed the same on every run: shared words are similarity."""

    calls: list[str] = Field(default_factory=list)
    """Queries that were embedded."""

    def _get_text_embedding(self, text: str) -> list[float]:
        vector = [0.0] * _DIMENSIONS
        for word in text.lower().split():
            vector[zlib.crc32(word.strip(".,:;?!§").encode()) % _DIMENSIONS] += 1.0
        length = math.sqrt(sum(value * value for value in vector)) or 1.0
        return [value / length for value in vector]

    def _get_query_embedding(self, query: str) -> list[float]:
        self.calls.append(query)
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


class RecordingLLM(CustomLLM):
    """Gives its replies in turn (the last one for ever) and remembers the prompts."""

    replies: list[str] = Field(default_factory=lambda: ["An answer."])
    prompts: list[str] = Field(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=16_000, num_output=256)

    @property
    def last_prompt(self) -> str:
        """What the model was sent last."""
        return self.prompts[-1]

    @llm_completion_callback()
    def complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        reply = self.replies[min(len(self.prompts), len(self.replies) - 1)]
        self.prompts.append(prompt)
        return CompletionResponse(text=reply)

    @llm_completion_callback()
    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        whole = self.complete(prompt, formatted=formatted, **kwargs).text
        for end in range(1, len(whole) + 1):
            yield CompletionResponse(text=whole[:end], delta=whole[end - 1])
