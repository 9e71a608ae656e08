"""One call of a model: the pieces of its reply, and the tokens that it took."""

from __future__ import annotations

import copy
from collections.abc import AsyncGenerator, Iterator
from typing import Any

from llama_index.core.bridge.pydantic import BaseModel, Field
from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate

from llamaindex_oprag._metering import Meter
from llamaindex_oprag._prompts import Sent


class DeclinableAnswer(BaseModel):
    """An answer to the question, or the statement that the text holds none."""

    answerable: bool = Field(
        description="Whether the text holds the answer to the question."
    )
    answer: str = Field(
        default="",
        description="The answer alone, in as few words as it takes; empty without one.",
    )


def ask(llm: LLM, sent: Sent, meter: Meter, *, streaming: bool) -> Iterator[str]:
    """Call the model; give its reply piece by piece, or whole.

    Args:
        llm: The model.
        sent: The prompt.
        meter: Is told what was reported.
        streaming: Whether to have the reply streamed.
    """
    responses: Any
    if isinstance(sent, str):
        call = llm.stream_complete if streaming else llm.complete
        responses = call(sent, formatted=True)
    else:
        responses = llm.stream_chat(sent) if streaming else llm.chat(sent)
    for response in responses if streaming else [responses]:
        meter.see(response)
        yield _text(response, streaming=streaming)


async def aask(
    llm: LLM, sent: Sent, meter: Meter, *, streaming: bool
) -> AsyncGenerator[str, None]:
    """Async version of `ask`."""
    responses: Any
    if isinstance(sent, str):
        call: Any = llm.astream_complete if streaming else llm.acomplete
        responses = await call(sent, formatted=True)
    else:
        responses = await (llm.astream_chat(sent) if streaming else llm.achat(sent))
    if not streaming:
        meter.see(responses)
        yield _text(responses, streaming=False)
        return
    try:
        async for response in responses:
            meter.see(response)
            yield _text(response, streaming=True)
    finally:
        # A stream that is left must be closed here, not whenever it is collected.
        if isinstance(responses, AsyncGenerator):
            await responses.aclose()


def _text(response: Any, *, streaming: bool) -> str:
    if streaming:
        return response.delta or ""
    message = getattr(response, "message", None)
    return (response.text if message is None else message.content) or ""


def ask_structured(
    llm: LLM, template: BasePromptTemplate, values: dict[str, str], meter: Meter
) -> DeclinableAnswer:
    """Have the model fill in a `DeclinableAnswer`.

    Args:
        llm: The model.
        template: The prompt. Not written to, as LlamaIndex's programs would.
        values: What it is filled with.
        meter: Is told what was reported.
    """
    with meter.listening():
        answer: DeclinableAnswer = llm.structured_predict(
            DeclinableAnswer, _own(template), **values
        )
    return answer


async def aask_structured(
    llm: LLM, template: BasePromptTemplate, values: dict[str, str], meter: Meter
) -> DeclinableAnswer:
    """Async version of `ask_structured`."""
    with meter.listening():
        answer: DeclinableAnswer = await llm.astructured_predict(
            DeclinableAnswer, _own(template), **values
        )
    return answer


def _own(template: BasePromptTemplate) -> Any:
    return copy.copy(template)
