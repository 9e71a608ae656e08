"""The prompts, and what is required of a user's own."""

import pytest

from oprag.calls import QA_VARIABLES, check_prompt, qa_prompt
from oprag.errors import InvalidOptionError

PROMPT = qa_prompt("word")


def said(prompt, *, option="prompt", **options):
    fill = lambda values: prompt.format(**values)  # noqa: E731 -- as short as that
    return check_prompt(option, prompt, fill, **options)


def test_our_prompt_passes_our_check_and_has_the_context_first():
    assert said(PROMPT, must_decline=True).count("<the ") == len(QA_VARIABLES)
    places = [PROMPT.index(f"{{{name}}}") for name in QA_VARIABLES]
    assert places == sorted(places)


def test_braces_in_documents_are_text():
    wild = 'if (x) { return {"question": "{context}"}; } {} {0} {{a}}'
    filled = PROMPT.format(**dict.fromkeys(QA_VARIABLES, wild))

    assert filled.count(wild) == len(QA_VARIABLES)


@pytest.mark.parametrize(
    ("template", "fault"),
    [
        ("{context}", r"lacks \{question\}"),
        ("no variables", r"lacks \{context\}, \{question\}"),
        ("{context} {question} {topic}", "cannot be filled: KeyError.'topic'"),
        ("{context} {question} {}", "cannot be filled: IndexError"),
        ("{context} {question} {question.text}", "cannot be filled: AttributeError"),
        ("{context[x]} {question}", "cannot be filled: TypeError"),
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


def test_a_prompt_without_the_permission_to_decline_is_rejected_where_asked():
    template = "{context} {question}"

    assert said(template)
    with pytest.raises(InvalidOptionError, match="'unanswerable'"):
        said(template, must_decline=True)
    assert said(template + " or UNANSWERABLE", must_decline=True)
