"""The code of the page on Ray runs on a cluster, and prints what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest
import ray

from tests.docs.blocks import ON_CLUSTERS, blocks_of, run

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", sorted(ON_CLUSTERS))
# Its store keeps its connections, as an application's does.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_code_blocks_run_and_print_what_the_page_shows(
    page, database, address, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE", f"postgresql+psycopg://{database}")
    ray.init(address=address, log_to_driver=False)
    try:
        assert run(blocks_of(DOCS / page), page) >= 4
    finally:
        ray.shutdown()
