"""Drawing and templates are loaded when they are needed, and named when missing."""

import pytest

from tests.fresh_interpreter import run


@pytest.mark.slow
def test_importing_reports_loads_neither_matplotlib_nor_jinja2():
    code = (
        "import oprag.evaluation.reports\n"
        "print([name for name in ('matplotlib', 'jinja2') if name in sys.modules])"
    )

    assert run(code).strip() == "[]"


@pytest.mark.slow
@pytest.mark.parametrize("library", ["matplotlib", "jinja2"])
def test_a_missing_library_is_named_with_its_extra(library, answered):
    code = (
        "from pathlib import Path\n"
        "from oprag.errors import MissingDependencyError\n"
        "from oprag.evaluation.reports import write_reports\n"
        "from oprag.evaluation.running.run_directory import RunDirectory\n"
        "from tests.evaluation.reports.runs import ledgers\n"
        "import tempfile, shutil\n"
        f"folder = shutil.copytree({str(answered)!r}, tempfile.mkdtemp() + '/run')\n"
        "try: write_reports(RunDirectory(Path(folder)), ledgers())\n"
        "except MissingDependencyError as error: print(error.package, error.extra)\n"
        "finally: shutil.rmtree(folder)"
    )

    assert run(code, without=[library]).split() == [library, "eval"]
