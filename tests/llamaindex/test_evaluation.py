"""LlamaIndex's metrics of retrieval, by the ranks and ids in results."""

from __future__ import annotations

import pytest
from llama_index.core.evaluation import RetrieverEvaluator, resolve_metrics

from llamaindex_oprag import OrderPreservingRetriever
from oprag import place_of
from tests.llamaindex.corpus import QUESTION

NAMES = ["hit_rate", "recall", "precision", "mrr", "ap", "ndcg"]


@pytest.mark.parametrize("merge", [False, True])
def test_order_and_merging_change_no_figure_of_what_was_found(lease, merge):
    base = lease.as_retriever(similarity_top_k=8)
    ordered = OrderPreservingRetriever(base, merge=merge)
    best_first = [node.node_id for node in base.retrieve(QUESTION)]

    places = sorted(
        map(place_of, ordered.retrieve(QUESTION)), key=lambda each: each.rank
    )
    ids = [each for place in places for each in place.ids]

    assert {*ids} == {*best_first}
    for expected in ([best_first[0]], best_first[2:5], ["elsewhere", best_first[7]]):
        # Inside a merged passage the ranks of its nodes are not known.
        names = NAMES[:3] if merge else NAMES
        evaluator = RetrieverEvaluator.from_metric_names(names, retriever=base)
        known = evaluator.evaluate(QUESTION, expected).metric_vals_dict
        for metric in (metric() for metric in resolve_metrics(names)):
            found = metric.compute(expected_ids=expected, retrieved_ids=ids)
            assert found.score == known[metric.metric_name]
