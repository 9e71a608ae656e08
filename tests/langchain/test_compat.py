"""The list of tests that need LangChain 1.x names tests that exist."""

import re
from pathlib import Path

from tests.langchain.compat import ONLY_ON_1X


def test_every_test_listed_as_needing_1x_exists_and_says_why():
    sources = [p.read_text("utf-8") for p in Path(__file__).parent.rglob("test_*.py")]
    tests = {name for text in sources for name in re.findall(r"def (test_\w+)", text)}

    assert set(ONLY_ON_1X) <= tests
    assert all(ONLY_ON_1X.values())
