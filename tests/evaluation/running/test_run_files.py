"""The files of a run: lines are whole after anything, and one process writes."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from oprag.errors import UnreadableFileError
from oprag_eval.running.run_directory import LineFile, alone_in

ROOT = Path(__file__).parents[3]


def process(code: str, *arguments: object) -> subprocess.Popen[str]:
    given = "from oprag_eval.running.run_directory import LineFile, alone_in"
    code = f"{given}; import pathlib, sys; {code}"
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def holder(tmp_path):
    """Another process that is alone in the folder, until it is told to end."""
    code = (
        "w = alone_in(pathlib.Path(sys.argv[1])); w.__enter__(); print('in', flush=1)"
    )
    with process(f"{code}; input(); w.__exit__(None, None, None)", tmp_path) as other:
        assert other.stdout.readline() == "in\n"
        yield other
        other.kill()


def test_who_comes_second_is_told_so(holder, tmp_path):
    with pytest.raises(UnreadableFileError) as caught, alone_in(tmp_path):
        pass

    assert caught.value.path == str(tmp_path)
    assert f"is writing to {tmp_path}, and" in caught.value.message


@pytest.mark.parametrize("how", ["ends", "killed"])
def test_when_the_first_has_ended_in_any_way_the_next_is_alone(holder, tmp_path, how):
    if how == "ends":
        holder.communicate("\n")
        assert holder.returncode == 0
    else:
        holder.send_signal(signal.SIGKILL)
        holder.wait()

    with alone_in(tmp_path):
        pass


def test_a_folder_that_is_missing_is_made(tmp_path):
    with alone_in(tmp_path / "a" / "b"):
        assert (tmp_path / "a" / "b").is_dir()


def test_a_line_that_does_not_fit_the_disk_is_not_there_in_part(tmp_path):
    path = tmp_path / "lines.jsonl"
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); "
        "f = LineFile(pathlib.Path(sys.argv[1])); "
        "f.add({'a': 'x' * 50})\n"
        "for _ in range(2):\n"
        "  try: f.add({'b': 'y' * 80})\n"
        "  except OSError: print('told')\n"
        "f.add({'c': 1})"
    )
    with process(code, path) as other:
        printed, _ = other.communicate()

    assert (other.returncode, printed) == (0, "told\n" * 2)
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert lines == [{"a": "x" * 50}, {"c": 1}]


@pytest.mark.parametrize("cut", range(8))
def test_a_last_line_that_is_not_whole_goes_and_no_other(tmp_path, cut):
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b'{"a": 1}\n' + b'{"b": 2}\n'[: -1 - cut])

    with LineFile(path) as file:
        assert path.read_bytes() == b'{"a": 1}\n'
        file.add({"c": 3})

    assert path.read_bytes() == b'{"a": 1}\n{"c": 3}\n'


def test_what_no_encoding_has_is_written_and_read_again(tmp_path):
    values = {"a": "\ud800 \x00 \udfff é \U0001f600", "b": "\n\u2028\\ud800"}
    with LineFile(tmp_path / "a.jsonl") as file:
        file.add(values)

    (line,) = (tmp_path / "a.jsonl").read_text("utf-8").split("\n")[:-1]
    assert json.loads(line) == values
