"""Self-Route's token share, where the provider counts with another tokenizer."""

from __future__ import annotations

import asyncio

import pytest
from langchain_openai import ChatOpenAI

from oprag.tokens import resolve_token_counter
from oprag_eval.readers.chat import ChatModel
from oprag_eval.reports.summarizing import summarize
from oprag_eval.reports.tables import tables_of
from oprag_eval.running.run_directory import RunDirectory
from oprag_eval.running.runner import Plan, run
from oprag_eval.scoring import score
from oprag_eval.systems.full_document import FullDocuments
from oprag_eval.systems.self_route import SelfRoute
from tests.evaluation.reports.runs import ledgers
from tests.evaluation.small import bench_of
from tests.kit.openai_server import Reply, ScriptedServer, Usage

COUNT = resolve_token_counter(None)
ROUTED = SelfRoute(k=2, size=20)


def tokens(prompt: str) -> int:
    """As a provider counts that sees a quarter more in the same text."""
    return round(1.25 * COUNT(prompt))


def answer(request) -> Reply:
    """Decline a third of the questions from the chunks."""
    hard = "What was counted in the chest" in request.prompt
    whole = request.prompt.count("held") > 5
    text = "unanswerable" if hard and not whole else "three barrels"
    return Reply(text, usage=Usage(tokens(request.prompt), 3))


def routing_of(path, systems):
    dataset, directory = ledgers(), RunDirectory(path)
    directory.begin({})
    plan = Plan(systems, [], dataset.questions)
    with ScriptedServer(answer) as server:
        client = ChatOpenAI(base_url=server.base_url, api_key="none", model="m")
        bench = bench_of(ChatModel(client, "openai:m"), dataset, token_counter=None)
        assert asyncio.run(run(plan, bench, directory)).complete
    answers = directory.answers()
    scores = score(directory, dataset)
    summary = summarize(directory, dataset, answers, scores, resamples=50)
    (routing,) = summary.routing
    (cells,) = next(t for t in tables_of(summary) if t.title == "Self-Route").rows
    return routing, cells, answers


@pytest.mark.slow
def test_the_share_is_of_what_the_provider_counts_measured_or_estimated(tmp_path):
    measured, measured_cells, answers = routing_of(
        tmp_path / "both", [FullDocuments(), ROUTED]
    )
    estimated, estimated_cells, _ = routing_of(tmp_path / "alone", [ROUTED])
    used, alone = (
        sum(
            a["usage"]["answer"]["input_tokens"] for a in answers if a["system"] == name
        )
        for name in ("self-route", "full-document")
    )

    assert measured.token_share == pytest.approx(used / alone)
    assert estimated.token_share == pytest.approx(used / alone, abs=0.01)
    assert (measured.estimated, estimated.estimated) == (0, 30)
    assert not measured_cells[3].startswith("≈")
    assert estimated_cells[3].startswith("≈ ")
