"""The prompts, and what is required of a user's own."""

from __future__ import annotations

import pytest

from oprag.calls import QA_PROMPT, QA_VARIABLES, check_prompt
from oprag.errors import InvalidOptionError


def said(prompt, variables=QA_VARIABLES, *, option="prompt", **options):
    fill = lambda values: prompt.format(**values)  # noqa: E731 -- as short as that
    return check_prompt(option, prompt, fill, variables=variables, **options)


BOTH = [(QA_PROMPT, QA_VARIABLES)]


@pytest.mark.parametrize(("prompt", "variables"), BOTH)
def test_our_prompts_pass_our_check(prompt, variables):
    assert said(prompt, variables, must_decline=True).count("<the ") == len(variables)


@pytest.mark.parametrize(("prompt", "variables"), BOTH)
def test_the_context_comes_first_and_alone(prompt, variables):
    places = [prompt.index(f"{{{name}}}") for name in variables]

    assert places == sorted(places)
    assert all(prompt.count(f"{{{name}}}") == 1 for name in variables)


@pytest.mark.parametrize(("prompt", "variables"), BOTH)
def test_two_questions_on_one_document_share_nearly_all(prompt, variables):
    document = "A sentence of the document. " * 1000
    first, second = (
        prompt.format(**{**dict.fromkeys(variables, text), "context": document})
        for text in ("Who was it?", "When did they leave for Lima?")
    )

    shared = next(
        place for place, (a, b) in enumerate(zip(first, second, strict=False)) if a != b
    )
    assert document in first[:shared]
    assert shared >= 0.95 * len(second)


@pytest.mark.parametrize(("prompt", "variables"), BOTH)
def test_braces_in_documents_are_text(prompt, variables):
    wild = 'if (x) { return {"question": "{context}"}; } {} {0} {{a}}'
    filled = prompt.format(**dict.fromkeys(variables, wild))

    assert filled.count(wild) == len(variables)


def test_the_prompt_of_self_route_asks_for_an_answer_as_long_as_it_takes():
    assert "few words" not in QA_PROMPT
    assert "Otherwise answer the question" in QA_PROMPT


def test_prompts_say_from_the_text_only():
    for prompt, _ in BOTH:
        assert "only what this text says" in prompt


@pytest.mark.parametrize(
    ("template", "fault"),
    [
        ("{context}", r"lacks \{question\}"),
        ("no variables", r"lacks \{context\}, \{question\}"),
        ("{context} {question} {topic}", "cannot be filled: KeyError.'topic'"),
        ("{context} {question} {}", "cannot be filled: IndexError"),
        ("{context} {question} {question.text}", "cannot be filled: AttributeError"),
        ("{context} {question:d}", "cannot be filled: ValueError"),
        ("{context} {question} {", "cannot be filled: ValueError"),
        ("{{context}} {question}", r"lacks \{context\}"),
    ],
)
def test_a_prompt_that_cannot_be_filled_is_rejected(template, fault):
    with pytest.raises(InvalidOptionError, match=fault) as caught:
        said(template, option="qa_prompt")

    assert caught.value.option == "qa_prompt"
    assert caught.value.value == template


def test_literal_braces_are_allowed_doubled():
    assert said("{context} {question} as {{json}}").endswith("as {json}")


def test_a_prompt_without_the_permission_to_decline_is_rejected_where_asked():
    template = "{context} {question}"

    assert said(template)
    with pytest.raises(InvalidOptionError, match="'unanswerable'"):
        said(template, must_decline=True)
    assert said(template + " or UNANSWERABLE", must_decline=True)
