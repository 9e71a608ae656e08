"""A chat model of LangChain as the model of a run: limits, usage, no keys."""

from __future__ import annotations

import contextlib
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage

from oprag.calls import (
    DECLINE_TOOL,
    StreamEnd,
    TokenUsage,
    hide_secrets,
    hint_of,
    is_window_overflow,
    read_error_message,
    read_message_text,
    strip_reasoning,
    well_formed,
)
from oprag.errors import ModelCallError
from oprag.tokens import resolve_token_counter
from oprag_eval.models import Call, Completion, Model

_LIMITS = ("max_tokens", "max_output_tokens", "num_predict", "max_new_tokens")
"""Clients' names of the longest reply; the first is LangChain's own."""


class ChatModel(Model):
    """Asks a chat model; its client repeats the calls that fail in passing.

    Args:
        client: Any chat model of LangChain.
        name: As the user named it, `provider:model`.
    """

    def __init__(self, client: BaseChatModel, name: str) -> None:
        self.name = name
        self._client = client
        self._count = resolve_token_counter(None)  # for tokens that are not reported
        self._declining: Any = None
        with contextlib.suppress(NotImplementedError):  # as LangChain says it
            tool = {"type": "function", "function": DECLINE_TOOL}
            self._declining = client.bind_tools([tool])
        self.calls_tools = self._declining is not None
        fields = type(client).model_fields
        names = {*fields, *(field.alias for field in fields.values())}
        self._limit = next((name for name in _LIMITS if name in names), _LIMITS[0])

    async def complete(self, call: Call) -> Completion:
        """Reply to one call; a reasoning block in front of the reply is left out.

        Prompt and reply are text that every file takes, and the reply holds no secret
        of the environment.
        """
        most = call.max_output_tokens
        limit: dict[str, Any] = {} if most is None else {self._limit: most}
        prompt = well_formed(call.prompt)
        try:
            client: Any = self._declining if call.tool else self._client
            message: AIMessage = await client.ainvoke([HumanMessage(prompt)], **limit)
        except Exception as error:  # the clients have no error in common
            raise self._failure(error) from error
        text = hide_secrets(well_formed(read_message_text(message)), by_form=False)
        if reported := message.usage_metadata:
            usage = TokenUsage.reported(reported)
        else:
            tokens = self._count(call.sent), self._count(text)
            usage = TokenUsage(*tokens, estimated=True)
        text = strip_reasoning(text)
        end = StreamEnd()
        end.see(message)
        if not text.strip() and end.cut == "length":
            raise ModelCallError(
                f"The chat model {self.name!r} reached its "
                f"{most or 'greatest number of'} tokens before its reply began. Allow "
                "it longer replies.",
                model=self.name,
                usage=usage.to_dict(),
            )
        called = tuple(each["name"] for each in message.tool_calls)
        return Completion(text, usage, called)

    def _failure(self, error: Exception) -> ModelCallError:
        said = read_error_message(error)
        if is_window_overflow(error):
            what = "was not asked: the prompt is too long for its window"
            hint = "Give --window, the tokens that it takes, or smaller budgets."
        else:
            what, hint = "did not answer", hint_of(error)
        message = f"The chat model {self.name!r} {what}. {said} {hint}"
        return ModelCallError(message.strip(), model=self.name)
