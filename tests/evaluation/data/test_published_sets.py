"""Every set of the papers, loaded by its loader, finds the figures that it has."""

from __future__ import annotations

import json

import pytest

from oprag_eval.data import DATASETS, load
from oprag_eval.published import all_published, published_for
from tests.evaluation.data.test_infinitebench import mc
from tests.evaluation.data.test_papers import (
    annotation,
    hub_row,
    longbench,
    longrag,
    paper,
    quality,
)

WITHOUT = {"qasper"}
"""Whole: the papers asked LongBench's part."""


def opened(name):
    row = {"id": 0, "context": "Mara lit it.", "input": "Who?", "answer": ["1"]}
    family, _, part = name.partition("/")
    return {
        "infinitebench": [mc() if part == "en.mc" else {**row, "options": []}],
        "longbench": [longbench()],
        "longrag": [longrag()],
        "quality": [quality()],
    }[family]


FILES = {
    "infinitebench/en.qa": "longbook_qa_eng.jsonl",
    "infinitebench/en.mc": "longbook_choice_eng.jsonl",
    "infinitebench/passkey": "passkey.jsonl",
    "quality": "QuALITY.v1.0.1.htmlstripped.dev",
}


@pytest.mark.usefixtures("counts_differ")
@pytest.mark.parametrize("name", DATASETS)
def test_a_set_that_was_loaded_finds_its_figures(name, write_jsonl, tmp_path):
    if name.startswith("passkey"):
        found = load(name)
    elif name == "narrativeqa":
        found = load(name, write_jsonl("data.jsonl", [hub_row("d1", "Mara left.")]))
    elif name == "qasper":
        path = tmp_path / "qasper-dev-v0.3.json"
        path.write_text(json.dumps({"1": paper(annotation(yes_no=True))}), "utf-8")
        found = load(name, path)
    else:
        part = name.rpartition("/")[2]
        found = load(name, write_jsonl(FILES.get(name, f"{part}.jsonl"), opened(name)))
    figures = published_for(found.name)

    assert bool(figures) == (name not in WITHOUT)
    assert figures == tuple(f for f in all_published() if f.dataset == name)
    if figures:
        assert {figure.measure for figure in figures} & set(found.metrics)
