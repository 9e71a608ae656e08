"""The reranking for kotaemon, asked by the retrieval of a checkout: `KOTAEMON=DIR`."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.apps.environments import ROOT, outcome
from tests.kit.marked_text import inversions_by_text, marked_sections, marks

CHECKOUT = os.environ.get("KOTAEMON", "")
PACKAGES = [
    *("theflow==0.8.6", "sqlmodel", "python-decouple", "tiktoken", "beautifulsoup4"),
    *("llama-index-core>=0.10.40,<0.11", "llama-index-vector-stores-chroma<0.2"),
    *("llama-index-vector-stores-lancedb<0.2", "langchain<0.3", "langchain-openai"),
    *("langchain-community<0.3", "chromadb<=0.5.16", "lancedb<0.15", "pylance<0.20"),
    *("pyarrow<18", "numpy<2", "pandas<2.3", "pydantic<=2.10.6", "openpyxl", "pypdf"),
    *("html2text", "setuptools<70"),
]
"""Requirements of the imported parts of kotaemon 0.11.3, as it pins them."""

SETTINGS = """
from theflow.settings.default import *
KH_DATABASE = "sqlite:///{folder}/sql.db"
KH_RERANKINGS = {{
    "order": {{"spec": {{"__type__": "document_order.DocumentOrder", "top_n": 10}}}},
    "none": {{"spec": {{"__type__": "kotaemon_retrieval.AsItIs"}}}},
    "both": {{
        "spec": {{
            "__type__": "document_order.DocumentOrder",
            "top_n": 10,
            "first": {{"__type__": "kotaemon_retrieval.Reversed"}},
        }}
    }},
}}
"""

pytestmark = pytest.mark.skipif(not CHECKOUT, reason="needs a checkout: KOTAEMON=DIR")


@pytest.fixture(scope="module")
def retrieve(installed, tmp_path_factory):
    """Retrieves by each reranking; gives the texts by its name, and what was logged."""
    programs = installed("kotaemon", PACKAGES)
    folder = tmp_path_factory.mktemp("kotaemon")
    (folder / "flowsettings.py").write_text(SETTINGS.format(folder=folder))
    shutil.copy(ROOT / "recipes" / "kotaemon" / "document_order.py", folder)
    shutil.copy(Path(__file__).with_name("kotaemon_retrieval.py"), folder)
    libraries = [f"{CHECKOUT}/libs/kotaemon", f"{CHECKOUT}/libs/ktem", str(folder)]
    texts = [marked_sections(100 * number, 12) for number in range(2)]
    (folder / "texts.json").write_text(json.dumps(["\n\n".join(t) for t in texts]))

    def run(ours: Path | None) -> tuple[dict[str, list[str]], str]:
        (folder / "sql.db").unlink(missing_ok=True)
        path = os.pathsep.join([*libraries, *([str(ours)] if ours else [])])
        program = "import kotaemon_retrieval as k; k.main()"
        return outcome(
            [programs / "python", "-c", program], folder=folder, PYTHONPATH=path
        )

    return run


def test_the_same_chunks_come_in_document_order(retrieve, ours):
    found, _ = retrieve(ours)

    before, after = (marks("\n".join(found[name])) for name in ("none", "order"))
    assert sum(inversions_by_text("\n".join(found["none"])).values()) > 0
    assert not any(inversions_by_text("\n".join(found["order"])).values())
    assert {*before} == {*after}
    assert len(found["order"]) == len({*found["none"]}) == 10
    assert not any(inversions_by_text("\n".join(found["both"])).values())
    assert {*found["both"]} != {*found["order"]}, "the other reranking was not asked"


def test_without_the_package_the_order_stays_and_is_logged(retrieve):
    found, said = retrieve(None)

    assert found["order"] == found["none"]
    assert "The order as retrieved is kept." in said
