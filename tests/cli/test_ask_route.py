"""`oprag ask --route self`: the passages, and the full document if they fail."""

import json

import pytest

from tests.kit.openai_server import Reply, ToolCall, Usage

QUESTION = "Who pays for repairs?"
SENTENCES = [f"On day {day} of the month the caretaker sweeps." for day in range(30)]
LEASE = f"Repairs are paid by the landlord. {' '.join(SENTENCES)} The end is here.\n"


@pytest.fixture
def ask(options, tmp_path, scripted):
    """Ask with this script by `--route self`; give what was printed and sent."""
    lease = tmp_path / "lease.md"
    lease.write_text(LEASE, "utf-8")
    more = ["--model", "openai:scripted", "--route", "self", "--k", "1", *options]

    return lambda script, *given: scripted(
        script, "ask", lease, QUESTION, *more, *given
    )


def test_passages_that_are_declined_are_followed_by_the_full_document(ask):
    script = [
        Reply("Unanswerable.", usage=Usage(100, 2)),
        Reply("The landlord.", usage=Usage(400, 3)),
    ]

    result, (first, second) = ask(script)

    assert result.exit_code == 0, result.output
    said, read, route = result.stdout.split("\n\n")
    assert said == "The landlord."
    assert read.endswith(f"lease.md, characters 0-{len(LEASE)}")
    assert LEASE not in first.prompt
    assert LEASE in second.prompt
    call = "(reported), 1 model call"
    assert route.splitlines() == [
        f"retrieved: declined, 100 tokens in, 2 out {call}",
        f"full: answered, 400 tokens in, 3 out {call} (window unknown)",
    ]


def test_json_holds_the_route_and_the_usage(ask):
    result, _ = ask(["unanswerable", "The landlord."], "--json")

    values = json.loads(result.stdout)
    assert values["answer"] == "The landlord."
    assert values["route"] == {"step": "full", "answered": True}
    decisions = [step["decision"] for step in values["usage"]["steps"]]
    assert decisions == ["declined", "answered"]
    assert values["usage"]["model_calls"] == 2
    assert values["read"][0].endswith(f"lease.md, characters 0-{len(LEASE)}")
    assert len(values["passages"]) == 1


def test_a_model_with_tools_declines_by_a_call(ask):
    script = [Reply("", tool_calls=[ToolCall("decline")]), "Unanswerable? Never."]

    result, requests = ask(script, "--decline", "tool")

    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Unanswerable? Never.\n")
    assert len(requests) == 2


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--route", "rag", "--decline", "tool"], "is for --route self alone"),
        (["--no-merge"], "leave out --no-merge"),
        (["--route", "rag", "--max-context-tokens", "9"], "is for --route self alone"),
    ],
)
def test_options_that_do_not_go_together_are_told(ask, more, message):
    result, requests = ask([], *more)

    assert (result.exit_code, result.stdout, requests) == (2, "", [])
    assert message in result.stderr
