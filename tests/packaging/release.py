"""Reasons not to release a version: `make release-check TAG=v0.1.0`."""

import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from email import message_from_bytes
from pathlib import Path

from tests.packaging.distributions import (
    DIST,
    EXTRAS,
    FOLDERS,
    ROOT,
    build,
    build_all,
    project,
)

HELD = {
    "oprag": {
        "langchain_oprag/",
        "llamaindex_oprag/",
        "oprag/",
        "oprag_cli/",
        "oprag_ray/",
    },
    "langchain-oprag": set(),
    "llama-index-postprocessor-oprag": {"llama_index/postprocessor/oprag/"},
    "oprag-eval": {"oprag_eval/"},
}
"""The packages that a wheel holds, beside its metadata."""

STRAY = re.compile(r"(^|/)(__pycache__|tests?|\.[^/]+)/|\.(pyc|orig|rej|log)$")
"""Files that no wheel should hold."""

RELATIVE_LINK = re.compile(r"\]\((?!\w+:|#)([^)]+)\)")


def wrong_versions(root: Path, tag: str) -> Iterator[str]:
    """Say which files do not name the version of the tag."""
    version = tag.removeprefix("v")
    if tag == version:
        yield f"The tag is {tag!r}: write TAG=v{project(root, 'oprag')['version']}."
        return
    found = {f"{FOLDERS[name]}/pyproject.toml": project(root, name) for name in FOLDERS}
    for file, table in found.items():
        if table["version"] != version:
            yield f"{file} has version {table['version']}, the tag says {version}."
    for name, extra in EXTRAS.items():
        wanted = f"oprag[{extra}]=={version}"
        if wanted not in project(root, name)["dependencies"]:
            yield f"{FOLDERS[name]}/pyproject.toml: {wanted} should be a dependency."
    if f"\nversion: {version}\n" not in (root / "CITATION.cff").read_text("utf-8"):
        yield f"CITATION.cff: version should be {version}."


def wrong_changelog(root: Path, tag: str) -> Iterator[str]:
    """Say what the changelog lacks."""
    text = (root / "CHANGELOG.md").read_text("utf-8")
    version = re.escape(tag.removeprefix("v"))
    if not re.search(rf"^## \[{version}\] - \d{{4}}-\d\d-\d\d$", text, re.MULTILINE):
        yield (
            "CHANGELOG.md has no heading of the version and its day: "
            f"## [{tag.removeprefix('v')}] - 2026-12-31."
        )
    unreleased = re.search(
        r"^## \[Unreleased\]\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL
    )
    if unreleased and unreleased[1].strip():
        yield "CHANGELOG.md still has entries under [Unreleased]: move them down."


def wrong_contents(wheel: Path) -> Iterator[str]:
    """Say what a wheel holds and should not, and what its page would show wrongly."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        facts = message_from_bytes(archive.read(metadata))
    allowed = (metadata.removesuffix("METADATA"), *HELD[facts["Name"]])
    for name in names:
        if not name.startswith(allowed) or STRAY.search(name):
            yield f"{wheel.name} holds {name}."
    for folder in allowed:
        if not any(name.startswith(folder) for name in names):
            yield f"{wheel.name} holds nothing of {folder}."
    text = facts.get_payload(decode=True).decode()
    for target in RELATIVE_LINK.findall(text):
        yield f"{wheel.name}: its description links to {target}, which leads nowhere."


def not_reproduced(root: Path, built: Iterable[Path]) -> Iterator[str]:
    """Say which files come out otherwise when they are built again, or by pip.

    pip builds the wheel from the sdist, so that has to hold all that it takes.
    """
    with tempfile.TemporaryDirectory() as temporary:
        again = Path(temporary, "again")
        build_all(root, again)
        for file in built:
            if file.read_bytes() != (again / file.name).read_bytes():
                yield f"{file.name} differs when it is built again."
        for sdist in again.glob("*.tar.gz"):
            with tarfile.open(sdist) as archive:
                archive.extractall(temporary, filter="data")
            folder = Path(temporary, sdist.name.removesuffix(".tar.gz"))
            build(folder, Path(temporary, "pip"), "wheel")
        for wheel in again.glob("*.whl"):
            if wheel.read_bytes() != Path(temporary, "pip", wheel.name).read_bytes():
                yield f"{wheel.name} differs when it is built from the sdist."


def faults(root: Path, tag: str, dist: Path) -> list[str]:
    """Build all distributions into `dist`; say all that is wrong with them."""
    built = build_all(root, dist)
    return [
        *wrong_versions(root, tag),
        *wrong_changelog(root, tag),
        *(
            line
            for file in built
            if file.suffix == ".whl"
            for line in wrong_contents(file)
        ),
        *not_reproduced(root, built),
    ]


def uncommitted(root: Path) -> list[str]:
    command = ["git", "status", "--porcelain"]
    done = subprocess.run(command, check=True, cwd=root, capture_output=True, text=True)
    return [f"Not committed: {line[3:]}" for line in done.stdout.splitlines()]


def main() -> int:
    found = [*uncommitted(ROOT), *faults(ROOT, sys.argv[1], DIST)]
    sys.stdout.writelines(f"{line}\n" for line in found or ["All is as it should be."])
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
