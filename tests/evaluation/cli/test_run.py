"""A run from end to end with a real client: it fails, is stopped, and goes on."""

import json
import re

import pytest
from typer.testing import CliRunner, Result

from oprag_cli.app import app
from oprag_eval.catalogue import SYSTEMS as KNOWN
from oprag_eval.cli.run import CAPPED, FAILED
from oprag_eval.data import DATASETS
from tests.evaluation.small import own_files
from tests.kit.openai_server import Failure, Reply, Usage

SYSTEMS = ["--systems", "vanilla-rag,dos-rag:size=20,name=small,full-document"]
BUDGETS = ["--budgets", "120,200"]
ANSWERS = (2 * 2 + 1) * 4
"""Two systems at two budgets and one without, four questions."""
PASSKEY = ["--data", "passkey/literal"]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["evaluate", *arguments])


@pytest.fixture(scope="module")
def shared(tiny_model, tmp_path_factory) -> list[str]:
    """Options of every run here."""
    folder = tmp_path_factory.mktemp("evaluate")
    model = ["--embedding-model", str(tiny_model), "--cache", str(folder / "cache")]
    return [*own_files(folder), *BUDGETS, *model]


@pytest.fixture
def ask(shared, scripted):
    """Run with a scripted model; give the result and what was sent."""
    fixed = ["sweep", *shared, *SYSTEMS, "--model", "openai:scripted"]
    return lambda script, *more: scripted(script, *fixed, *more)


def test_a_run_with_a_model_tells_what_it_will_send_and_what_it_sent(ask, tmp_path):
    def answer(request):
        return Reply("in May", usage=Usage(100, 2))

    price = ["--price", "2,10", "--max-cost", "1"]
    result, requests = ask(answer, "--out", tmp_path / "run", *price)

    assert result.exit_code == 0, result.output
    assert len(requests) == ANSWERS
    assert all(request.body["temperature"] == 0 for request in requests)
    assert all(request.body["seed"] == 42 for request in requests)
    assert result.stdout.startswith(f"{ANSWERS} answers to 4 questions, estimated")
    # 20 calls of 100 tokens in and 2 out: 2,000 · 2 + 40 · 10 = 4,400 per million.
    assert "Spent: 2,040 tokens, cost 0.0044" in result.stdout
    assert "offline" not in result.stdout
    assert "more than the cap" not in result.stderr


def test_the_result_is_json_alone_if_asked(tiny_model, tmp_path):
    few = ["--systems", "dos-rag", "--budgets", "200", "--limit-questions", "2"]
    model = ["--embedding-model", str(tiny_model), "--cache", str(tmp_path / "cache")]

    result = run(*PASSKEY, *few, *model, "--out", str(tmp_path / "run"), "--json")

    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["report"].endswith("report.html")


@pytest.mark.once
def test_failed_questions_are_told_by_the_exit_code(ask, tmp_path):
    def refuse(request):
        if "king" in request.prompt:
            return Failure(400, "No kings.")
        return "in May"

    result, _ = ask(refuse, "--out", tmp_path / "run")

    assert result.exit_code == FAILED
    assert "5 answers are missing." in result.stderr
    assert "No kings." in result.stderr
    assert "(5 failed). Means are over the others" in result.stdout
    assert (tmp_path / "run" / "report.html").exists()


@pytest.mark.once
def test_a_cap_ends_the_run_before_it_is_passed_and_a_higher_one_goes_on(ask, tmp_path):
    # Of a reply 10 tokens at most; prompts have a few hundred.
    out = ["--out", tmp_path / "run", "--max-reply", "10", "--concurrency", "1"]

    result, few = ask(lambda _: "in May", *out, "--max-tokens", "2000")

    assert result.exit_code == CAPPED
    assert "Note: What is left is more than the cap" in result.stderr
    assert 0 < len(few) < ANSWERS
    assert "--max-tokens 2000 could be passed" in result.stderr
    assert "No advice: the run was stopped" in result.stdout
    (spent,) = re.findall(r"^Spent: .*$", result.stdout, re.MULTILINE)
    assert result.stderr.endswith(f" {spent}\n")
    result, none = ask(lambda _: "in May", *out, "--max-tokens", "2000")
    assert (result.exit_code, none) == (CAPPED, [])  # what was spent counts
    # The estimate of all is 4,925; spent is 1,920 for half of it.
    result, rest = ask(lambda _: "in May", *out, "--max-tokens", "4500")
    assert result.exit_code == 0
    assert "more than the cap" not in result.stderr
    assert len(few) + len(rest) == ANSWERS
    result, none = ask(lambda _: "in May", *out, "--max-tokens", "2000")
    assert (result.exit_code, none) == (0, [])
    assert "more than the cap" not in result.stderr


@pytest.fixture
def options_of_the_mill(tmp_path) -> list[str]:
    """A question with options, on the same notes."""
    text = "question,document,option_a,option_b,correct\nWhat is the wheel made of?,"
    (tmp_path / "choice.csv").write_text(text + "mill.md,iron,oak,B\n")
    return ["--questions", str(tmp_path / "choice.csv")]


@pytest.mark.parametrize(
    ("code", "arguments", "message"),
    [
        (2, [], "Name a data set"),
        (2, [*PASSKEY, "--budgets", "1k"], "such as 500,1000"),
        (2, [*PASSKEY, "--temperature", "warm"], "a number, or"),
        (2, [*PASSKEY, "--dry-run", "--max-cost", "1"], "--price"),
        (2, [*PASSKEY, "--dry-run", "--json"], "give one"),
        (1, ["--data", "nothing", "--dry-run"], "infinitebench/en.qa"),
        (1, [*PASSKEY, "--systems", "rag", "--dry-run"], "vanilla-rag"),
        (1, ["--data", "quality=missing", "--dry-run"], "missing"),
    ],
)
def test_what_cannot_be_is_told_at_once(code, arguments, message):
    result = run(*arguments)

    assert result.exit_code == code
    assert result.stdout == ""
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_the_list_names_every_data_set_and_system():
    result = run("--list")

    assert result.exit_code == 0
    words = set(re.findall(r"[\w./-]+", result.stdout))
    assert words >= {*KNOWN, *DATASETS}


@pytest.mark.once
def test_the_papers_prompts_are_sent(ask, options_of_the_mill, tmp_path):
    def sent(name, *more):
        out = ["--out", tmp_path / name]
        result, requests = ask(lambda _: "[[2]]", *options_of_the_mill, *out, *more)
        return result, {request.prompt for request in requests}

    brackets = ["--answer-style", "brackets"]
    result, prompts = sent("paper", *brackets, "--prompts", "paper")
    assert result.exit_code == 0, result.output
    assert not any("unanswerable" in prompt for prompt in prompts)
    result, prompts = sent("own", *brackets)
    assert all("unanswerable" in prompt for prompt in prompts)
    result, prompts = sent("forced", "--no-decline")
    assert not any("unanswerable" in prompt for prompt in prompts)

    result, prompts = sent("forced")
    assert (result.exit_code, prompts) == (1, set())
    assert "holds a run with other settings: prompts: decline was" in result.stderr
    result, prompts = sent("other", "--prompts", "paper")
    assert (result.exit_code, prompts) == (1, set())
    assert "no paper asks the questions of 'choice'" in result.stderr
