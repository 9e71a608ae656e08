"""A document is grouped by what identifies it, and named by what people know."""

import pytest

from oprag.chunk import Hit
from oprag.positions import document_metadata, identify_documents, read_chunks

ID = "f7129805-1e94-4f0e-9a43-0b8a51b0fd5f"


def read(metadata, **kwargs):
    hits = [Hit("text", metadata, None, None, None, ID)]
    documents = identify_documents(hits, **kwargs)
    return read_chunks(hits, documents)[0]


@pytest.mark.parametrize(
    ("metadata", "name"),
    [
        ({"file_path": "/home/ann/leases/north.txt"}, "leases/north.txt"),
        ({"file_path": "C:\\Ann\\leases\\north.txt"}, "leases/north.txt"),
        ({"file_path": "\\\\server\\share\\leases\\north.txt"}, "leases/north.txt"),
        ({"source": "file:///home/ann/leases/north.txt"}, "leases/north.txt"),
        ({"source": "leases/2024/north.txt"}, "leases/2024/north.txt"),
        ({"file_path": "/north.txt"}, "north.txt"),
        ({"file_name": "north.txt", "title": "Lease"}, "north.txt"),
        ({"url": "https://example.org/a/b/c"}, "https://example.org/a/b/c"),
        ({"page_title": "Houses", "link": "https://a.b/c"}, "https://a.b/c"),
    ],
)
def test_a_file_identifies_and_names_where_a_framework_made_the_id_up(metadata, name):
    (file,) = {*metadata.values()} - {"Lease", "Houses"}

    chunk = read(metadata)

    assert (chunk.document_key, chunk.text_id, chunk.document_name) == (
        file,
        file,
        name,
    )


@pytest.mark.parametrize(
    ("metadata", "name"),
    [
        ({"title": "Lease of the north house"}, "Lease of the north house"),
        ({"author": "Ann"}, ID),
        ({"source": "/"}, "/"),
        ({"source": "tickets.csv"}, "tickets.csv"),  # holds many documents
        ({"source": "confluence"}, "confluence"),
    ],
)
def test_an_id_groups_and_a_title_names(metadata, name):
    chunk = read(metadata)
    assert (chunk.document_key, chunk.text_id, chunk.document_name) == (ID, ID, name)


def test_of_paths_that_end_alike_as_many_parts_are_named_as_tell_them_apart():
    written = {"oprag": "0 - n1 key=k name=q1/a.txt"}
    paths = ["/d/2023/q1/a.txt", "/d/2024/q1/a.txt", "/e/2024/q1/a.txt", "/d/q2/a.txt"]
    metadatas = [written, *({"source": path} for path in paths)]

    documents = identify_documents([Hit("text", metadata) for metadata in metadatas])

    names = ["q1/a.txt", "2023/q1/a.txt", "d/2024/q1/a.txt", "e/2024/q1/a.txt"]
    assert [document.name for document in documents] == [*names, "q2/a.txt"]


def test_a_path_under_several_ids_is_not_named_by_more_of_it():
    ids = [{"document_id": key, "file_path": "/home/ann/q1/a.txt"} for key in "kl"]
    written = {"oprag": "0 - n1 key=k name=q1/a.txt"}

    for other in (ids[1], written):
        documents = identify_documents([Hit("text", ids[0]), Hit("text", other)])
        assert {document.name for document in documents} == {"q1/a.txt"}


def test_what_was_indexed_by_oprag_is_looked_up_by_its_uri_and_never_shown_whole():
    uri = "/home/ann/leases/north.txt"
    chunk = read({"doc_key": "3f", "doc_uri": uri, "source": "elsewhere"})
    assert (chunk.document_key, chunk.text_id, chunk.document_name) == (
        "3f",
        uri,
        "leases/north.txt",
    )


@pytest.mark.parametrize(
    ("named", "name"), [({"file_name": "north.txt"}, "north.txt"), ({}, ID)]
)
def test_a_random_id_that_it_was_indexed_by_is_no_name_where_there_is_one(named, name):
    chunk = read({"doc_key": "3f", "doc_uri": ID, **named})
    assert (chunk.document_key, chunk.text_id, chunk.document_name) == ("3f", ID, name)


def test_a_users_key_is_the_name():
    chunk = read({"client": "K-17", "source": "a.txt"}, document_key="client")
    assert (chunk.document_key, chunk.text_id, chunk.document_name) == (
        "K-17",
        "K-17",
        "K-17",
    )


def test_of_a_document_is_said_what_its_chunks_agree_on():
    chunks = [{"author": "Ann", "topic": topic, "chunk_index": 3} for topic in "ab"]

    assert document_metadata("a", chunks) == {"doc_uri": "a", "author": "Ann"}
