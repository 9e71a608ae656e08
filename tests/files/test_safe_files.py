"""A file that is replaced is whole after anything."""

import subprocess
import sys
from pathlib import Path

import pytest

from oprag.files import write_whole

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("shared", [False, True])
def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path, shared):
    path = tmp_path / "a.json"
    write_whole(path, b"old", shared=shared)
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); "
        f"write_whole(pathlib.Path(sys.argv[1]), b'n' * 200, shared={shared})"
    )
    code = f"from oprag.files import write_whole; import pathlib, sys; {code}"
    # Through pipes: a file that takes what is said on stderr has that limit, too.
    command = [sys.executable, "-c", code, path]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True)

    assert done.returncode == 1
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]
