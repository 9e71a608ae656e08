"""A server notices that its index was changed by somebody else."""

import subprocess
import sys

import chromadb
import pytest

from oprag_cli.chroma_directory import open_directory

_OTHER = """
import sys, chromadb
client = chromadb.PersistentClient(sys.argv[1])
notes = client.get_collection("notes", embedding_function=None)
"""


@pytest.fixture
def opened(tmp_path):
    client = chromadb.PersistentClient(str(tmp_path))
    notes = client.create_collection("notes", embedding_function=None)
    notes.add(ids=["1", "2"], documents=["a", "b"], embeddings=[[1.0, 0.0], [0.0, 1.0]])
    return open_directory(tmp_path, "notes")


@pytest.mark.parametrize(
    ("done", "changes"),
    [
        ("notes.get(); client.create_collection('others')", False),
        ("notes.query(query_embeddings=[[1.0, 0.0]])", False),
        ("notes.update(ids=['1'], metadatas=[{'a': 1}])", True),
        ("notes.delete(ids=['1'])", True),
        ("client.delete_collection('notes')", True),
    ],
)
def test_only_what_another_process_writes_to_a_collection_changes_its_sign(
    opened, done, changes
):
    before = opened.sign()
    command = [sys.executable, "-c", _OTHER + done, str(opened.directory)]

    subprocess.run(command, check=True)

    assert (opened.sign() != before) is changes
