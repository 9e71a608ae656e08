"""Skips by name, on LangChain 0.3, the tests that need 1.x."""

from pathlib import Path

import pytest

from tests.langchain.compat import IS_1X, ONLY_ON_1X


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if IS_1X:
        return
    for item in items:
        name = getattr(item, "originalname", item.name)
        # The hook sees the items of every folder, not only of this one.
        if Path(__file__).parent in item.path.parents and name in ONLY_ON_1X:
            item.add_marker(pytest.mark.skip(reason=ONLY_ON_1X[name]))
