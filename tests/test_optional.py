"""Optional packages, and what they carry."""

import sys

import pytest

from oprag.errors import MissingDependencyError
from oprag.optional import find_bundled_folder, require


def test_an_installed_module_is_imported():
    assert (
        require("os.path", extra="none", purpose="This test") is sys.modules["os.path"]
    )


def test_a_missing_package_is_an_error_that_says_what_to_install():
    with pytest.raises(MissingDependencyError) as caught:
        require("no_such_package.part", extra="some", purpose="Flying")

    assert caught.value.package == "no_such_package"
    assert caught.value.extra == "some"
    assert str(caught.value) == (
        "Flying needs the package 'no_such_package', which is not installed. Install "
        'it with: pip install "oprag[some]".'
    )


def test_a_folder_is_found_inside_a_package_without_importing_it(tmp_path, monkeypatch):
    package = tmp_path / "some_parent" / "loud"
    (package / "data" / "files").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(tmp_path)

    found = find_bundled_folder("some_parent.loud", "data", "files")

    assert found == package / "data" / "files"
    assert find_bundled_folder("some_parent.loud", "elsewhere") is None


@pytest.mark.parametrize("package", ["no_such_package", "no_such.package", "sys"])
def test_without_the_package_there_is_no_folder(package):
    assert find_bundled_folder(package, "data") is None
