"""The real GPT Researcher, with the file of `recipes/gpt_researcher` and without it."""

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.apps.environments import ROOT, outcome
from tests.apps.marked_files import NAMES, write_marked_files
from tests.kit.marked_text import inversions_by_text
from tests.kit.openai_server import Request, ScriptedServer

PACKAGES = ("gpt-researcher==0.15.1",)
PYTHONS = ("3.12", "3.11", "3.13")
RECIPE = ROOT / "recipes/gpt_researcher/in_document_order.py"
QUESTIONS = ["the roof", "the garden"]
BEST = 10
"""Passages that GPT Researcher gives for each question."""
PROGRAM = """
import asyncio, json
from gpt_researcher import GPTResearcher

async def main():
    researcher = GPTResearcher("Rules about rent?", report_source="local")
    await researcher.conduct_research()
    print(json.dumps(await researcher.write_report()))

asyncio.run(main())
"""
PASSAGE = re.compile(
    r'Source: (.*?)\nTitle: (.*?)\nContent: (.*?)(?=\n+Source: |"\n---|\Z)', re.DOTALL
)


class Passage(NamedTuple):
    """One as the prompt shows it."""

    source: str
    title: str
    text: str


class Report(NamedTuple):
    """The requests and the output of a run of the program."""

    questions: list[list[Passage]]
    """The passages for each question, the user's last."""
    answer: str
    log: str


def scripted(request: Request) -> str:
    """Choose an agent, plan two more questions, write the report."""
    if "search queries to research" in request.prompt:
        return json.dumps(QUESTIONS)
    if request.prompt.lstrip().startswith("This task involves researching"):
        return json.dumps({"server": "Lawyer", "agent_role_prompt": "You read leases."})
    return "The rent is due."


@pytest.fixture(scope="module")
def documents(tmp_path_factory) -> Path:
    """The folder of documents."""
    folder = tmp_path_factory.mktemp("documents")
    write_marked_files(folder, sentences=20)
    return folder


@pytest.fixture(scope="module")
def research(installed, documents, tmp_path_factory):
    """Run the program: with the line or without it, and with what on its path."""
    python = installed("gpt-researcher", PACKAGES, pythons=PYTHONS) / "python"

    def run(line: str = "", path: Path | None = None) -> Report:
        folder = tmp_path_factory.mktemp("program")
        (folder / "main.py").write_text(line + PROGRAM)
        (folder / RECIPE.name).write_text(RECIPE.read_text())
        with ScriptedServer(scripted) as server:
            answer, log = outcome(
                [python, "main.py"],
                path,
                folder,
                DOC_PATH=str(documents),
                EMBEDDING="custom:scripted",
                HOME=str(folder),
                OPENAI_API_KEY="none",
                OPENAI_BASE_URL=server.base_url,
                SIMILARITY_THRESHOLD="0",
            )
        shown = re.split(r" (?=Source: )", server.requests[-1].prompt)
        questions = [[Passage(*p) for p in PASSAGE.findall(part)] for part in shown]
        return Report(questions, answer, log)

    return run


@pytest.fixture(scope="module")
def plain(research) -> Report:
    """Of GPT Researcher as it is."""
    return research()


@pytest.fixture(scope="module")
def ordered(research, ours) -> Report:
    """With the line of the recipe."""
    return research("import in_document_order\n", ours)


def inversions(report: Report) -> list[int]:
    """Of each question, inside each file."""
    return [
        sum(inversions_by_text(" ".join(p.text for p in passages)).values())
        for passages in report.questions
    ]


def test_the_same_passages_are_in_document_order_inside_each_file(plain, ordered):
    assert all(count > 0 for count in inversions(plain))
    assert inversions(ordered) == [0, 0, 0]
    for before, after in zip(plain.questions, ordered.questions, strict=True):
        assert len(before) == len(after) == BEST
        assert {p.text for p in before} == {p.text for p in after}
    texts = " ".join(p.text for passages in ordered.questions for p in passages)
    assert set(inversions_by_text(texts)) == set(range(len(NAMES)))


def test_each_passage_has_its_true_place(ordered, documents):
    texts = [(documents / name).read_text() for name in NAMES[:2]]
    place = re.compile(r"lease\.txt, page [12], characters (\d+)-(\d+)")
    pages = re.compile(r"report\.pdf, page \d+, characters \d+-\d+")

    for passage in (p for passages in ordered.questions for p in passages):
        if found := place.fullmatch(passage.title):
            assert passage.text in [
                text[int(found[1]) : int(found[2])] for text in texts
            ]
        else:
            assert pages.fullmatch(passage.title)


def test_without_our_package_it_answers_as_before(plain, research):
    missing = research("import in_document_order\n")

    assert missing == plain._replace(log=missing.log)
    assert "No module named 'langchain_oprag'" in missing.log
