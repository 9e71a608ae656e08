"""Packed lines: whole after a kill, readable by any tool, ordered without unpacking."""

from __future__ import annotations

import gzip
import json

import pytest

from oprag.errors import UnreadableFileError
from oprag_eval.running.packed_file import PackedFile, order_packed, packed_lines


def written(path, *numbers):
    with PackedFile(path) as file:
        for number in numbers:
            file.add({"n": number, "text": "word " * 100})
    return [line.values["n"] for line in packed_lines(path)]


def test_any_tool_reads_the_lines(tmp_path):
    path = tmp_path / "read.jsonl.gz"
    assert written(path, 3, 1) == [3, 1]

    lines = gzip.decompress(path.read_bytes()).splitlines()
    assert [json.loads(line)["n"] for line in lines] == [3, 1]


def test_without_a_line_there_is_no_file(tmp_path):
    assert written(tmp_path / "read.jsonl.gz") == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("lost", [1, 5, 20])
def test_a_line_that_a_kill_cut_off_is_left_out_and_the_next_is_whole(tmp_path, lost):
    path = tmp_path / "read.jsonl.gz"
    written(path, 1, 2)
    path.write_bytes(path.read_bytes()[:-lost])

    assert [line.values["n"] for line in packed_lines(path)] == [1]
    assert written(path, 3) == [1, 3]


def test_lines_are_put_in_order_and_of_one_key_the_last_is_kept(tmp_path):
    path = tmp_path / "read.jsonl.gz"
    written(path, 3, 1, 2, 1)
    members = [line.packed for line in packed_lines(path)]
    order_packed(path, lambda line: None if line["n"] == 2 else line["n"])

    assert path.read_bytes() == members[3] + members[0]
    before = path.stat()
    order_packed(path, lambda line: line["n"])
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    order_packed(tmp_path / "none.gz", lambda line: line["n"])


def test_a_damaged_file_is_told(tmp_path):
    path = tmp_path / "read.jsonl.gz"
    path.write_bytes(b"no gzip")

    with pytest.raises(UnreadableFileError, match=r"is damaged\. Remove it"):
        list(packed_lines(path))
