"""`oprag demo` end to end, and the text that it reads."""

import os
import re
import subprocess
import sys
from pathlib import Path
from pydoc_data.topics import topics

import pytest
from typer.testing import CliRunner, Result

from oprag_cli.app import app
from oprag_cli.demo import QUESTIONS, language_reference

ROOT = Path(__file__).parents[2]


def run(options: list[str], *more: str) -> Result:
    return CliRunner().invoke(app, ["demo", *options, *more])


@pytest.fixture(scope="module")
def first(options) -> Result:
    return run(options)


@pytest.mark.slow
def test_the_first_run_makes_the_index_and_the_second_uses_it_again(first, options):
    assert first.exit_code == 0, first.output
    assert f"chunks, now kept in {options[-1]}" in first.stderr
    assert f"Embedding model: {options[1]}, from that folder" in first.stderr

    second = run(options)

    assert f"chunks, used again from {options[-1]}" in second.stderr
    assert second.stdout == first.stdout


def test_people_see_both_orders_of_the_same_chunks(first):
    shown = first.stdout

    for number, question in enumerate(QUESTIONS, start=1):
        assert f"-\n{number} of 3: {question}\n" in shown
    by_score, rest = shown.split("By score", 1)[1].split("In document order", 1)
    in_order, merged = rest.split("Merged where they touch", 1)

    def chunks(part: str) -> list[str]:
        return [line.replace("^", " ") for line in part.splitlines()[1:] if line]

    assert "^" in by_score
    assert "^" not in in_order
    assert chunks(by_score) != chunks(in_order)
    assert sorted(chunks(by_score)) == sorted(chunks(in_order))
    assert "  [1] " in merged
    assert "retriever = OrderPreservingRetriever(vectorstore=vectorstore" in shown


@pytest.mark.once
def test_a_real_process_on_a_terminal_that_knows_only_ascii(first, options):
    code = "from oprag_cli import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", code, "demo", *options],
        check=True,
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONHASHSEED": "7"},
    )

    assert b"used again from" in ran.stderr
    assert ran.stderr.count(b"\n") == 2  # nothing from the libraries below
    shown = ran.stdout.decode("ascii")
    assert f"3 of 3: {QUESTIONS[2]}" in shown


def words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text))


@pytest.fixture(scope="module")
def reference() -> str:
    return language_reference()


def test_no_topic_is_missing(reference):
    there = words(reference)
    for topic, text in topics.items():
        _, _, body = text.partition("\n\n")  # the heading's underline may differ

        assert words(body) in there, topic


def test_chapters_stand_in_the_order_of_the_book(reference):
    headings = [
        "Objects, values and types",
        "Calls",
        "Assignment",
        "Compound statements",
    ]
    rule = re.compile(rf"^({'|'.join(headings)}).*\n\*\*\*", re.MULTILINE)

    assert [heading[1] for heading in rule.finditer(reference)] == headings
