"""Names installed beside oprag: those that users look for, and `oprag-eval`."""

import json
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.docs.blocks import frameworks_of
from tests.packaging.distributions import EXTRAS, FOLDERS, ROOT, project
from tests.test_packaging import tomllib

SITE = Path(sysconfig.get_path("purelib"))
LLAMA_INDEX = ROOT / FOLDERS["llama-index-postprocessor-oprag"]

BRINGS = {
    "langchain-oprag": "langchain-text-splitters",
    "llama-index-postprocessor-oprag": "tiktoken",
}
"""The requirements of the extra alone."""


def environment(folder: Path, *, without: str = "") -> Path:
    """Make a fresh environment that has what this one has, but oprag; its Python.

    Args:
        folder: Where it is made.
        without: One more package that it does not have.
    """
    venv.create(folder / "venv", symlinks=True)
    (folder / "others").mkdir()
    hidden = (
        "oprag-",
        "oprag_eval-",
        "pip",
        *filter(None, [without.replace("-", "_")]),
    )
    for path in SITE.iterdir():
        if not path.name.startswith(hidden):
            (folder / "others" / path.name).symlink_to(path)
    (site,) = folder.glob("venv/lib/*/site-packages")
    (site / "others.pth").write_text(str(folder / "others"), "utf-8")
    return folder / "venv" / "bin" / "python"


def install(python: Path, name: str, dist: Path) -> subprocess.CompletedProcess[str]:
    index = ["--no-index", "--find-links", dist, "--quiet", "--report", "-"]
    pip = [sys.executable, "-m", "pip", "--python", python, "--isolated"]
    return subprocess.run(
        [*pip, "install", *index, name], check=False, capture_output=True, text=True
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", EXTRAS)
def test_installing_it_brings_oprag_of_its_version_and_its_readme_runs(
    name, dist, tmp_path
):
    python = environment(tmp_path)

    done = install(python, name, dist)

    assert done.returncode == 0, done.stderr
    got = [entry["metadata"] for entry in json.loads(done.stdout)["install"]]
    version = project(ROOT, "oprag")["version"]
    assert {(one["name"], one["version"]) for one in got} == {
        (name, version),
        ("oprag", version),
    }
    blocks = ROOT / "tests" / "docs" / "blocks.py"
    page = ROOT / FOLDERS[name] / "README.md"
    (framework,) = frameworks_of(page)
    ran = subprocess.run(
        [python, "-I", blocks, page, framework],
        check=False,
        cwd=tmp_path,
        capture_output=True,
    )
    assert ran.returncode == 0, ran.stderr.decode()
    where = "import oprag; print(oprag.__file__)"
    found = subprocess.check_output([python, "-I", "-c", where], text=True)
    assert Path(found).is_relative_to(tmp_path), "the one that was installed"


@pytest.mark.slow
def test_oprag_eval_adds_commands_that_say_how_to_install_it_before(dist, tmp_path):
    python = environment(tmp_path)
    evaluate = [python, "-I", "-m", "oprag_cli", "evaluate", "--list"]

    install(python, "oprag", dist)
    before = subprocess.run(evaluate, check=False, capture_output=True, text=True)
    install(python, "oprag-eval", dist)
    after = subprocess.run(evaluate, check=False, capture_output=True, text=True)

    assert (before.returncode, before.stdout) == (1, "")
    assert before.stderr.endswith(
        "is not installed. Get it with: pip install oprag-eval\n"
    )
    assert (after.returncode, after.stderr) == (0, "")
    assert "dos-rag" in after.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("name", "package"), BRINGS.items())
def test_installing_it_asks_for_what_the_extra_needs(name, package, dist, tmp_path):
    python = environment(tmp_path, without=package)

    done = install(python, name, dist)

    assert done.returncode
    assert f"requirement {package}" in done.stderr
    assert f"(from oprag[{EXTRAS[name]}]" in done.stderr


def test_llamahub_is_told_an_import_path_and_an_author_of_each_class():
    text = (LLAMA_INDEX / "pyproject.toml").read_text("utf-8")
    hub = tomllib.loads(text)["tool"]["llamahub"]
    module = hub["import_path"].replace(".", "/")

    source = (LLAMA_INDEX / module / "__init__.py").read_text("utf-8")

    assert set(hub) == {"class_authors", "contains_example", "import_path"}
    assert f"__all__ = {json.dumps(list(hub['class_authors']))}" in source


@pytest.mark.parametrize("name", EXTRAS)
def test_each_has_the_licence_and_the_python_versions_of_oprag(name):
    licence = (ROOT / FOLDERS[name] / "LICENSE").read_bytes()

    assert licence == (ROOT / "LICENSE").read_bytes()
    for key in ("requires-python", "license", "authors"):
        assert project(ROOT, name)[key] == project(ROOT, "oprag")[key]
