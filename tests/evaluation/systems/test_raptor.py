"""RAPTOR: clusters, trees, and which of their nodes are read.

Compiling UMAP takes seconds, so all that needs it is in one test, on a real text, with
a real client and a server.
"""

import json
from pydoc_data.topics import topics

import numpy as np
import pytest
from langchain_openai import ChatOpenAI

from oprag.calls import TokenUsage
from oprag.errors import BudgetTooSmallError
from oprag_eval.catalogue import make_system
from oprag_eval.readers.chat import ChatModel
from oprag_eval.systems.raptor import soft_clusters
from tests.evaluation.small import Replies, attempt, bench_of, ran, set_of_one
from tests.kit.fresh_interpreter import run as run_fresh
from tests.kit.openai_server import ScriptedServer

REAL = topics["class"] + topics["try"]


@pytest.mark.parametrize("texts", [1, 2, 3])
def test_up_to_three_texts_are_one_cluster(texts):
    vectors = np.eye(3, dtype=np.float32)[:texts]

    clusters = soft_clusters(vectors, [10] * texts, max_tokens=3500, seed=1)
    assert clusters == [list(range(texts))]


def test_a_cluster_that_cannot_be_divided_is_cut_into_neighbours():
    vectors = np.eye(3, dtype=np.float32)

    # 40 + 50 fit 100, 40 + 50 + 30 do not.
    clusters = soft_clusters(vectors, [40, 50, 30], max_tokens=100, seed=1)
    assert clusters == [[0, 1], [2]]
    # One text may be over the limit.
    clusters = soft_clusters(vectors, [140, 50, 30], max_tokens=100, seed=1)
    assert clusters == [[0], [1, 2]]


def test_by_the_authors_rules_it_reads_as_vanilla_rag_does():
    text = "The harbour opened in May; so they say. Salt came\nfirst. " * 3
    for budget in (60, 120):
        read = []
        for spec in (
            "vanilla-rag:compat=official,size=5",
            "raptor:compat=official,size=5",
        ):
            model = Replies()
            found = attempt(spec, model, set_of_one(text), budget=budget)
            read.append((model.calls[-1].prompt, found.pieces))
        assert read[0] == read[1]
        assert len(read[0][1]) >= budget // 60


@pytest.mark.parametrize("chunks", [1, 2, 3, 4, 5])
def test_a_document_of_a_few_chunks_is_read_without_a_tree(chunks):
    text = "The harbour opened in May, they say. " * chunks
    model = Replies()
    found = attempt("raptor:size=7", model, set_of_one(text.strip()), budget=100)

    assert len(found.pieces) == chunks
    assert [call.kind for call in model.calls] == ["answer"]
    assert found.usage["index"] == TokenUsage()


def test_the_best_nodes_come_first_and_stop_at_the_budget():
    text = "A mill. The harbour opened in May. Its crane broke in June, they say."
    model, dataset = Replies(), set_of_one(text)
    found = attempt("raptor:size=7", model, dataset, budget=10)

    # 2 + 5 words, then 7: the second has "harbour" and "opened", and is a chunk with
    # the first. Its 7 and the other 7 are over 10.
    assert model.calls[0].facts["context"].strip() == (
        "A mill. The harbour opened in May."
    )
    assert found.context_tokens == 7
    with pytest.raises(BudgetTooSmallError):
        attempt("raptor:size=7", model, dataset, budget=6)


@pytest.mark.once
def test_importing_the_systems_loads_no_clustering():
    code = (
        "import oprag_eval.catalogue\n"
        "print([n for n in ('umap', 'sklearn', 'numba') if n in sys.modules])"
    )

    assert run_fresh(code).strip() == "[]"


def reply(request) -> str:
    """Replies of the models of both systems: the start of what they are given."""
    prompt = request.prompt
    if "Numbers in angle brackets" in prompt:
        return "<1>"
    if "numbers of the pages" in prompt:
        return "[1, 2]"
    if "Question:" in prompt:
        return "a class"
    text = prompt.partition("<text>")[2].partition("</text>")[0]
    return " ".join(text.split()[:40])


@pytest.mark.once
def test_trees_and_pages_of_a_real_document_are_made_once(tmp_path):
    dataset = set_of_one(REAL, "What does a class definition define?")
    systems = [make_system("raptor"), make_system("readagent")]

    def ask(server: ScriptedServer, folder: str, cache: str = "made"):
        client = ChatOpenAI(base_url=server.base_url, api_key="none", model="m")
        bench = bench_of(
            ChatModel(client, "openai:m"),
            dataset,
            token_counter=None,
            cache=tmp_path / cache,
        )
        directory = ran(tmp_path / folder, systems, [400, 1200], bench)
        return (directory.path / "answers.jsonl").read_bytes(), bench

    with ScriptedServer(reply) as server:
        first, _ = ask(server, "first")
        made = len(server.requests)
        again, _ = ask(server, "again")
        from_cache = len(server.requests) - made
        resumed, _ = ask(server, "first")
        assert len(server.requests) == made + from_cache
        anew, _ = ask(server, "anew", "made-anew")

    # Two answers of RAPTOR; ReadAgent's look-up and answer.
    assert from_cache == 4
    # The same bytes from the cache, from the run itself, and made a second time.
    assert first == again == resumed == anew

    raptor, _, readagent = map(json.loads, first.splitlines())
    assert raptor["usage"]["index"]["input_tokens"] > 1500
    assert any(note == "summary" for *_, note in raptor["pieces"])
    assert raptor["context_tokens"] <= 400
    assert readagent["usage"]["index"]["input_tokens"] > 1500
