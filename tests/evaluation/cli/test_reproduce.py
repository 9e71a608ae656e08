"""`oprag reproduce` from end to end: the papers' formats, a real client, a server."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from oprag_cli.app import app
from oprag_eval.cli.run import FAILED
from oprag_eval.reproduction import recipes
from oprag_eval.rough import estimate
from tests.evaluation.data.conftest import counts_differ
from tests.evaluation.data.test_infinitebench import mc
from tests.evaluation.data.test_papers import hub_row, longbench, longrag, quality
from tests.kit.openai_server import Failure

__all__ = ["counts_differ"]  # a fixture

STORY = (
    "The harbour of number {n} opened in May. Its first ship carried salt. "
    "In autumn the lamp was lit by Mara. The keeper slept badly and left in June. "
)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def ask(tiny_model, scripted, monkeypatch, tmp_path):
    """Reproduce with a scripted model; give the result and what was sent."""
    monkeypatch.setenv("GOOGLE_API_KEY", "none")
    model = ["--model", "openai:gpt-4o-scripted", "--cache", tmp_path / "cache"]
    model += ["--embedding-model", tiny_model]
    return lambda script, *more: scripted(script, "reproduce", *more, *model)


def write(path: Path, rows: list) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


@pytest.fixture
def articles(tmp_path) -> Path:
    """Ten articles in QuALITY's format, each with a question; the third is right."""
    rows = [
        quality(
            article_id=str(n),
            set_unique_id=f"{n}_X",
            article=STORY.format(n=n) * 3,
            question={"question_unique_id": f"{n}_X_1", "question": f"Who at {n}?"},
        )
        for n in range(10)
    ]
    write(tmp_path / "q" / "QuALITY.v1.0.1.htmlstripped.dev", rows)
    return tmp_path / "q"


def reading(right):
    """A reader that writes pages and gists, and knows the answer to some questions."""

    def reply(request):
        prompt = request.prompt
        if "[[1]]" in prompt:
            number = re.search(r"Who at (\d+)\?", prompt)
            return "As it says: [[3]]" if right(int(number[1])) else "It says [[1]]."
        return "[1]" if "Who at" in prompt else "A harbour opened."

    return reply


DOS = ["--runs", 1]
FEW = ["--limit-questions", 5]


def written(folder: Path) -> dict:
    return json.loads((folder / "reproduction.json").read_text("utf-8"))


def test_our_figures_stand_beside_the_papers(ask, articles, tmp_path):
    script = reading(lambda number: number % 5 not in {0, 1})  # 60 %, whatever is read
    result, requests = ask(script, "dos-rag/quality", "--data", articles, *DOS)

    assert result.exit_code == 0, result.output
    row = re.search(r"^dos-rag:compat=official, 500 .*$", result.stdout, re.MULTILINE)
    assert row[0].split() == [
        *("dos-rag:compat=official,", "500", "accuracy", "60.00", "[31.3,", "83.2]"),
        *("74.10", "±", "0.30"),
    ]
    assert "figures of GPT-4o" in result.stdout
    assert "--runs is 1, in the paper 5" in result.stdout
    assert {request.body["temperature"] for request in requests} == {0}
    folder = tmp_path / "oprag-reproduce" / "dos-rag" / "quality" / "GPT-4o"
    found = written(folder)
    assert found["reader"] == "GPT-4o"
    published = {(row["arm"], row["published"]["value"]) for row in found["rows"]}
    assert ("full-document", 0.912) in published
    assert ("readagent", 0.874) in published
    assert ("raptor:compat=official, 8,000", 0.849) in published
    compared = json.loads((folder / "summary.json").read_text("utf-8"))["comparisons"]
    planned = {(row["first"], row["second"]) for row in compared}
    assert planned == {(pair["first"], pair["second"]) for pair in found["pairs"]}

    again, _ = ask(script, "dos-rag/quality", "--data", articles, *DOS, "--json")
    assert json.loads(again.stdout) == found


def test_it_says_in_how_many_pairs_the_same_system_is_higher(ask, tmp_path):
    """The reader knows the answer where it reads passages in order, or best first."""
    rows = [
        {
            "context": " ".join(f"Day {day}: {n} ships." for day in range(99)),
            "input": f"How many at {n}?",
            "answer": ["Mara"],
            "options": [],
        }
        for n in range(12)
    ]
    path = tmp_path / "longbook_qa_eng.jsonl"
    write(path, [{**row, "id": n} for n, row in enumerate(rows)])

    def reader(request):
        days = [int(day) for day in re.findall(r"Day (\d+):", request.prompt)]
        in_order = days == sorted(days)
        return "Mara" if in_order is wanted else "Eli"

    for wanted, same in ((True, 1), (False, 0)):
        out = ["--data", path, "--out", tmp_path / str(wanted)]
        result, _ = ask(reader, "op-rag/en.qa", *out)
        assert result.exit_code == 0, result.output
        message = f"higher in the paper is higher here in {same} of 1 pair."
        assert message in result.stdout
        assert "+100.00  " in result.stdout if wanted else "-100.00  " in result.stdout


def test_answers_that_failed_leave_a_table_and_their_own_exit_code(
    ask, articles, tmp_path
):
    def script(request):
        if "Who at 1?" in request.prompt:
            return Failure(400, "Not this one.")
        return reading(lambda number: number % 5 != 0)(request)

    out = ["--out", tmp_path / "run", "--data", articles]
    result, _ = ask(script, "dos-rag/quality", *out, *DOS, *FEW)

    assert result.exit_code == FAILED
    assert "The one higher in the paper" in result.stdout


def test_the_dry_run_tells_calls_tokens_and_money_and_sends_nothing(
    ask, articles, tmp_path
):
    price = ["--price", "2.5,10", "--dry-run"]
    out = ["--out", tmp_path / "run", "--data", articles]
    result, requests = ask([], "dos-rag/quality", *out, *price)

    assert result.exit_code == 0, result.output
    assert requests == []
    assert not (tmp_path / "run").exists()
    head, *rows = [
        re.split(r"  +", line)
        for line in result.stdout.splitlines()
        if line.startswith(("system", "full-document ", "together"))
    ]
    assert head == ["system", "calls", "tokens in", "tokens out", "cost"]
    assert rows[0][:2] == ["full-document", "50"]  # 10 questions, 5 runs
    # 3 systems at 6 budgets, ReadAgent's look-up and answer, the document.
    made = 2 * 10  # a page and a gist of each article
    assert int(rows[1][1].split()[0].replace(",", "")) == (18 + 2 + 1) * 50 + made // 2


@pytest.mark.parametrize("name", recipes())
def test_without_data_the_dry_run_says_the_cost_in_one_sentence(name, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    if name.startswith("self-route/passkey-"):
        pytest.skip("its data is made, and needs none")
    result = CliRunner().invoke(
        app, ["reproduce", name, "--dry-run", "--price", "2.5,10"]
    )

    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    told = result.stdout.splitlines()[-1]
    assert told.count(". ") == 0
    assert told.endswith(("at no cost.", "since no --data is given."))


def test_the_rough_cost_is_that_of_the_counts():
    # 2,086 questions, 5 runs: 3 systems at 6 budgets with 150 of the prompt, of which
    # 8,000 is more than the 5,800 of an article; the article; ReadAgent's 2 to 3 gists
    # of a quarter; and beforehand the article 1.5 and 2 times, of 115 articles.
    found = estimate(
        recipes()["dos-rag/quality"],
        window=128_000,
        runs=5,
        style="brackets",
        limit=None,
    )
    read = 3 * (500 + 1000 + 1500 + 2000 + 4000 + 5800 + 6 * 150) + 5800 + 150
    made = 115 * 5800 * 3.5

    assert (found.questions, found.calls) == (2086, 20 * 2086 * 5)
    assert found.low.input_tokens == (read + 2 * 1450 + 150) * 2086 * 5 + made
    assert found.high.input_tokens == (read + 3 * 1450 + 150) * 2086 * 5 + made
    assert found.low.output_tokens == 60 * found.calls


BOOK = STORY.format(n=1) * 30


NINE = recipes()["self-route/average"].sets


@pytest.fixture
def sets(tmp_path, articles) -> Path:
    """Every set of the papers with a question on one book."""
    asked = {"context": BOOK, "input": "Who at 1?"}
    for name in NINE[:7]:
        row = longbench(**asked, answers=["Mara"])
        write(articles / f"{name.rpartition('/')[2]}.jsonl", [row])
    row = {**asked, "id": 0, "answer": ["Mara"], "options": []}
    write(articles / "longbook_qa_eng.jsonl", [row])
    write(articles / "passkey.jsonl", [{**row, "answer": ["71432"]}])
    write(articles / "longbook_choice_eng.jsonl", [mc(**asked)])
    write(articles / "data.jsonl", [hub_row("d1", BOOK)])
    for name in ("nq", "hotpot_qa"):
        write(articles / f"{name}.jsonl", [longrag(context=BOOK)])
        write(articles / f"{name}_wiki.jsonl", [{"title": "Lamp", "doc_dict": BOOK}])
    return articles


@pytest.mark.parametrize("name", recipes())
def test_the_first_command_on_a_table_tells_its_cost_without_a_key(
    name, sets, tiny_model, monkeypatch, tmp_path
):
    monkeypatch.delenv("OPENAI_API_KEY")
    reader = [*recipes()[name].readers][-1]
    price = ["--price", "2.5,10", "--dry-run", "--limit-questions", 1]
    model = ["--embedding-model", tiny_model, "--cache", tmp_path / "cache"]
    result = run(name, "--reader", reader, "--data", sets, *price, *model)

    assert result.exit_code == 0, result.output
    assert re.search(r"(?m)^system .* cost$", result.stdout)
    assert "Cannot be asked" not in result.stdout


def test_the_average_is_taken_over_the_nine_sets_each_run_once(ask, sets, tmp_path):

    def script(request):
        if "A. " in request.prompt:
            return "unanswerable"  # in En.MC all decline: wrong
        return "Mara"

    data = ["--data", f"longbench={sets}", "--data", f"infinitebench={sets}"]
    out = ["--out", tmp_path / "run"]
    result, requests = ask(script, "self-route/average", *data, *out)

    assert result.exit_code == 0, result.output
    assert len(requests) == 9 * 3 + 1  # one more, where step 1 declined
    assert all((tmp_path / "run" / name / "answers.jsonl").exists() for name in NINE)
    rows = {
        (row["arm"], row["measure"]): (row["ours"]["mean"], row["published"]["value"])
        for row in written(tmp_path / "run")["rows"]
    }
    assert rows["full-document", "average"] == (pytest.approx(8 / 9), 0.4867)
    assert rows["rag-5", "average"] == (pytest.approx(8 / 9), 0.326)
    assert rows["self-route-5", "answerable"] == (pytest.approx(8 / 9), 0.5736)
    assert 0 < rows["self-route-5", "token_share"][0] < 1.3


def test_one_cap_holds_for_all_sets_together(ask, sets, tmp_path):
    out = ["--out", tmp_path / "run", "--data", sets, "--concurrency", 1]
    result, requests = ask(
        lambda _: "Mara", "self-route/k", *out, "--max-tokens", 40_000
    )

    assert result.exit_code == 4, result.output
    spent = (tmp_path / "run" / "spending.jsonl").read_text().splitlines()
    assert len(spent) == len(requests)
    assert 11 < len(requests) < 7 * 11  # into the second set at least


@pytest.mark.parametrize(
    ("name", "arms", "measure"),
    [
        ("dos-rag/en.mc", 3 * 6 + 1, "accuracy"),
        ("dos-rag/en.qa", 3 * 6 + 1, "F1"),
        ("dos-rag/narrativeqa", 3 * 6 + 1, "METEOR"),
        ("op-rag/en.mc", 1 + 2 * 9, "accuracy"),
        ("self-route/dragon/qmsum", 3, "ROUGE-L"),
        ("self-route/passkey", 2, "first number"),
        ("longrag/nq/retrieval", 9, "answer recall"),
        ("longrag/hotpotqa/retrieval", 5, "title recall"),
    ],
)
def test_each_recipe_runs_on_a_set_in_its_format(
    ask, sets, tmp_path, name, arms, measure
):
    recipe = DOS if name.startswith("dos-rag") else []
    folder = ["--data", sets, "--out", tmp_path / "run"]
    result, _ = ask(reading(lambda _: True), name, *folder, *recipe)

    assert result.exit_code == 0, result.output
    rows = written(tmp_path / "run")["rows"]
    assert len({row["arm"] for row in rows}) == arms
    assert all(row["ours"] for row in rows if row["measure"] != "meteor")
    assert re.search(
        rf"(?m)^(full-document|readagent|passages-1|documents-2) +{measure} ",
        result.stdout,
    )
    has_figures = name != "dos-rag/en.qa"
    assert ("higher in the paper" in result.stdout) == has_figures


def test_without_a_key_the_offline_reader_rehearses_a_table(
    articles, tiny_model, monkeypatch, tmp_path
):
    monkeypatch.delenv("OPENAI_API_KEY")
    options = ["--model", "offline", "--data", articles, "--limit-questions", 2]
    model = ["--embedding-model", tiny_model, "--cache", tmp_path / "cache"]
    result = run("dos-rag/quality", *options, *model, "--runs", 1)

    assert result.exit_code == 0, result.output
    assert "--model is offline, in the paper openai:gpt-4o-2024-11-20" in result.stdout
    assert "the first 2 questions alone" in result.stdout


def test_the_tables_are_listed_with_readers_and_sets():
    result = run("--list")

    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()[::2]] == [*recipes()]
    assert "DOS RAG, arXiv:2506.03989; GPT-4o, GPT-4o-mini; quality" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "No table is named"),
        (["dos-rag"], 1, "Did you mean 'dos-rag/en."),
        (["dos-rag/quality", "--reader", "GPT-9"], 1, "figures of GPT-4o, GPT-4o-mini"),
        (["dos-rag/quality", "--data", "nq=x"], 2, "dos-rag/quality asks quality"),
    ],
)
def test_what_cannot_be_is_told_before_anything_is_loaded(arguments, code, message):
    result = run(*arguments)

    assert result.exit_code == code
    assert message in result.stderr
