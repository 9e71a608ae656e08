"""Drawing and templates are loaded when they are needed."""

import pytest

from tests.kit.fresh_interpreter import run


@pytest.mark.slow
def test_importing_reports_loads_neither_matplotlib_nor_jinja2():
    code = (
        "import oprag_eval.reports\n"
        "print([name for name in ('matplotlib', 'jinja2') if name in sys.modules])"
    )

    assert run(code).strip() == "[]"
