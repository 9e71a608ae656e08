"""Indexing on a cluster makes the index that one process makes."""

import dataclasses
import os
import uuid
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import ray

from oprag.effects import run_effects
from oprag.errors import ClusterError, IndexingError, InvalidOptionError, OpragWarning
from oprag_ray import index_on_ray
from tests.scale.corpus import ADAPTERS, CHUNKS, changed, pages, write
from tests.scale.nodes import cluster_of
from tests.scale.stores import FRAMEWORKS, Table


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    return write(tmp_path_factory.mktemp("corpus") / "texts")


@pytest.fixture(scope="module")
def shared_database(new_database) -> str:
    return new_database()


@pytest.fixture
def table(shared_database) -> Callable[..., Table]:
    def make(framework, **how) -> Table:
        name = f"t{uuid.uuid4().hex}"
        return Table(framework, shared_database, name, **how).made()

    return make


def alone(table: Table, documents, **options):
    index = table.opened(table.embeddings())
    adapter = ADAPTERS[table.framework]
    return adapter.index_documents(documents, index, show_progress=False, **options)


def together(table: Table, documents, address, **options):
    return index_on_ray(
        documents, table, address=address, show_progress=False, **options
    )


@pytest.fixture(scope="module")
def expected(new_database, corpus):
    """The corpus as one process indexes it: rows and report, by framework."""
    database = new_database()
    made = {}
    for framework in FRAMEWORKS:
        one = Table(framework, database, "one").made()
        report = alone(one, corpus)
        made[framework] = (one.rows(), report)
        assert len(made[framework][0]) == CHUNKS
    return made


@pytest.mark.parametrize(
    ("nodes", "cpus"),
    [(1, 2), *(pytest.param(n, 1, marks=pytest.mark.once) for n in (2, 4))],
)
def test_the_index_is_the_one_that_one_process_makes(
    nodes, cpus, corpus, expected, table
):
    how = {"workers": (1, 2)}
    with cluster_of(nodes, cpus) as cluster:
        for framework in FRAMEWORKS:
            many = table(framework)
            report = together(many, corpus, cluster.address, **how)

            assert (many.rows(), report) == expected[framework]


@pytest.mark.once
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_run_after_changes_does_what_one_process_does(
    framework, table, tmp_path, address
):
    one, many = table(framework), table(framework)
    folder = write(tmp_path / "texts", 12)
    alone(one, folder)
    alone(many, folder)
    changed(folder)
    before = many.rows()

    reports = [
        alone(one, folder, remove_missing=True),
        together(many, folder, address, remove_missing=True),
    ]

    assert str(reports[0]) == str(reports[1])
    for name in ("added", "updated", "unchanged", "removed", "empty", "kept"):
        assert getattr(reports[0], name) == getattr(reports[1], name)
    assert reports[1].removed == ("d0002.txt", "d0003.txt", "d0004.txt")
    assert reports[1].empty == ("d0002.txt",)
    assert [error.path for error in reports[1].skipped] == ["e.bin"]
    assert many.rows() == one.rows() != before


@pytest.mark.once
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_pages_in_several_blocks_of_a_dataset_are_one_document(
    framework, table, address
):
    one, many = table(framework), table(framework)
    given = [*pages(framework, 20)]
    rows = [
        {"text": page.page_content if framework == "langchain" else page.text}
        | {"source": page.metadata["source"], "metadata": None, "none": None}
        | {"metadata": {k: page.metadata[k] for k in ("page", "size")}}
        for page in given
    ]
    report = alone(one, given)
    ray.init(address=address, log_to_driver=False)
    try:
        dataset = ray.data.from_items(rows, override_num_blocks=7)
        assert together(many, dataset, address, batch_size=8) == report
        assert ray.is_initialized()
    finally:
        ray.shutdown()

    assert len(report.added) == 20
    assert many.rows() == one.rows()


def test_what_the_store_holds_is_not_embedded_again(table, tmp_path, address):
    (tmp_path / "calls").mkdir()
    folder = write(tmp_path / "texts", 6)
    many = table("langchain", counted=tmp_path / "calls")
    together(many, folder, address)
    (folder / "d0000.txt").write_text((folder / "d0000.txt").read_text() + " More.")

    report = together(many, folder, address)

    embedded = sum(int(path.read_text()) for path in (tmp_path / "calls").iterdir())
    assert report.updated == ("d0000.txt",)
    assert len(report.unchanged) == 5
    # The document's ids cover its text: all of its chunks are new.
    assert embedded == 60 + report.chunks_added


class _Failing:
    """Opens a store whose embeddings fail on some texts; sent to every worker."""

    def __init__(self, table: Table, word: str) -> None:
        self.table = table
        self.word = word

    def __call__(self):
        return self.table.opened(self.embeddings())

    def embeddings(self):
        word, embeddings = self.word, self.table.embeddings()
        made = embeddings.embed_documents

        def embed(texts):
            if any(word in text for text in texts):
                message = "out of service"
                raise TimeoutError(message)
            return made(texts)

        embeddings.embed_documents = embed
        return embeddings


@pytest.mark.once
def test_a_document_that_cannot_be_embedded_fails_and_the_others_go_on(
    table, tmp_path, address
):
    folder = write(tmp_path / "texts", 6)
    one, many = table("langchain"), table("langchain")
    failing = _Failing(many, "document 3 ")
    with pytest.warns(OpragWarning, match=r"1 failed: 'd0003.txt'"):
        report = ADAPTERS["langchain"].index_documents(
            folder, one.opened(failing.embeddings()), show_progress=False
        )
    with pytest.warns(OpragWarning, match=r"1 failed: 'd0003.txt'.*out of service"):
        shared = index_on_ray(folder, failing, address=address)

    assert [one.name for one in shared.failed] == ["d0003.txt"]
    assert isinstance(shared.failed[0].error, TimeoutError)
    assert dataclasses.replace(shared, failed=()) == dataclasses.replace(
        report, failed=()
    )
    assert many.rows() == one.rows()


@pytest.mark.once
def test_an_embedding_out_of_service_ends_the_run(table, tmp_path, address):
    many = table("langchain")
    folder = write(tmp_path / "texts", 12)
    with pytest.raises(IndexingError, match="5 documents in a row failed") as caught:
        index_on_ray(folder, _Failing(many, "document"), address=address)

    assert len(caught.value.report.failed) == 5
    assert many.rows() == {}


@pytest.mark.once
def test_warnings_of_workers_are_given_to_whoever_started_the_run(table, address):
    from langchain_core.documents import Document
    from langchain_text_splitters import TextSplitter

    class Shouting(TextSplitter):
        def split_text(self, text):
            return [text.upper()]

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        together(
            table("langchain"),
            [Document("So it is.", metadata={"source": "a"})],
            address,
            splitter=Shouting(),
        )

    ours = [one for one in seen if issubclass(one.category, OpragWarning)]
    assert [one.category.__name__ for one in ours] == ["PositionWarning"]


@pytest.mark.parametrize(
    ("options", "option"),
    [
        ({"address": "ray://127.0.0.1:10001"}, "address"),
        ({"address": "head"}, "address"),
        ({"workers": 0}, "workers"),
        ({"workers": (2, 1)}, "workers"),
        ({"batch_size": 0}, "batch_size"),
        ({"replace": "some"}, "replace"),
    ],
)
def test_options_are_checked_before_the_cluster_is_asked(options, option):
    table = Table("langchain", "nobody@127.0.0.1:1/none", "none")
    given = {"make_store": table, "address": "127.0.0.1:1", **options}
    with pytest.raises(InvalidOptionError) as caught:
        index_on_ray([], **given)

    assert caught.value.option == option


@pytest.mark.once
def test_the_workers_need_no_lock_and_a_second_run_waits_for_all(table, address):
    """The run of this process holds the store's lock while its workers write."""
    from oprag.indexing.lock import acquire_lock

    many = table("langchain")
    target = many.opened(many.embeddings())
    store = ADAPTERS["langchain"].chunk_store(target)
    free = []

    def progress(documents, total, chunks):
        with pytest.raises(IndexingError, match="Another run"):
            run_effects(acquire_lock(store, target, patience=0))
        free.append(documents)

    index_on_ray(
        [*pages("langchain", 4)], many, address=address, show_progress=progress
    )
    assert free


@pytest.mark.once
def test_a_worker_that_cannot_open_the_store_is_told_by_its_last_words(table, address):
    many, here = table("langchain"), os.getpid()

    def make_store():
        if os.getpid() != here:
            message = f"no route to {many.database}"
            raise OSError(message)
        return many()

    with pytest.raises(ClusterError, match="finish the run: OSError: no route to") as e:
        index_on_ray([*pages("langchain", 1)], make_store, address=address)

    assert e.value.address == address
    assert "\n" not in str(e.value)


def _chroma(folder: Path, embeddings):
    from langchain_chroma import Chroma

    return Chroma("chunks", embeddings, persist_directory=str(folder / "chroma"))


def _simple(folder: Path, embeddings):
    from llama_index.core import VectorStoreIndex

    return VectorStoreIndex([], embed_model=embeddings)


@pytest.mark.parametrize(
    ("framework", "name", "make"),
    [("langchain", "Chroma", _chroma), ("llamaindex", "SimpleVectorStore", _simple)],
)
def test_a_store_of_one_process_is_refused_by_name(framework, name, make, tmp_path):
    with pytest.raises(InvalidOptionError, match=f"a {name} that lives") as caught:
        index_on_ray(
            tmp_path,
            lambda: make(tmp_path, Table(framework, "", "").embeddings()),
            address="127.0.0.1:1",  # it is not even asked
        )

    assert caught.value.option == "make_store"
