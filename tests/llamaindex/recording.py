"""Real LlamaIndex models for tests: one embeds words, one remembers its prompts."""

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

from tests.kit.words import word_vector


class WordEmbedding(BaseEmbedding):
    """Bag of words, hashed the same on every run: shared words are similarity.

    No two texts are equally similar to a third one: which of several equals comes
    first depends on LlamaIndex's version and on how many are asked for.
    """

    calls: list[str] = Field(default_factory=list)
    """Queries that were embedded."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return word_vector(text, zlib.crc32(text.encode()) / 2**32 / 100)

    def _get_query_embedding(self, query: str) -> list[float]:
        self.calls.append(query)
        return word_vector(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


class RecordingLLM(CustomLLM):
    """Gives its replies in turn (the last one for ever) and remembers the prompts."""

    replies: list[str] = Field(default_factory=lambda: ["An answer."])
    prompts: list[str] = Field(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=16_000, num_output=256)

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
        yield CompletionResponse(text="", delta="")
        for end in range(1, len(whole) + 1):
            yield CompletionResponse(text=whole[:end], delta=whole[end - 1])
