"""Prompts as LlamaIndex's templates: checked, filled in, and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from llama_index.core.llms import LLM, ChatMessage
from llama_index.core.prompts import BasePromptTemplate, PromptTemplate

from oprag.calls import QA_VARIABLES, check_prompt
from oprag.errors import invalid_option

_THEIR_NAMES = {"context": "context_str", "question": "query_str"}
"""LlamaIndex's names of variables, by the names in oprag's format strings."""

Sent = list[ChatMessage] | str
"""A filled prompt: messages to a chat model, one text to any other."""


def check_template(
    prompt: str | BasePromptTemplate,
    option: str,
    *,
    llm: LLM,
    must_decline: bool = False,
    variables: Sequence[str] = QA_VARIABLES,
) -> BasePromptTemplate:
    """Make sure that a prompt can be filled, and that it lets the model decline.

    Args:
        prompt: A template, or the text of one, with `{context_str}` and
            `{query_str}`; a text may use `{context}` and `{question}` instead.
        option: The name of the prompt in the error.
        llm: The model that the prompt is for.
        must_decline: Whether the word *unanswerable* has to occur in the prompt.
        variables: The prompt's variables, by oprag's names.

    Returns:
        The template.

    Raises:
        InvalidOptionError: It is no template, lacks a variable, has one that is
            not filled in, or does not let the model decline.
    """
    template = prompt
    names = {_THEIR_NAMES.get(own, own): own for own in variables}
    if isinstance(prompt, str):
        text = prompt
        if all(f"{{{name}}}" in prompt for name in variables):
            # One of oprag's format strings, in LlamaIndex's names. LlamaIndex fills
            # in names in braces, and does not know doubled braces.
            for theirs, own in names.items():
                text = text.replace(f"{{{own}}}", f"{{{theirs}}}")
            text = text.replace("{{", "{").replace("}}", "}")
        template = PromptTemplate(text)
    if not isinstance(template, BasePromptTemplate):
        takes = "It takes a text or a prompt template."
        raise invalid_option(option, prompt, takes)
    text = check_prompt(
        option,
        prompt,
        lambda values: template.format(llm=llm, **values),
        variables=list(names),
        must_decline=must_decline,
    )
    filled = {*(template.template_var_mappings or {}).values(), *template.kwargs}
    foreign = [
        name
        for name in dict.fromkeys(template.template_vars)
        if name not in filled and f"{{{name}}}" in text
    ]
    if foreign:
        takes = f"Nothing fills in {', '.join(foreign)}."
        raise invalid_option(option, prompt, takes)
    return template


def fill_prompt(
    llm: LLM, template: BasePromptTemplate, values: Mapping[str, str]
) -> Sent:
    """Put values into a prompt, as `LLM.predict` would send it."""
    given = {_THEIR_NAMES.get(own, own): value for own, value in values.items()}
    if llm.metadata.is_chat_model:
        return llm._get_messages(template, **given)  # noqa: SLF001 -- adds the system prompt as `predict` does
    return llm._get_prompt(template, **given)  # noqa: SLF001 -- as above
