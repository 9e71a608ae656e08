"""The libraries that are shipped with the page are the published builds."""

import hashlib
import re
from pathlib import Path

import oprag_cli.play

WEB = Path(oprag_cli.play.__file__).with_name("web")
ROWS = re.findall(
    r"^\| `([^`]+)` \|.*\| (\S+) ([\d.]+) \|.*`([0-9a-f]{64})` \|$",
    (WEB / "README.md").read_text("utf-8"),
    re.MULTILINE,
)


def test_each_library_is_the_build_that_is_named_with_its_licence():
    assert {name for name, *_ in ROWS} == {
        path.relative_to(WEB).as_posix() for path in WEB.glob("*/*js")
    }
    for name, _, version, digest in ROWS:
        build = (WEB / name).read_bytes()
        assert hashlib.sha256(build).hexdigest() == digest
        assert version in build[:300].decode()
        assert (WEB / name).with_name("LICENSE").read_text("utf-8").strip()
