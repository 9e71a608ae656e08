"""Options that cannot be are refused when they are given; models are looked into."""

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import ConfigurableField, RunnableLambda
from pydantic import Field

from langchain_oprag._answers import facts_of


class NamedModel(FakeListChatModel):
    """A model that says what integrations say of theirs."""

    responses: list[str] = Field(default_factory=lambda: ["In 1912."])
    model_name: str = "named"
    max_tokens: int | None = None


def named(**settings) -> NamedModel:
    return NamedModel(**settings)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda model: model,
        lambda model: model.bind(stop=["."]),
        lambda model: model.with_config(tags=["a"]).bind(stop=["."]),
        lambda model: model.with_retry(),
        lambda model: model.with_fallbacks([FakeListChatModel(responses=["b"])]),
        lambda model: model.configurable_fields(
            max_tokens=ConfigurableField("max_tokens")
        ),
        lambda model: RunnableLambda(lambda messages: messages) | model,
        lambda model: (
            ChatPromptTemplate.from_messages([("placeholder", "{messages}")])
            | model.bind(stop=["."])
        ),
    ],
)
def test_a_model_is_found_in_what_is_wrapped_around_it(wrap):
    facts = facts_of(wrap(named(max_tokens=70)), {})

    assert (facts.names - {""}, facts.answer_tokens) == ({"named"}, 70)
    assert facts.window is None


def test_what_is_bound_or_configured_goes_first():
    bound = named(max_tokens=70).bind(max_tokens=30, model="other")
    configurable = named(max_tokens=70).configurable_fields(
        max_tokens=ConfigurableField("answer")
    )

    assert facts_of(bound, {})[0::2] == ({"other"}, 30)
    assert facts_of(configurable, {"configurable": {"answer": 40}}).answer_tokens == 40


@pytest.mark.parametrize("limit", [None, -1, 0])
def test_no_limit_is_none(limit):
    assert facts_of(named(max_tokens=limit), {}).answer_tokens is None


def test_a_model_that_says_nothing_has_no_facts():
    assert facts_of(RunnableLambda(lambda messages: "a"), {}) == ({""}, None, None)
