"""Tables of the package `datasets`, and the hub when it cannot be reached."""

import datasets
import pytest

from oprag.errors import UnreadableFileError
from oprag_eval.data import load
from oprag_eval.data.loader import parquet_rows, table_rows
from oprag_eval.data.long_contexts import read_long_contexts
from oprag_eval.data.longrag import read_longrag
from oprag_eval.data.rows import Rows
from tests.kit.fresh_interpreter import run

pytestmark = pytest.mark.usefixtures("counts_differ")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Keep what the package writes inside the test's folder."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    datasets.disable_progress_bars()
    yield
    datasets.enable_progress_bars()


def test_a_table_of_a_folder_of_the_hubs_form(write_jsonl, tmp_path):
    row = {"_id": "1", "input": "Who?", "context": "Mara.", "answers": ["Mara"]}
    write_jsonl("repository/data.jsonl", [row, {**row, "_id": "2"}])
    rows = table_rows("any", str(tmp_path / "repository"), split="train")
    found = read_long_contexts("longbench/musique", rows)

    assert [q.question_id for q in found.questions] == ["1", "2"]
    assert found.documents[found.questions[1].doc_ids[0]].text == "Mara."


def test_longrag_in_parquet_as_the_hub_has_it(tmp_path):
    row = {
        "query_id": "3",
        "query": "who",
        "answer": ["Mara"],
        "context_titles": ["Lamp"],
        "context": "Mara lit it.",
    }
    (tmp_path / "nq").mkdir()
    file = tmp_path / "nq/full-00000-of-00001.parquet"
    datasets.Dataset.from_list([row]).to_parquet(file)
    for path in (tmp_path, tmp_path / "nq", file):
        found = load("longrag/nq", path)
        (question,) = found.questions
        assert question.answers == ("Mara",)
        assert found.documents[question.doc_ids[0]].title == "Lamp"


def test_a_bad_row_of_a_table_is_named(tmp_path):
    rows = [{"title": "a", "doc_dict": "b"}, {"title": "c", "doc_dict": None}]
    file = tmp_path / "articles.parquet"
    datasets.Dataset.from_list(rows).to_parquet(file)

    with pytest.raises(UnreadableFileError, match="doc_dict") as caught:
        read_longrag("nq/documents", Rows("none", []), corpus=parquet_rows([file]))
    assert (caught.value.path, caught.value.line) == (str(file), 2)


def test_a_file_that_is_no_parquet(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"no")
    for name in ("x.parquet", "none.parquet"):
        with pytest.raises(UnreadableFileError, match=name):
            parquet_rows([tmp_path / name])


OFFLINE = """
from oprag.errors import UnreadableFileError
from oprag_eval.data import load
for name in ("infinitebench/en.qa", "longbench/qasper", "longrag/nq", "narrativeqa"):
    try:
        load(name)
    except UnreadableFileError as error:
        print(error.path, "give their path" in error.message)
"""


@pytest.mark.slow
def test_without_a_network_the_error_says_what_to_do(tmp_path):
    said = run(OFFLINE, HF_HUB_OFFLINE="1", HF_HOME=str(tmp_path))

    assert said.splitlines() == [
        "xinrongzhang2022/InfiniteBench/longbook_qa_eng.jsonl True",
        "THUDM/LongBench/data.zip True",
        "TIGER-Lab/LongRAG/nq/full True",
        "deepmind/narrativeqa/test True",
    ]
