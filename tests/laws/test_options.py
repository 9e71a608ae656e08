"""One list of options: what the core says of each, every component says."""

import inspect
from dataclasses import fields
from typing import get_args, get_type_hints

import pytest

import langchain_oprag
import llamaindex_oprag
from langchain_oprag import OrderPreservingCompressor
from llamaindex_oprag import OrderPreservingPostprocessor
from oprag import order_context
from oprag.context import DEFAULTS, DESCRIPTIONS, ContextOptions
from oprag.context.from_texts import OrderContextKeywords
from oprag.context.options import check_option
from oprag.errors import InvalidOptionError
from tests.langchain.corpus import ListRetriever
from tests.llamaindex.corpus import index

ORDERING = [
    langchain_oprag.OrderPreservingRetriever,
    OrderPreservingCompressor,
    llamaindex_oprag.OrderPreservingRetriever,
    OrderPreservingPostprocessor,
]
COUNT = {
    langchain_oprag.OrderPreservingRetriever: "k",
    llamaindex_oprag.OrderPreservingRetriever: "similarity_top_k",
}
"""The word for the number of chunks; elsewhere it is `top_n`."""
TYPES = get_type_hints(ContextOptions)


def by_name(component):
    return f"{component.__module__.partition('_')[0]}-{component.__name__}"


def make(component, **options):
    if component is langchain_oprag.OrderPreservingRetriever:
        return component(base_retriever=ListRetriever(documents=[]), **options)
    if component is llamaindex_oprag.OrderPreservingRetriever:
        return component(index().as_retriever(), **options)
    return component(**options)


def test_type_checkers_are_told_every_option_of_the_core():
    assert get_type_hints(OrderContextKeywords) == {
        name: kind for name, kind in TYPES.items() if name != "top_n"
    }
    given = inspect.signature(order_context).parameters
    assert given["top_n"].default == DEFAULTS["top_n"]


def test_every_option_of_the_core_is_described():
    names = [f.name for f in fields(ContextOptions)]
    assert list(DESCRIPTIONS)[: len(names)] == names
    assert all(DESCRIPTIONS.values())


@pytest.mark.parametrize("component", ORDERING[:2] + ORDERING[3:], ids=by_name)
def test_fields_are_the_cores_in_name_type_default_and_description(component):
    own_word = COUNT.get(component, "top_n")
    for name, kind in TYPES.items():
        if name == "top_n" != own_word:
            assert name not in component.model_fields
            continue
        field = component.model_fields[name]
        assert (field.default, field.description) == (
            DEFAULTS[name],
            DESCRIPTIONS[name],
        )
        if name == "documents":  # a framework has more that holds texts
            assert set(get_args(kind)) < set(get_args(field.annotation))
        else:
            assert field.annotation == kind


@pytest.mark.parametrize("component", ORDERING, ids=by_name)
def test_an_unknown_option_is_refused_with_the_nearest_or_all_of_them(component):
    with pytest.raises(InvalidOptionError, match="Did you mean 'token_budget'"):
        make(component, token_buget=1)
    with pytest.raises(InvalidOptionError, match=r"Options: .*token_budget") as caught:
        make(component, nonsense=1)
    assert (caught.value.option, caught.value.value) == ("nonsense", 1)


REFUSED = [
    ("token_budget", 0, "a whole number from 1 on, or None for no limit"),
    ("token_budget", True, "a whole number"),
    ("selection", "segment", "'budget' or 'recall'"),
    ("order", ["document"], "'document' or 'rank'"),
    ("sort_documents", "year", "'best_rank', or a function"),
    ("merge", 1, "True, False or None"),
    ("position_keys", [], "a metadata key"),
    ("document_key", [""], "a metadata key"),
    ("separator", None, "a text"),
]


@pytest.mark.parametrize(("option", "value", "takes"), REFUSED)
def test_the_same_values_are_refused_in_the_same_words_everywhere(option, value, takes):
    with pytest.raises(InvalidOptionError, match="is not possible") as core:
        check_option(option, value)
    assert f"It takes {takes}" in core.value.message
    for component in ORDERING:
        with pytest.raises(ValueError, match="is not possible") as caught:
            make(component, **{option: value})
        assert core.value.message in str(caught.value)


@pytest.mark.parametrize("component", ORDERING[1::2], ids=by_name)
def test_options_can_be_assigned_and_are_checked_then_too(component):
    made = component()
    made.top_n = 3
    with pytest.raises(InvalidOptionError, match="top_n=0 is not possible"):
        made.top_n = 0
    assert made.top_n == 3


@pytest.mark.parametrize("component", ORDERING[1::2], ids=by_name)
def test_plain_options_come_back_from_json(component):
    given = {
        "token_budget": 100,
        "selection": "recall",
        "position_keys": ["page", "start_index"],
        "documents": {"a": "text"},
    }
    made = component(**given)
    if component is OrderPreservingPostprocessor:
        again = component.from_json(made.to_json())
    else:
        again = component.model_validate_json(made.model_dump_json())
    assert {name: getattr(again, name) for name in given} == given


@pytest.mark.parametrize("component", ORDERING[1::2], ids=by_name)
def test_the_json_schema_says_types_and_descriptions(component):
    schema = component.model_json_schema()["properties"]
    assert schema["selection"]["enum"][-1] == "recall"
    assert all(schema[name]["description"] == DESCRIPTIONS[name] for name in TYPES)
