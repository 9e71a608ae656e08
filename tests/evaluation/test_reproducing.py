"""Recipes of the papers' tables: figures and planned pairs beside ours."""

import pytest

from oprag_eval.data import DATASETS
from oprag_eval.reproduction import (
    AVERAGE,
    Pair,
    Recipe,
    all_published,
    compare,
    pairs_of,
    recipe_named,
    recipes,
)
from oprag_eval.statistics import Figure


def measured(mean, low=None, high=None, deviation=None) -> Figure:
    return Figure(mean, low, high, 0, deviation)


def test_every_recipe_names_what_there_is():
    assert {name.partition("/")[0] for name in recipes()} == {
        *("dos-rag", "longrag", "op-rag", "self-route")
    }
    for recipe in recipes().values():
        assert set(recipe.sets) <= set(DATASETS)
        assert recipe.options["prompts"] == "paper"
        assert {"embedding_model", "runs", "seed", "temperature"} <= set(recipe.options)
        names = [arm.system.name for arm in recipe.arms]
        assert len(set(names)) == len(names)
        assert {name for pair in recipe.planned for name in pair} <= set(names)
        assert any(arm.system.budgeted for arm in recipe.arms) == bool(recipe.budgets)
        assert all(reader["window"] > 10_000 for reader in recipe.readers.values())


NOTHING: dict = {"measure": "token_f1", "settings": {"runs": 1}}
NOTHING |= {"arms": [], "comparisons": []}


def test_every_figure_of_the_papers_stands_in_a_table_or_a_note_says_why():
    found = [
        row.published
        for recipe in recipes().values()
        for reader in recipe.readers
        for row in compare(recipe, reader, [NOTHING] * len(recipe.sets))
        if row.published is not None
    ]
    missing = [each for each in all_published() if each not in found]
    repeated = [each for each in missing if "OP-RAG" in each.source]
    of = {(f.dataset, f.measure, f.model, f.method): f.value for f in found}
    same = [of[f.dataset, f.measure, f.model, f.method] == f.value for f in repeated]
    # OP-RAG gives 78.42 for one of Self-Route's figures, which is 76.42.
    assert sorted(same) == [False] + 7 * [True]
    others = [each.method for each in missing if each not in repeated]
    assert others == 6 * ["closed book, 16 examples"]
    assert "16 examples" in recipe_named("longrag/nq").notes[-1]
    assert "self-route/en.qa" in recipe_named("op-rag/en.qa").notes[-1]


def test_vanilla_rag_and_raptor_differ_in_the_summaries_alone():
    for name in ("dos-rag/en.mc", "dos-rag/quality", "dos-rag/narrativeqa"):
        arms = {a.system.name.partition(":")[0]: a for a in recipe_named(name).arms}
        vanilla = arms["vanilla-rag"].system.settings()
        raptor = arms["raptor"].system.settings()
        assert vanilla["compat"] == raptor["compat"] == "official"
        assert (vanilla["unit"], vanilla["size"]) == ("sentences", [raptor["size"]])


def summary(mean: float, measure: str = "token_f1") -> dict:
    found = {"mean": mean, "low": mean - 0.03, "high": mean + 0.04}
    found |= {"questions": 5, "deviation": None}
    arm = {"system": "full-document", "budget": None}
    arm["measures"] = {measure: found}
    routed = {"system": "self-route-5", "budget": None}
    routed["measures"] = {"answerable": found}
    return {**NOTHING, "measure": measure, "arms": [arm, routed]}


def test_over_sets_means_are_compared():
    recipe = recipe_named("self-route/average")
    others = [summary(0.5)] * 8
    rows = compare(recipe, "GPT-4o", [*others, summary(0.95, "choice_match_official")])
    by = {(row.arm, row.measure): row for row in rows}

    assert recipe.dataset == AVERAGE
    ours = by["full-document", "average"].ours
    assert ours.mean == pytest.approx(0.55)
    assert (ours.low, ours.high) == (None, None)
    answerable = by["self-route-5", "answerable"]
    assert answerable.ours.mean == pytest.approx(0.55)
    assert by["self-route-5", "token_share"].ours is None


def planned(recipe: Recipe, reader: str) -> list[Pair]:
    nothing = [NOTHING] * len(recipe.sets)
    return pairs_of(recipe, compare(recipe, reader, nothing), nothing)


@pytest.mark.parametrize(
    ("table", "reader", "first", "second", "paper"),
    [
        ("op-rag/en.qa", "", "op-rag-128", "vanilla-128", 0.0603),
        ("op-rag/en.qa", "", "op-rag-8", "vanilla-8", None),
        ("dos-rag/en.mc", "", "dos-rag:compat=official, 1,500", "readagent", -0.147),
        ("self-route/average", "GPT-4o", "self-route-5", "rag-5", 0.1629),
        ("self-route/passkey-reworded", "", "full-document", "rag-5", 0.6474),
        ("longrag/nq/retrieval", "", "units-1", "passages-1", 0.1945),
        ("longrag/hotpotqa/retrieval", "", "units-2", "documents-2", 0.2629),
    ],
)
def test_planned_pairs_have_the_papers_difference(table, reader, first, second, paper):
    recipe = recipe_named(table)
    found = planned(recipe, recipe.reader(reader))
    pair = next(each for each in found if (each.first, each.second) == (first, second))

    assert pair.paper == (None if paper is None else pytest.approx(paper))


def test_every_budget_has_each_planned_pair():
    recipe = recipe_named("dos-rag/quality")
    found = planned(recipe, "GPT-4o")

    assert len(found) == 3 * 6
