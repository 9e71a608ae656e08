"""The text files of a folder, by the names that `document_source` knows them by."""

import os

import pytest

from oprag.documents import document_source, read_folder
from oprag.errors import DocumentNotFoundError, InvalidOptionError, UnreadableFileError

ROOT_READS_ALL = hasattr(os, "geteuid") and os.geteuid() == 0


def test_files_come_sorted_with_their_text_as_it_lies_there(tmp_path):
    texts = {"b.txt": "x\r\ny", "B/z.md": "\ufeffmarked", "B/ä b.txt": "Ünï", "a": ""}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(text.encode())
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x").write_text("hidden")

    files = list(read_folder(tmp_path))

    assert [name for name, _ in files] == ["a", "b.txt", "B/z.md", "B/ä b.txt"]
    source = document_source(tmp_path)
    assert dict(files) == texts == {name: source.get(name) for name in texts}


def test_files_are_read_when_they_are_asked_for(tmp_path):
    (tmp_path / "a").write_text("first")
    (tmp_path / "b").write_text("before")
    files = read_folder(str(tmp_path))

    assert next(files) == ("a", "first")
    (tmp_path / "b").write_text("after")
    assert next(files) == ("b", "after")


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        (b"latin", "ü".encode("latin-1"), "is not UTF-8 text (byte 0)"),
        (b"zeros", b"a\0", "is binary, not text"),
        (b"a.pdf", b"%PDF-1.4\n1 0 obj", "is a PDF, not text"),
        (b"n\xff", b"text", "has a name that is not UTF-8"),
    ],
)
def test_what_is_no_text_is_an_error_that_is_not_raised(tmp_path, name, data, reason):
    path = os.path.join(os.fsencode(tmp_path), name)  # noqa: PTH118 -- bytes
    try:
        with open(path, "wb") as file:  # noqa: PTH123 -- as above
            file.write(data)
    except OSError:
        pytest.skip("the file system takes no such name")

    (error,) = read_folder(tmp_path)

    assert isinstance(error, UnreadableFileError)
    assert error.reason == reason
    assert error.path == name.decode("utf-8", "backslashreplace")


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    (tmp_path / "inside").mkdir()
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "inside" / "link").symlink_to(tmp_path / "secret")

    (error,) = read_folder(tmp_path / "inside")

    assert "leads out of the folder" in error.reason


@pytest.mark.skipif(ROOT_READS_ALL, reason="root may read every file")
def test_a_folder_that_cannot_be_opened_stops_the_reading(tmp_path):
    (tmp_path / "closed").mkdir(mode=0)

    with pytest.raises(UnreadableFileError, match="cannot be opened"):
        list(read_folder(tmp_path))


def test_a_folder_has_to_be_there(tmp_path):
    (tmp_path / "a.md").write_text("text")

    with pytest.raises(InvalidOptionError, match="missing' is not a folder"):
        list(read_folder(tmp_path / "missing"))
    with pytest.raises(InvalidOptionError, match="md' is not a folder"):
        list(read_folder(str(tmp_path / "a.md")))


def test_a_link_to_itself_is_a_file_that_cannot_be_read(tmp_path):
    (tmp_path / "loop.txt").symlink_to("loop.txt")
    (tmp_path / "to").symlink_to("fro")
    (tmp_path / "fro").symlink_to("to")
    (tmp_path / "a.txt").write_text("text")

    *links, (name, _) = sorted(
        read_folder(tmp_path), key=lambda file: isinstance(file, tuple)
    )

    assert name == "a.txt"
    assert {link.path for link in links} == {"loop.txt", "to", "fro"}
    with pytest.raises(DocumentNotFoundError, match="no document 'loop"):
        document_source(tmp_path).get("loop.txt")
