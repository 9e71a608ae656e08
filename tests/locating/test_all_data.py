"""The same as `test_ground_truth`, on more text: the real documents, where present."""

from __future__ import annotations

import pytest

from tests.locating.comparing import compare
from tests.locating.langchain_settings import LANGCHAIN
from tests.locating.llamaindex_settings import LLAMAINDEX
from tests.locating.texts import DATA, documents

SETS = ("chunking_eval", "covidqa", "fairytaleqa", "nocha_sample", "qmsum", "squality")
SIZE = 10_000

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all((DATA / name / "docs.jsonl").is_file() for name in SETS),
        reason="the real documents are not in ../shared/data, beside the repository",
    ),
]


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(
    "settings", [LANGCHAIN, LLAMAINDEX], ids=["langchain", "llamaindex"]
)
def test_on_real_documents_none_is_wrong_and_hardly_any_reported(name, settings):
    for setting in settings:
        outcome = compare(documents(name, SIZE), setting)

        assert (setting.name, outcome.wrong) == (setting.name, [])
        assert (setting.name, outcome.share_reported <= 0.005) == (setting.name, True)
