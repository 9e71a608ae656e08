"""One list of options: what the core says of each, every component says."""

from __future__ import annotations

import inspect
import pydoc
from dataclasses import fields
from typing import get_args, get_type_hints

import pytest
from pydantic import BaseModel

import langchain_oprag
import llamaindex_oprag
from langchain_oprag import OrderPreservingCompressor
from langchain_oprag.retrievers import StoreKeywords
from llamaindex_oprag import OrderPreservingPostprocessor
from oprag import group_documents, order_context
from oprag.context import DEFAULTS, DESCRIPTIONS, ContextOptions, described
from oprag.context.from_texts import OrderContextKeywords
from oprag.context.options import check_option, refuse_unknown
from oprag.errors import InvalidOptionError
from oprag.units import UnitKeywords
from tests.langchain.corpus import ListRetriever
from tests.llamaindex.corpus import index

COMPONENTS = [
    value
    for package in (langchain_oprag, llamaindex_oprag)
    for value in map(package.__getattribute__, package.__all__)
    if inspect.isclass(value)
]
WITH_FIELDS = [c for c in COMPONENTS if issubclass(c, BaseModel)]
ORDERING = [
    langchain_oprag.OrderPreservingRetriever,
    OrderPreservingCompressor,
    llamaindex_oprag.OrderPreservingRetriever,
    OrderPreservingPostprocessor,
]
COUNT = {
    langchain_oprag.OrderPreservingRetriever: "k",
    langchain_oprag.LongUnitRetriever: "k",
    llamaindex_oprag.OrderPreservingRetriever: "similarity_top_k",
    llamaindex_oprag.LongUnitRetriever: "similarity_top_k",
}
"""The word for the number of chunks; elsewhere it is `top_n`."""
KEYWORDS = {
    llamaindex_oprag.LongUnitRetriever: UnitKeywords,
    langchain_oprag.OrderPreservingVectorStore: StoreKeywords,
}
"""What stands for `**options`, where it is not what `order_context` takes."""
UNITS = group_documents({"a": "text"}, [], token_counter="approximate")
TYPES = get_type_hints(ContextOptions)


def by_name(component):
    return f"{component.__module__.partition('_')[0]}-{component.__name__}"


def arguments(component):
    """All that can be given, by name."""
    given = inspect.signature(component).parameters.values()
    names = {p.name for p in given if p.kind is not p.VAR_POSITIONAL}
    if "options" not in names:
        return names
    keywords = KEYWORDS.get(component, OrderContextKeywords)
    return names - {"options"} | set(keywords.__annotations__)


def make(component, **options):
    if component is langchain_oprag.OrderPreservingRetriever:
        return component(base_retriever=ListRetriever(documents=[]), **options)
    if component is langchain_oprag.LongUnitRetriever:
        base = ListRetriever(documents=[])
        return component(base_retriever=base, units=UNITS, documents={}, **options)
    if component is llamaindex_oprag.OrderPreservingRetriever:
        return component(index().as_retriever(), **options)
    if component is llamaindex_oprag.LongUnitRetriever:
        retriever = index().as_retriever()
        return component(retriever, units=UNITS, documents={}, **options)
    return component(**options)


def test_type_checkers_are_told_every_option_of_the_core():
    assert get_type_hints(OrderContextKeywords) == {
        name: kind for name, kind in TYPES.items() if name != "top_n"
    }
    given = inspect.signature(order_context).parameters
    assert given["top_n"].default == DEFAULTS["top_n"]


def test_every_option_of_the_core_is_described():
    assert list(described(ContextOptions)) == [f.name for f in fields(ContextOptions)]
    assert DESCRIPTIONS.items() >= described(ContextOptions).items()


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


@pytest.mark.parametrize("component", WITH_FIELDS, ids=by_name)
def test_every_field_is_described(component):
    undescribed = [
        name for name, f in component.model_fields.items() if not f.description
    ]
    assert undescribed == []


@pytest.mark.parametrize("component", [*COMPONENTS, order_context], ids=by_name)
def test_the_docstring_lists_what_can_be_given(component):
    assert set(described(component)) == arguments(component)


@pytest.mark.parametrize("component", [*ORDERING, order_context], ids=by_name)
def test_options_are_said_to_be_what_the_core_says(component):
    listed = described(component)
    own = {"top_n"}  # of documents, of nodes
    assert {n: listed[n] for n in TYPES if n not in own} == {
        n: DESCRIPTIONS[n] for n in TYPES if n not in own
    }


@pytest.mark.parametrize("component", COMPONENTS, ids=by_name)
def test_help_begins_with_the_options(component):
    lines = pydoc.plain(pydoc.render_doc(component)).splitlines()
    entries = [lines.index(f" |  {line}") for line in _entry_lines(component)]
    assert entries[0] < 40
    assert entries[-1] < (66 if component in ORDERING else 95)


def _entry_lines(component):
    doc = inspect.getdoc(component)
    names = described(component)
    return [
        line for line in doc.splitlines() if line.strip().partition(":")[0] in names
    ]


@pytest.mark.parametrize(
    "component", list(dict.fromkeys([*ORDERING, *COUNT])), ids=by_name
)
@pytest.mark.parametrize("word", ["k", "top_n", "similarity_top_k"])
def test_the_other_places_word_for_the_count_names_the_right_one(component, word):
    right = COUNT.get(component, "top_n")
    if word == right:
        make(component, **{word: 3})
        return
    with pytest.raises(ValueError, match=f"no option '{word}'. Write {right}= here"):
        make(component, **{word: 3})


def test_order_context_takes_top_n_alone():
    with pytest.raises(InvalidOptionError, match="Write top_n= here"):
        order_context([], similarity_top_k=3)


@pytest.mark.parametrize("component", ORDERING, ids=by_name)
def test_what_is_said_to_be_known_is_taken(component):
    with pytest.raises(ValueError, match="Known options") as caught:
        make(component, nonsense=1)
    known = str(caught.value).partition("Known options: ")[2].partition(".")[0]
    for option in known.split(", "):
        if option in {*DEFAULTS, "k", "similarity_top_k"}:
            make(component, **{option: DEFAULTS.get(option)})
    assert {*DEFAULTS} - {"top_n"} <= set(known.split(", "))


@pytest.mark.parametrize("component", ORDERING, ids=by_name)
def test_what_preset_was_is_said(component):
    with pytest.raises(ValueError, match='Write selection="recall"'):
        make(component, preset="recall")


@pytest.mark.parametrize("option", ["count_full_documents", "response_synthesizer"])
def test_options_that_went_say_what_to_do_instead(option):
    with pytest.raises(InvalidOptionError, match=f"no option '{option}'. Leave it"):
        refuse_unknown({option: True}, ["llm"])


@pytest.mark.parametrize(
    ("first", "second", "own"),
    [
        (
            langchain_oprag.SelfRouteChain,
            llamaindex_oprag.SelfRouteQueryEngine.from_args,
            {"llm", "retriever", "max_context_tokens"},
        ),
        (
            langchain_oprag.LongReader,
            llamaindex_oprag.LongReaderSynthesizer,
            {"llm", "max_context_tokens"},
        ),
    ],
    ids=["SelfRoute", "LongReader"],
)
def test_what_both_frameworks_have_is_said_in_the_same_words(first, second, own):
    left, right = described(first), described(second)
    shared = (left.keys() & right.keys()) - own
    assert len(shared) >= 6
    assert {name: left[name] for name in shared} == {n: right[n] for n in shared}


REFUSED = [
    ("token_budget", 0, "a whole number from 1 on, or None for no limit"),
    ("token_budget", True, "a whole number"),
    ("selection", "segment", "'budget' or 'recall'"),
    ("order", ["document"], "'document' or 'score'"),
    ("document_order", "year", "'best_rank', 'first_seen', or a function"),
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
