"""`make release-check`: everything that keeps a version from being released is said."""

import re
import shutil
import tarfile
import zipfile
from email import message_from_bytes

import pytest
from packaging.requirements import Requirement

from tests.packaging.distributions import FOLDERS, ROOT, build, project
from tests.packaging.release import wrong_changelog, wrong_contents, wrong_versions
from tests.test_packaging import EXTRAS, PACKAGES

VERSION = project(ROOT, "oprag")["version"]
TAG = f"v{VERSION}"
DIST_INFO = f"oprag-{VERSION}.dist-info"
THIN = FOLDERS["langchain-oprag"]


@pytest.fixture
def tree(dist, tmp_path):
    """The published source, in a folder that a test may change."""
    with tarfile.open(dist / f"oprag-{VERSION}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    folder = tmp_path / f"oprag-{VERSION}"
    (folder / "PKG-INFO").unlink()  # what makes a tree an sdist
    return folder


@pytest.fixture
def files(tmp_path):
    """The files that name a version, in a folder that a test may change."""
    projects = [f"{folder}/pyproject.toml" for folder in FOLDERS.values()]
    for file in (*projects, "CITATION.cff", "CHANGELOG.md"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    return tmp_path


def change(path, old, new):
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def release(tree):
    """Give the changelog the heading of the version and its day."""
    heading = "## [Unreleased]\n"
    change(tree / "CHANGELOG.md", heading, f"{heading}\n## [{VERSION}] - 2026-12-31\n")


def test_every_file_here_names_the_same_version():
    assert list(wrong_versions(ROOT, TAG)) == []


@pytest.mark.parametrize(
    ("file", "old", "said"),
    [
        (
            f"{THIN}/pyproject.toml",
            f'version = "{VERSION}"',
            f"{THIN}/pyproject.toml has version 9.9",
        ),
        (
            f"{THIN}/pyproject.toml",
            f"oprag[langchain]=={VERSION}",
            f"{THIN}/pyproject.toml: oprag[langchain]=={VERSION} should be",
        ),
        ("CITATION.cff", f"version: {VERSION}", "CITATION.cff: version should be"),
    ],
)
def test_a_file_of_another_version_is_named(files, file, old, said):
    change(files / file, old, old.replace(VERSION, "9.9"))

    (line,) = wrong_versions(files, TAG)

    assert line.startswith(said)


@pytest.mark.parametrize("tag", ["", VERSION, "9.9"])
def test_a_tag_without_its_v_is_told(tag):
    assert list(wrong_versions(ROOT, tag)) == [f"The tag is {tag!r}: write TAG={TAG}."]


def test_what_the_changelog_lacks_is_told(files):
    missing = list(wrong_changelog(files, TAG))
    assert [line.split(":")[0] for line in missing] == [
        "CHANGELOG.md has no heading of the version and its day",
        "CHANGELOG.md still has entries under [Unreleased]",
    ]

    release(files)

    assert list(wrong_changelog(files, TAG)) == []


def test_wheels_hold_their_packages_and_descriptions_without_dead_links(dist):
    wheels = sorted(dist.glob("*.whl"))

    assert [list(wrong_contents(wheel)) for wheel in wheels] == [[]] * len(FOLDERS)


def description(tree, folder) -> str:
    """Build the wheel of oprag and give the page that package indexes show."""
    build(tree, folder, "wheel")
    with zipfile.ZipFile(*folder.glob("*.whl")) as archive:
        metadata = archive.read(f"{DIST_INFO}/METADATA").decode()
    return metadata.partition("\n\n")[2]


def test_links_of_the_description_lead_to_the_source_once_it_is_named(tree, tmp_path):
    change(
        tree / "README.md", "# oprag\n", "# oprag\n\n![A strip](docs/images/a.svg)\n"
    )
    plain = description(tree, tmp_path / "plain")
    assert "A strip" not in plain
    assert " · contributing · changes · " in plain

    source = "https://example.org/oprag"
    urls = f'[project.urls]\nSource = "{source}"\n\n[project.scripts]'
    change(tree / "pyproject.toml", "[project.scripts]", urls)
    linked = description(tree, tmp_path / "linked")

    assert f"![A strip]({source}/raw/{TAG}/docs/images/a.svg)" in linked
    docs = f"{source}/blob/{TAG}/docs"
    assert f"[the doctor]({docs}/existing_index.md#the-doctor)" in linked
    assert f"({docs}/indexing.md#tokenizers)" in linked
    targets = re.findall(r"\]\(([^)]+)\)", linked)
    assert all(target.startswith("https://") for target in targets)


@pytest.fixture(scope="module")
def wheel(dist):
    with zipfile.ZipFile(*dist.glob("oprag-*-any.whl")) as archive:
        yield archive


def test_the_wheel_holds_every_source_its_types_and_its_licence(wheel):
    names = set(wheel.namelist())
    sources = {
        path.relative_to(ROOT).as_posix()
        for top in PACKAGES
        for pattern in ("*.py", "punkt_english/*")
        for path in (ROOT / top).rglob(pattern)
    }
    assert "oprag/splitting/punkt_english/NOTICE" in sources

    assert {f"{top}/py.typed" for top in PACKAGES} | sources <= names
    assert f"{DIST_INFO}/licenses/LICENSE" in names


def test_the_wheel_requires_nothing_without_an_extra(wheel):
    metadata = message_from_bytes(wheel.read(f"{DIST_INFO}/METADATA"))

    required = [Requirement(line) for line in metadata.get_all("Requires-Dist")]

    assert all("extra ==" in str(requirement.marker) for requirement in required)
    assert set(metadata.get_all("Provides-Extra")) == set(EXTRAS)


def test_the_wheel_installs_the_command(wheel):
    scripts = wheel.read(f"{DIST_INFO}/entry_points.txt").decode()

    assert "oprag = oprag_cli:main" in scripts
