"""The arithmetic of the speed benchmark, by hand. Nothing here is timed."""

from pathlib import Path

import pytest

from benchmarks.speed import against, neighbours, rebuilding
from benchmarks.speed.against import Compared, compare
from benchmarks.speed.bounds import BOUNDS, Bound
from benchmarks.speed.groups import GROUPS
from benchmarks.speed.setup import SMALL, Setup
from benchmarks.speed.table import as_markdown, checks
from benchmarks.speed.timing import Measured, Times, race, ratio


def test_a_ratio_is_taken_turn_by_turn():
    # 4/2, 9/3 and 8/2; their median is 3, not the ratio of the medians 8/2.
    peer = Times(wall=[9, 9, 9], cpu=[4, 9, 8])
    ours = Times(wall=[1, 1, 1], cpu=[2, 3, 2])
    row = ratio("windows.chonkie", peer, ours)
    assert row[:4] == ("windows.chonkie", 3, 2, 4)
    assert row.facts["clock"] == "cpu"


@pytest.mark.slow
def test_functions_run_in_turns_after_one_run_that_does_not_count():
    calls = []
    functions = {"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}
    times = race(functions, Setup("", repeats=2, least_seconds=0))
    assert calls == ["a", "b"] * 3
    assert all(len(runs) == 2 for pair in times.values() for runs in pair)


@pytest.mark.slow
def test_neighbours_are_measured_however_short_the_peer_takes():
    text = "\n\n".join(f"Line {number} tells of the river." for number in range(900))
    rows = list(neighbours.measure(Setup(text, repeats=1, least_seconds=0.2)))
    assert [row.key for row in rows] == ["neighbours.memory", "neighbours.docstore"]
    assert all(row.value and row.low <= row.value <= row.high for row in rows)


@pytest.mark.slow
def test_the_document_that_is_rebuilt_is_a_whole_one():
    text = "\n\n".join(f"Line {number} tells of the river." for number in range(900))
    rows = list(rebuilding.measure(Setup(text, **SMALL)))
    assert [row.key for row in rows] == ["rebuilding", "rebuilding.overlap"]


def test_a_bound_knows_which_side_is_better():
    assert Bound("windows.chonkie", "", "", 1.7).reached(1.7)
    assert not Bound("windows.chonkie", "", "", 1.7).reached(1.69)
    assert Bound("memory.chroma", "", "", 50, "%").reached(49.0)
    assert not Bound("memory.chroma", "", "", 50, "%").reached(51.0)
    assert not Bound("importing.langchain", "", "", 1.1, "× as long").reached(1.2)
    assert Bound("locating.speed", "", "", None, "MB/s").reached(1.0) is None


def test_no_bound_is_a_time_or_a_speed_so_that_a_busy_machine_fails_none():
    bounded = {bound.unit for bound in BOUNDS if bound.limit is not None}
    assert bounded <= {"×", "× as long", "%", "slope", "characters", "files"}


def test_what_was_not_measured_was_not_reached():
    found = checks([Measured("windows.chonkie", 2.0), Measured("rebuilding", None)])
    reached = {bound.key: ok for bound, _, ok in found}
    assert reached["windows.chonkie"]
    assert not reached["rebuilding"]
    assert not reached["windows.llamaindex"]


@pytest.mark.parametrize(
    ("value", "free", "reached"),
    [(0.4, 1.9, False), (0.4, 1.1, None), (0.6, 1.1, True)],
)
def test_two_threads_are_not_judged_where_one_processor_is_free(value, free, reached):
    key = "huggingface.encode.threads"  # at least 0.5
    found = checks([Measured(key, value, facts={"free": free})])
    assert [verdict for bound, _, verdict in found if bound.key == key] == [reached]


def test_every_row_is_measured_by_a_group_and_stands_once():
    keys = [bound.key for bound in BOUNDS]
    assert len(keys) == len(set(keys))
    assert {key.partition(".")[0] for key in keys} == set(GROUPS)


def test_the_table_shows_value_spread_bound_and_whether_it_was_reached():
    rows = [Measured("windows.chonkie", 1.5, 1.25, 2.0)]
    line = next(
        line for line in as_markdown(rows, {}).splitlines() if "chonkie" in line
    )
    assert line.endswith("| 1 | 1.5 × | 1.25 × – 2 × | ≥ 1 × | yes |")


SHORT = Setup("One sentence. Another sentence.\n\n" * 9, repeats=2, least_seconds=0)


def checkout(folder: Path, splitting: str) -> Path:
    code = f"def split_sentences(text, chunk_size): {splitting}\n"
    for name in ("splitting", "tokens"):
        package = folder / "oprag" / name
        package.mkdir(parents=True)
        more = "resolve_token_counter = None\n"
        (package / "__init__.py").write_text(code + more, "utf-8")
    (folder / "oprag" / "__init__.py").touch()
    return folder


@pytest.mark.slow
def test_two_checkouts_run_the_same_rows_each_with_its_own_code(tmp_path):
    idle = checkout(tmp_path / "idle", "return 0")
    busy = checkout(tmp_path / "busy", "return sum(range(10**6))")
    (row,) = compare("sentences", busy, SHORT, today=idle)
    assert row.key == "sentences.chunks"
    assert row.turns == 6
    assert 0 < row.value < 1


def test_code_that_fails_in_the_other_checkout_ends_the_comparison(tmp_path):
    idle = checkout(tmp_path / "idle", "return 0")
    failing = checkout(tmp_path / "failing", "raise SystemExit('not this one')")
    with pytest.raises(RuntimeError, match=f"The code of {failing} failed"):
        list(compare("sentences", failing, SHORT, today=idle))


@pytest.mark.parametrize("low", [0.9, 1.05, 1.06])
def test_slower_is_what_three_quarters_of_the_turns_say_by_more_than_chance(low):
    assert Compared("windows.chunks", 1.2, low, 1.3, 5).slower == (low > 1.05)


def test_every_group_with_rows_of_our_own_is_compared():
    folder = Path(against.__file__).parent
    code = {group: (folder / f"{group}.py").read_text("utf-8") for group in GROUPS}
    with_own = {group for group in GROUPS if "\ndef ours(" in code[group]}
    assert with_own == set(against.GROUPS)
