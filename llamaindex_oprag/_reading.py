"""What reads the context of a rung: a model with a prompt, or an outer synthesizer."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass

from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.schema import QueryBundle

from llamaindex_oprag._asking import (
    DeclinableAnswer,
    aask,
    aask_structured,
    ask,
    ask_structured,
)
from llamaindex_oprag._llms import name_of
from llamaindex_oprag._metering import Meter
from llamaindex_oprag._outside import Outside
from llamaindex_oprag._prompts import Sent, fill, frame_tokens, sent_text
from oprag.routing import DeclineRules
from oprag.tokens import NamedTokenCounter


@dataclass(frozen=True, slots=True)
class Reader:
    """A model, and how it is asked on one rung."""

    llm: LLM
    window: int | None
    """Tokens of prompt and answer together; None when unknown."""
    reserved: int
    """Tokens kept free for the answer."""
    template: BasePromptTemplate
    rules: DeclineRules
    counter: NamedTokenCounter
    structured: bool = False
    """Whether the model fills in a `DeclinableAnswer`."""
    outside: Outside | None = None
    """Asked in the place of `llm` and `template`."""

    @property
    def name(self) -> str | None:
        """Name of the model; None when it does not say."""
        return name_of(self.llm)

    def sent(self, context: str, query: str) -> Sent:
        """The prompt as it is sent."""
        if self.outside is not None:
            return self.outside.sent(context, query)
        return fill(self.llm, self.template, context, query)

    def prompt(self, context: str, query: str) -> str:
        """All text that the model reads."""
        text = sent_text(self.sent(context, query))
        if not self.structured:
            return text
        return f"{text}\n{json.dumps(DeclinableAnswer.model_json_schema())}"

    def tokens(self, context: str, query: str) -> int:
        """Tokens of the whole prompt, the frames of its messages included."""
        sent = self.sent(context, query)
        return self.counter(self.prompt(context, query)) + frame_tokens(sent)

    def ask(
        self, query: QueryBundle, context: str, meter: Meter, *, streaming: bool
    ) -> Iterator[str]:
        """Have the context read; give the reply piece by piece."""
        if self.outside is not None:
            yield from self.outside.ask(query, context, meter)
        elif self.structured:
            values = _values(context, query)
            filled = ask_structured(self.llm, self.template, values, meter)
            yield self._as_text(filled)
        else:
            sent = self.sent(context, query.query_str)
            yield from ask(self.llm, sent, meter, streaming=streaming)

    async def aask(
        self, query: QueryBundle, context: str, meter: Meter, *, streaming: bool
    ) -> AsyncGenerator[str, None]:
        """Async version of `ask`."""
        if self.outside is not None:
            pieces = self.outside.aask(query, context, meter)
        elif self.structured:
            values = _values(context, query)
            filled = await aask_structured(self.llm, self.template, values, meter)
            yield self._as_text(filled)
            return
        else:
            sent = self.sent(context, query.query_str)
            pieces = aask(self.llm, sent, meter, streaming=streaming)
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece

    def _as_text(self, filled: DeclinableAnswer) -> str:
        return filled.answer if filled.answerable else self.rules.sentinels[0]


def _values(context: str, query: QueryBundle) -> dict[str, str]:
    return {"context_str": context, "query_str": query.query_str}
