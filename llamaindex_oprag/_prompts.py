"""Self-Route's prompts as LlamaIndex's templates, and what they come to as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.llms import LLM, ChatMessage
from llama_index.core.prompts import BasePromptTemplate, PromptTemplate

from oprag.calls import choice_prompt, qa_prompt
from oprag.errors import InvalidOptionError

_OWN_NAMES = {"context_str": "context", "query_str": "question"}
"""LlamaIndex's names of the variables, and those in oprag's format strings."""

_PER_MESSAGE = 4
"""Tokens that chat models take for the frame of a message, at most."""

Sent = list[ChatMessage] | str
"""What is sent: messages to a chat model, one text to any other."""


def own_template(sentinel: str, *, multiple_choice: bool) -> PromptTemplate:
    """Return the built-in prompt.

    Args:
        sentinel: What the model is to write when it declines.
        multiple_choice: Whether the query holds options behind the question.
    """
    if not multiple_choice:
        return from_format_string(qa_prompt(sentinel))
    return from_format_string(
        choice_prompt(sentinel).replace("{question}\n{options}", "{question}")
    )


def from_format_string(
    template: str, names: Mapping[str, str] = _OWN_NAMES
) -> PromptTemplate:
    """Make a template of one of oprag's format strings.

    Args:
        template: The format string.
        names: LlamaIndex's names of its variables, and its own.
    """
    # LlamaIndex fills in names in braces and knows no doubled ones.
    plain = template.replace("{{", "{").replace("}}", "}")
    return PromptTemplate(plain, template_var_mappings=dict(names))


def check_template(
    prompt: str | BasePromptTemplate,
    option: str,
    *,
    llm: LLM,
    sentinels: Sequence[str] = (),
    names: Mapping[str, str] = _OWN_NAMES,
) -> BasePromptTemplate:
    """Make sure that a prompt can be filled, and that it lets the model decline.

    Args:
        prompt: A template, or the text of one, with `{context_str}` and
            `{query_str}`; a text may use `{context}` and `{question}` instead.
        option: What the error calls it.
        llm: The model that it is for.
        sentinels: One of these must stand in the text, in any case; empty: not
            checked.
        names: Its variables, if others: LlamaIndex's names, and those that a text
            may use instead.

    Returns:
        The template.

    Raises:
        InvalidOptionError: It is no template, lacks a variable, has one that is
            not filled in, or names no sentinel.
    """
    template = prompt
    if isinstance(prompt, str):
        own = all(f"{{{name}}}" in prompt for name in names.values())
        template = from_format_string(prompt, names) if own else PromptTemplate(prompt)
    if not isinstance(template, BasePromptTemplate):
        raise _wrong(option, prompt, "is neither a text nor a prompt template.")
    probes = {name: f"<the {name}>" for name in names}
    text = template.format(llm=llm, **probes)
    lacking = [name for name, probe in probes.items() if probe not in text]
    if lacking:
        raise _wrong(option, prompt, f"lacks {_braced(lacking)}.")
    foreign = [
        name
        for name in _unfilled(template)
        if f"{{{name}}}" in text
        and not any(f"{{{name}}}" in word for word in sentinels)
    ]
    if foreign:
        fault = f"has {_braced(foreign)}, which nothing fills in."
        raise _wrong(option, prompt, fault)
    if sentinels and not any(word.casefold() in text.casefold() for word in sentinels):
        wanted = " or ".join(map(repr, sentinels))
        raise _wrong(
            option,
            prompt,
            f"does not tell the model to write {wanted} when the text does not hold "
            "the answer, so no question could ever be routed on.",
        )
    return template


def _unfilled(template: BasePromptTemplate) -> list[str]:
    filled = {*(template.template_var_mappings or {}).values(), *template.kwargs}
    names = dict.fromkeys(template.template_vars)
    return [name for name in names if name not in filled]


def _braced(names: Sequence[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in names)


def _wrong(option: str, prompt: Any, fault: str) -> InvalidOptionError:
    message = f"{option} {fault} The prompt: {prompt!r}"
    return InvalidOptionError(message, option=option, value=prompt)


def fill(llm: LLM, template: BasePromptTemplate, context: str, query: str) -> Sent:
    """Put context and query into a prompt, as `LLM.predict` would send it."""
    return fill_in(llm, template, {"context_str": context, "query_str": query})


def fill_in(llm: LLM, template: BasePromptTemplate, values: Mapping[str, str]) -> Sent:
    """Put values into a prompt, by LlamaIndex's names, as `LLM.predict` does."""
    if llm.metadata.is_chat_model:
        return llm._get_messages(template, **values)  # noqa: SLF001 -- adds the system prompt as `predict` does
    return llm._get_prompt(template, **values)  # noqa: SLF001 -- as above


def frame_tokens(sent: Sent) -> int:
    """Tokens that chat models take for the frames of messages, at most."""
    return 0 if isinstance(sent, str) else _PER_MESSAGE * (len(sent) + 1)


def sent_text(sent: Sent) -> str:
    """All text of a prompt, to count its tokens."""
    if isinstance(sent, str):
        return sent
    return "\n".join(message.content or "" for message in sent)
