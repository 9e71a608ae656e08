"""A response synthesizer from outside, as the reader of the first rung.

It gets the whole context as one text and is kept to one call: over several windows
LlamaIndex would refine one window's answer by the next, and what was declined in one
could be answered in another.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import Any

from llama_index.core.indices.prompt_helper import PromptHelper
from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.response_synthesizers import BaseSynthesizer, SimpleSummarize
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from llamaindex_oprag._metering import Meter
from llamaindex_oprag._prompts import Sent, fill
from oprag.errors import InvalidOptionError

EMPTY_RESPONSE = "Empty Response"
"""What LlamaIndex's synthesizers say where they have no answer."""

_PROMPTS = ("text_qa_template", "refine_template", "summary_template")
"""Prompts from which an answer comes."""


class _AsItIs(PromptHelper):
    """Cuts nothing: what is sent was fitted to the window before."""

    def repack(
        self, prompt: BasePromptTemplate, text_chunks: Sequence[str], *_: Any, **__: Any
    ) -> list[str]:
        return list(text_chunks)

    def truncate(
        self, prompt: BasePromptTemplate, text_chunks: Sequence[str], *_: Any, **__: Any
    ) -> list[str]:
        return list(text_chunks)


class Outside:
    """A synthesizer that somebody else made. It is not written to.

    Args:
        synthesizer: Any whose prompts let the model decline.
        sentinels: What it may write when it declines.

    Raises:
        InvalidOptionError: It cannot decline, or garbles the text.
    """

    def __init__(self, synthesizer: BaseSynthesizer, sentinels: Sequence[str]) -> None:
        self.synthesizer = synthesizer
        self._sentinels = sentinels
        if isinstance(synthesizer, SimpleSummarize):
            raise _unfit(
                synthesizer,
                "sends the text as the notation of a Python list, cut without notice",
            )
        self._check()

    @property
    def llm(self) -> LLM:
        """The model that it calls."""
        llm: LLM = self.synthesizer._llm  # noqa: SLF001 -- LlamaIndex has no public name for it
        return llm

    def _check(self) -> BasePromptTemplate:
        """Return the prompt of the one call; refuse one that cannot decline."""
        prompts = self.synthesizer.get_prompts()
        named = [(name, prompts[name]) for name in _PROMPTS if name in prompts]
        if not named:
            raise _unfit(
                self.synthesizer,
                f"shows none of the prompts {', '.join(_PROMPTS)} by get_prompts()",
            )
        filtering = getattr(self.synthesizer, "_structured_answer_filtering", False)
        if not filtering:  # else the model says so in a field of its reply
            for name, prompt in named:
                self._check_prompt(name, prompt)
        return named[0][1]

    def _check_prompt(self, name: str, prompt: BasePromptTemplate) -> None:
        text = prompt.get_template(llm=self.llm).casefold()
        if not any(word.casefold() in text for word in self._sentinels):
            wanted = " or ".join(map(repr, self._sentinels))
            raise _unfit(
                self.synthesizer,
                f"has a {name} that does not tell the model to write {wanted} when "
                "the text does not hold the answer",
            )

    def sent(self, context: str, query: str) -> Sent:
        """The prompt as it will be sent."""
        return fill(self.llm, self._check(), context, query)

    def ask(self, query: QueryBundle, context: str, meter: Meter) -> Iterator[str]:
        """Have the context read; give the reply as the synthesizer gives it."""
        with meter.listening():
            response = self._copy().synthesize(query, _nodes(context))
        stream = getattr(response, "response_gen", None)
        if stream is None:
            yield _whole(response)
            return
        while True:
            with meter.listening():
                piece = next(stream, None)
            if piece is None:
                return
            yield piece

    async def aask(
        self, query: QueryBundle, context: str, meter: Meter
    ) -> AsyncGenerator[str, None]:
        """Async version of `ask`."""
        with meter.listening():
            response = await self._copy().asynthesize(query, _nodes(context))
        stream = getattr(response, "response_gen", None)
        if stream is None:
            yield _whole(response)
            return
        try:
            while True:
                with meter.listening():
                    if isinstance(stream, Iterator):
                        piece = next(stream, None)
                    else:
                        piece = await anext(stream, None)
                if piece is None:
                    return
                yield piece
        finally:
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()

    def _copy(self) -> BaseSynthesizer:
        self._check()  # prompts can be replaced at any time
        synthesizer = copy.copy(self.synthesizer)
        synthesizer._prompt_helper = _AsItIs(chunk_size_limit=None)  # noqa: SLF001 -- the only way to keep it to one call
        return synthesizer


def _nodes(context: str) -> list[NodeWithScore]:
    return [NodeWithScore(node=TextNode(text=context))]


def _whole(response: Any) -> str:
    """Text of a response that is not streamed, structured ones as JSON."""
    return "" if response.response is None else str(response)


def _unfit(synthesizer: BaseSynthesizer, why: str) -> InvalidOptionError:
    message = (
        f"response_synthesizer: {type(synthesizer).__name__} {why}, so no question "
        "could be routed on. Let its prompts tell the model to decline, or leave it "
        "out: Self-Route has prompts of its own (rag_prompt=, full_prompt=)."
    )
    return InvalidOptionError(
        message, option="response_synthesizer", value=type(synthesizer).__name__
    )
