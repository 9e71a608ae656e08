"""All that is settled before the first step of a question: prompts, models, windows."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig

from langchain_oprag._models import ModelFacts, facts_of
from langchain_oprag._questions import Question
from langchain_oprag._replies import REPLY_SCHEMA, Reply, StructuredReply, text_of
from langchain_oprag._self_route_options import SelfRouteOptions, context_options
from langchain_oprag._settling import model_of, settle
from oprag.context import ContextOptions
from oprag.routing import PromptSize, RouteOptions, Rung
from oprag.tokens import NamedTokenCounter

_PER_MESSAGE = 4
"""Tokens that a chat format puts around a message, at most, in the common ones."""
_PER_PROMPT = 3
"""Tokens with which it begins the reply."""
_ANSWER_TOKENS = 256
_SHARE_OF_WINDOW = 8


class Plan:
    """What is sent to whom, rung by rung.

    Args:
        options: The chain's.
        question: The question.
        config: It decides configurable fields.
        counter: Counts tokens.
    """

    def __init__(
        self,
        options: SelfRouteOptions,
        question: Question,
        config: RunnableConfig,
        counter: NamedTokenCounter,
    ) -> None:
        self.options = options
        self.question = question
        self.config = config
        self.counter = counter
        self.rungs, self.rules, self._prompts = settle(options)
        self.facts = functools.cache(self._facts)

    def context_options(self, token_budget: int | None) -> ContextOptions:
        """How retrieved chunks become the context of a rung."""
        return context_options(self.options, self.counter, token_budget)

    def route_options(self) -> RouteOptions:
        """How the question is routed."""
        options = self.options
        return RouteOptions(
            rungs=self.rungs,
            context=self.context_options(None),
            max_documents=options.max_documents,
            default_documents=_only_document(options.documents),
            window_overflow=options.window_overflow,
            prices=dict(options.prices) if options.prices else None,
        )

    def model(self, rung: Rung) -> Runnable[Any, Any]:
        """What is called on a rung."""
        model = model_of(self.options, rung)
        if not self.options.structured_output:
            return model
        # Checked by `settle` to be a chat model.
        structured: Any = model
        filled: Runnable[Any, Any] = structured.with_structured_output(
            REPLY_SCHEMA, include_raw=True
        )
        return filled

    def reply(self, *, final: bool) -> Reply:
        """An empty reply of the kind that the model gives."""
        kind = StructuredReply if self.options.structured_output else Reply
        return kind(self.rules, final=final)

    def messages(self, rung: Rung, context: str) -> list[BaseMessage]:
        """The prompt of a rung."""
        return self._prompts.messages(rung.name, context, self.question)

    def tokens(self, messages: Sequence[BaseMessage]) -> int:
        """Tokens of a prompt, with what the chat format puts around it."""
        tokens = prompt_tokens(messages, self.counter)
        if self.options.structured_output:
            tokens += self.counter(json.dumps(REPLY_SCHEMA))
        return tokens

    def size(self, rung: Rung) -> PromptSize:
        """How long a rung's prompt is and may be."""
        window = self._window(rung)
        return PromptSize(
            lambda context: self.tokens(self.messages(rung, context)),
            window,
            room_for_answer(self.options.answer_tokens, self.facts(rung), window),
        )

    def _window(self, rung: Rung) -> int | None:
        given = self.options.max_context_tokens
        if isinstance(given, Mapping):
            given = given.get(rung.name)
        return given or self.facts(rung).window

    def _facts(self, rung: Rung) -> ModelFacts:
        return facts_of(model_of(self.options, rung), self.config)


def prompt_tokens(messages: Sequence[BaseMessage], counter: NamedTokenCounter) -> int:
    """Count the tokens of messages, with what the chat format puts around them."""
    texts = sum(counter(text_of(message)) for message in messages)
    return texts + _PER_MESSAGE * len(messages) + _PER_PROMPT


def room_for_answer(given: int | None, facts: ModelFacts, window: int | None) -> int:
    """Tokens that are kept free for the answer.

    Args:
        given: What the user said; None for what the model says of itself.
        facts: What that is.
        window: Where neither says it, 256, or an eighth of a smaller window; 0
            without a window.
    """
    reserved = given or facts.answer_tokens
    if reserved is None and window is not None:
        reserved = min(_ANSWER_TOKENS, window // _SHARE_OF_WINDOW)
    return reserved or 0


def _only_document(documents: Any) -> tuple[str, ...]:
    """The name of the document where there is but one."""
    only = isinstance(documents, Mapping) and len(documents) == 1
    return tuple(documents) if only else ()
