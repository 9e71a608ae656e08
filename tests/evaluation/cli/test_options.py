"""The reading of the command line; and the bar of progress."""

import dataclasses

import pytest
import typer

from oprag.calls import Price
from oprag_eval.cli.data import data_facts, restrict
from oprag_eval.cli.options import (
    RunOptions,
    read_budgets,
    read_price,
    read_specs,
    read_temperature,
)
from tests.evaluation.small import set_of_four


@pytest.mark.parametrize(
    ("written", "specs"),
    [
        (["dos-rag,op-rag"], ["dos-rag", "op-rag"]),
        (["dos-rag op-rag", "raptor"], ["dos-rag", "op-rag", "raptor"]),
        (["dos-rag:size=20,name=a,op-rag"], ["dos-rag:size=20,name=a", "op-rag"]),
        (
            ["self-route:steps=retrieved+full,k=1"],
            ["self-route:steps=retrieved+full,k=1"],
        ),
        (["a:x=1, b:y=2 ,"], ["a:x=1", "b:y=2"]),
        ([""], []),
    ],
)
def test_settings_belong_to_the_system_before_them(written, specs):
    assert read_specs(written) == specs


@pytest.mark.parametrize(
    ("model", "why"),
    [("opnai:gpt-4o", "Unsupported provider"), ("gpt-4o", "Write provider:model")],
)
def test_a_dry_run_says_why_a_run_would_stop(model, why, capsys):
    RunOptions(model=model, dry_run=True).check()

    told = capsys.readouterr().err
    assert told.startswith("Note: A run would stop here.")
    assert repr(model) in told
    assert why in told


def test_budgets_are_ascending_and_each_once():
    assert read_budgets("1000, 500 1000") == [500, 1000]


@pytest.mark.parametrize(
    ("written", "price"),
    [
        ("", None),
        ("2.5,10", Price(2.5, 2.5, 10)),
        ("2.5,1.25,10", Price(2.5, 1.25, 10)),
        ("0,.5", Price(0, 0, 0.5)),
    ],
)
def test_cached_input_costs_what_input_costs_unless_it_is_said(written, price):
    assert read_price(written) == price


@pytest.mark.parametrize("written", ["1", "1,2,3,4", "1,x", "1,-2", "1,,2", "nan,1"])
def test_what_is_no_price_is_refused(written):
    with pytest.raises(typer.Exit):
        read_price(written)


def test_a_temperature_may_be_left_to_the_provider():
    assert (read_temperature("0.7"), read_temperature("default")) == (0.7, None)


def test_another_set_another_text_and_another_kind_of_evidence_have_other_facts():
    whole = set_of_four()
    facts = data_facts(whole)
    documents = {
        doc_id: dataclasses.replace(document, text=document.text + "!")
        for doc_id, document in whole.documents.items()
    }
    first, *rest = whole.questions
    kind = dataclasses.replace(first, evidence_kind="any")

    assert first.evidence_kind == "all"
    assert restrict(whole, 9).questions == whole.questions
    assert len(restrict(whole, 3).questions) == 3
    for changed, other in (
        ({"questions", "questions_sha256"}, restrict(whole, 3)),
        ({"documents_sha256"}, dataclasses.replace(whole, documents=documents)),
        ({"questions_sha256"}, dataclasses.replace(whole, questions=(kind, *rest))),
    ):
        of_other = data_facts(other)
        assert {key for key in facts if facts[key] != of_other[key]} == changed
