"""Every answer once, whatever interrupts the run; the same bytes in the end."""

import asyncio
import itertools
import json

import pytest

from oprag.calls import Price
from oprag.errors import InvalidOptionError, ModelCallError, UnreadableFileError
from oprag_eval.errors import SpendingCapError
from oprag_eval.models import Call, Model
from oprag_eval.running.limits import CappedModel, Spending
from oprag_eval.running.run_directory import RunDirectory
from oprag_eval.running.runner import Plan, run
from tests.evaluation.small import Replies, bench_of, set_of_four, system, words


def plan(**options) -> Plan:
    systems = [system("vanilla-rag"), system("dos-rag")]
    return Plan(systems, [200, 100], set_of_four().questions, **options)


def ask(directory: RunDirectory, model: Model, **options):
    directory.begin({"systems": 2})
    return asyncio.run(run(plan(), bench_of(model), directory, **options))


class Interrupted(Replies):
    """Goes down after some calls, as a killed process does: with no error of ours."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self._after = after

    async def complete(self, call):
        if len(self.calls) == self._after:
            raise KeyboardInterrupt
        await asyncio.sleep(0)
        return await super().complete(call)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> bytes:
    directory = RunDirectory(tmp_path_factory.mktemp("whole"))
    report = ask(directory, Replies(), concurrency=1)
    assert report.complete
    assert report.asked == 2 * 2 * 4
    return (directory.path / "answers.jsonl").read_bytes()


def test_answers_stand_in_the_order_of_the_plan(whole):
    found = [
        (answer["system"], answer["budget"], answer["question_id"])
        for answer in map(json.loads, whole.splitlines())
    ]

    assert found == list(
        itertools.product(
            ["vanilla-rag", "dos-rag"], [100, 200], ["q1", "q2", "q3", "q4"]
        )
    )


@pytest.mark.parametrize("after", [0, 1, 7, 15])
@pytest.mark.parametrize("cut", [0, 1, 40])
def test_an_interrupted_run_goes_on_where_it_was(whole, tmp_path, after, cut):
    directory = RunDirectory(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        ask(directory, Interrupted(after), concurrency=1)
    held = (directory.path / "answers.jsonl").read_bytes()
    assert held.count(b"\n") == after
    (directory.path / "answers.jsonl").write_bytes(held[: max(0, len(held) - cut)])
    kept = len(directory.answers())

    model = Replies()
    report = ask(directory, model, concurrency=3)

    assert (report.known, report.asked, len(model.calls)) == (
        kept,
        16 - kept,
        16 - kept,
    )
    assert (directory.path / "answers.jsonl").read_bytes() == whole


def test_a_complete_run_asks_nothing(whole, tmp_path):
    directory = RunDirectory(tmp_path)
    ask(directory, Replies())
    model = Replies()
    seen = []
    report = ask(directory, model, advanced=lambda *done: seen.append(done))

    assert (report.known, report.asked, model.calls) == (16, 0, [])
    assert seen == [(16, 16)]
    assert (directory.path / "answers.jsonl").read_bytes() == whole


def test_an_error_is_told_and_asked_again(whole, tmp_path):
    def fail_once(call):
        if "king" in call.prompt:
            raise ModelCallError("it did not answer", model="replies")
        return "in May"

    directory = RunDirectory(tmp_path)
    report = ask(directory, Replies(fail_once))
    failures = [
        json.loads(line)
        for line in (directory.path / "errors.jsonl").read_text().splitlines()
    ]

    assert not report.complete
    assert [error["question_id"] for error in failures] == ["q4"] * 4
    assert failures[0]["error"] == "ModelCallError"
    assert len(directory.answers()) == 12

    assert ask(directory, Replies()).complete
    assert not (directory.path / "errors.jsonl").exists()
    assert (directory.path / "answers.jsonl").read_bytes() == whole


def test_a_damaged_line_is_told_by_its_number(whole, tmp_path):
    directory = RunDirectory(tmp_path)
    lines = whole.splitlines(keepends=True)
    (directory.path / "answers.jsonl").write_bytes(
        b"".join([lines[0], b'{"a": \n', *lines[2:]])
    )

    with pytest.raises(UnreadableFileError, match="line 2 is damaged"):
        directory.answers()


def test_two_systems_of_one_name_are_refused():
    with pytest.raises(InvalidOptionError, match="name of its own"):
        Plan([system("dos-rag"), system("dos-rag")], [100], set_of_four().questions)


@pytest.mark.parametrize(
    ("systems", "budgets", "runs"), [([], [1], 1), ([system("dos-rag")], [], 1)]
)
def test_a_plan_without_anything_to_ask_is_refused(systems, budgets, runs):
    with pytest.raises(InvalidOptionError, match="nothing to run"):
        Plan(systems, budgets, set_of_four().questions, runs=runs)


class TestACap:
    def spending(self, path, **options) -> Spending:
        return Spending(words, record=path, **options)

    @pytest.mark.parametrize("concurrency", [1, 5])
    def test_on_tokens_is_never_passed_and_the_run_can_be_resumed(
        self, whole, tmp_path, concurrency
    ):
        directory = RunDirectory(tmp_path)
        directory.begin({"systems": 2})
        spending = self.spending(directory.path / "spending.jsonl", max_tokens=2500)
        report = ask(
            directory, CappedModel(Replies(), spending), concurrency=concurrency
        )

        assert report.stopped.cap == 2500
        assert 0 < report.asked < 16
        assert spending.tokens <= 2500

        again = self.spending(directory.path / "spending.jsonl", max_tokens=2500)
        assert again.used == spending.used
        rest = self.spending(directory.path / "spending.jsonl", max_tokens=100_000)
        assert ask(directory, CappedModel(Replies(), rest)).complete
        assert (directory.path / "answers.jsonl").read_bytes() == whole

    @pytest.mark.parametrize("concurrency", [1, 2, 16])
    def test_calls_wait_for_others_and_are_not_refused_because_of_them(
        self, tmp_path, concurrency
    ):
        used = []

        class Slow(Replies):
            async def complete(self, call):
                used.append(spending.tokens)
                for _ in range(3):
                    await asyncio.sleep(0)
                return await super().complete(call)

        # Replies may have 1,024 tokens and have 2: two of them under way would pass
        # the cap, and one after the other all sixteen fit.
        words = self.all_tokens(tmp_path / "free")
        spending = self.spending(None, max_tokens=words + 1024)
        report = ask(
            RunDirectory(tmp_path / "run"),
            CappedModel(Slow(), spending),
            concurrency=concurrency,
        )

        assert report.complete
        assert (report.asked, spending.tokens) == (16, words)
        assert used == sorted(used)

    def all_tokens(self, path) -> int:
        spending = self.spending(None)
        assert ask(RunDirectory(path), CappedModel(Replies(), spending)).complete
        return spending.tokens

    def test_a_run_that_goes_on_knows_what_it_has_cost(self, tmp_path):
        record, price = tmp_path / "spending.jsonl", Price(1e6, 1e6, 2e6)
        spending = self.spending(record, price=price, max_cost=4000.0)
        call = Call("answer", "ten words " * 5)
        for _ in range(2):
            asyncio.run(CappedModel(Replies(), spending).complete(call))

        assert str(spending).endswith("cost 28.0000")
        again = self.spending(record, price=price, max_cost=4000.0)
        assert str(again) == str(spending)
        assert again.tokens == 24

    def test_a_call_that_is_cancelled_while_it_waits_holds_up_nobody(self):
        spending = self.spending(None, max_tokens=1100)
        model = CappedModel(Interrupted(99), spending)
        call = Call("answer", "When?", {})

        async def three():
            calls = [asyncio.create_task(model.complete(call)) for _ in range(3)]
            await asyncio.sleep(0)
            calls[1].cancel()
            return await asyncio.gather(*calls, return_exceptions=True)

        first, second, third = asyncio.run(three())

        assert isinstance(second, asyncio.CancelledError)
        assert first.text == third.text == "in May"

    def test_the_tool_to_decline_by_is_counted(self):
        model = CappedModel(Replies(), self.spending(None, max_tokens=1030))
        asyncio.run(model.complete(Call("answer", "When?")))
        with pytest.raises(SpendingCapError):
            asyncio.run(model.complete(Call("answer", "When?", tool=True)))

    def test_a_line_that_a_kill_cut_off_does_not_count(self, tmp_path):
        path = tmp_path / "spending.jsonl"
        path.write_text(
            '{"input_tokens": 5, "cached_tokens": 1, "output_tokens": 2, '
            '"estimated": false}\n{"input_tok'
        )

        assert self.spending(path).tokens == 7


def test_a_run_of_another_version_is_refused_by_it(tmp_path):
    directory = RunDirectory(tmp_path)
    directory.write_text("run.json", '{"budgets": [1], "data": {}, "systems": []}')

    assert directory.is_begun
    with pytest.raises(UnreadableFileError, match="is of version 1 of a run's files"):
        directory.begin({"budgets": [1], "data": {}, "systems": []})


def test_settings_that_are_damaged_are_no_run(tmp_path):
    (tmp_path / "run.json").write_text("{")

    with pytest.raises(UnreadableFileError, match=r"run\.json' cannot be read"):
        RunDirectory(tmp_path).begin({})


def test_the_setting_of_a_system_that_is_another_is_named(tmp_path):
    directory = RunDirectory(tmp_path)
    whole = {"name": "full-document"}
    old = {"full-document": {**whole, "k": 1}}
    new = {"full-document": {**whole, "k": 2}}
    directory.begin({"systems": old})

    with pytest.raises(InvalidOptionError) as caught:
        directory.begin({"systems": new})
    assert caught.value.message == (
        f"{tmp_path} holds a run with other settings: systems: full-document: "
        "k was 1 and now is 2. Give another folder."
    )
