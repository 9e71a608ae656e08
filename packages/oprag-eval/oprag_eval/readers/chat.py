"""A chat model of LangChain as the model of a run: limits, retries, usage, no keys."""

from __future__ import annotations

import tenacity
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage

from oprag.calls import (
    StreamEnd,
    TokenUsage,
    hint_of,
    is_of_connection,
    is_window_overflow,
    said_by,
    status_of,
    text_of,
    well_formed,
    without_reasoning,
    without_secrets,
)
from oprag.errors import ModelCallError
from oprag.tokens import TokenizerSpec, resolve_token_counter
from oprag_eval.models import Call, Completion, Model

_LIMITS = ("max_tokens", "max_output_tokens", "num_predict", "max_new_tokens")
"""How clients call the longest reply; the first is LangChain's own name for it."""


_PASSING = (408, 409, 425, 429)
"""Statuses that a later request may not get again, as those from 500 on."""
_SERVER = 500
_NO_QUOTA = "insufficient_quota"
"""How OpenAI says that an account is empty; its status is that of a rate limit."""


def is_transient(error: BaseException) -> bool:
    """Return whether the same request may succeed later.

    It may after the statuses 408, 409, 425, 429 and those from 500 on, after a
    connection that fails or breaks, and after a timeout; not where an account is
    empty, and not where the prompt is longer than the model's window.

    Args:
        error: What the client raised. Clients have no class in common: it is known
            by its status, else by the names of its classes.
    """
    if is_window_overflow(error) or getattr(error, "code", None) == _NO_QUOTA:
        return False
    status = status_of(error)
    if status is not None:
        return status in _PASSING or status >= _SERVER
    return is_of_connection(error)


class ChatModel(Model):
    """Asks a chat model, again where it failed in passing.

    It is asked again after the statuses 408, 409, 425, 429 and those from 500 on, and
    after failures of the connection. Waits double each time, with some chance in
    them so that questions asked together do not come back together.

    Args:
        client: Any chat model of LangChain. Its own retries come on top.
        name: As the user named it, `provider:model`.
        token_counter: Counts what the provider does not report; None for cl100k.
        attempts: How often a call is tried at most.
        first_wait: Seconds before the second attempt; waits end at a minute.
    """

    def __init__(
        self,
        client: BaseChatModel,
        name: str,
        *,
        token_counter: TokenizerSpec = None,
        attempts: int = 6,
        first_wait: float = 1.0,
    ) -> None:
        self.name = name
        self._client = client
        self._count = resolve_token_counter(token_counter)
        fields = type(client).model_fields
        names = {*fields, *(field.alias for field in fields.values())}
        self._limit = next((name for name in _LIMITS if name in names), _LIMITS[0])
        self._retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(is_transient),
            stop=tenacity.stop_after_attempt(attempts),
            wait=tenacity.wait_exponential(multiplier=first_wait, max=60)
            + tenacity.wait_random(0, first_wait),
            reraise=True,
        )

    async def complete(self, call: Call) -> Completion:
        """Reply to one call; a reasoning block in front of the reply is left out.

        Prompt and reply are text that every file takes, and the reply holds no secret
        of the environment.

        Raises:
            ModelCallError: It failed for good, or all it may write went into its
                reasoning. Says so where the prompt is longer than the model's
                window. What the client raised is the `__cause__`.
        """
        most = call.max_output_tokens
        limit = {} if most is None else {self._limit: most}
        prompt = well_formed(call.prompt)
        try:
            # A copy: calls that are under way at once have each its own count.
            message: AIMessage = await self._retrying.copy()(
                self._client.ainvoke, [HumanMessage(prompt)], **limit
            )
        except Exception as error:  # the clients have no error in common
            raise self._failure(error) from error
        text = without_secrets(well_formed(text_of(message)))
        if reported := message.usage_metadata:
            usage = TokenUsage.reported(reported)
        else:
            usage = TokenUsage.counted(call.prompt, text, self._count)
        text = without_reasoning(text)
        end = StreamEnd()
        end.see(message)
        if not text.strip() and end.cut == "length":
            raise ModelCallError(
                f"The chat model {self.name!r} reached its "
                f"{most or 'greatest number of'} tokens before its reply began. Allow "
                "it longer replies.",
                model=self.name,
            )
        return Completion(text, usage)

    def _failure(self, error: Exception) -> ModelCallError:
        said = said_by(error)
        if is_window_overflow(error):
            what = "was not asked: the prompt is too long for its window"
            hint = "Give --window, the tokens that it takes, or smaller budgets."
        else:
            what, hint = "did not answer", hint_of(error)
        message = f"The chat model {self.name!r} {what}. {said} {hint}"
        return ModelCallError(message.strip(), model=self.name)
