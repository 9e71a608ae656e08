"""Full texts by name, whole or not at all."""

import asyncio
from pathlib import Path

import pytest
from langchain_core.documents import Document

from oprag.documents import document_source
from oprag.errors import DocumentNotFoundError, InvalidOptionError

TEXTS = {"a.txt": "alpha\r\nbeta", "ünï'; DROP.txt": "gamma"}


def _folder(tmp_path: Path) -> Path:
    for name, text in TEXTS.items():
        (tmp_path / name).write_bytes(text.encode())
    return tmp_path


async def _find(name: str) -> str | None:
    await asyncio.sleep(0)
    return TEXTS.get(name)


@pytest.fixture(params=["mapping", "function", "look-up", "folder", "folder name"])
def source(request, tmp_path):
    made = {
        "mapping": TEXTS,
        "function": TEXTS.get,
        "look-up": TEXTS.__getitem__,
        "folder": _folder(tmp_path),
        "folder name": str(tmp_path),
    }
    return document_source(made[request.param])


@pytest.mark.parametrize("name", TEXTS)
async def test_the_text_comes_back_whole(source, name):
    assert source.get(name) == await source.aget(name) == TEXTS[name]


async def test_an_unknown_name_is_an_error(source):
    with pytest.raises(DocumentNotFoundError, match=r"'b\.txt'") as caught:
        source.get("b.txt")
    assert caught.value.document == "b.txt"
    assert isinstance(caught.value, LookupError)
    with pytest.raises(DocumentNotFoundError):
        await source.aget("b.txt")


async def test_of_several_that_are_missing_the_first_is_named():
    async def find(name):
        await asyncio.sleep(0.05 if name == "a" else 0)

    with pytest.raises(DocumentNotFoundError, match="'a'"):
        await document_source(find).aread_all(["a", "b"])


async def test_an_async_function_is_awaited():
    source = document_source(_find)

    assert await source.aget("a.txt") == TEXTS["a.txt"]
    with pytest.raises(DocumentNotFoundError):
        await source.aget("b.txt")
    with pytest.raises(InvalidOptionError, match="async function"):
        source.get("a.txt")


@pytest.mark.parametrize(
    "name", ["../secret.txt", "/etc/passwd", "x\0y", "n" * 5000, ".git/HEAD"]
)
def test_nothing_outside_the_folder_is_read_and_nothing_hidden(tmp_path, name):
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "inside" / ".git").mkdir(parents=True)
    (tmp_path / "inside" / ".git" / "HEAD").write_text("hidden")
    (tmp_path / "inside" / "b.txt").write_text("shown")

    assert [*document_source(tmp_path / "inside").names()] == ["b.txt"]

    with pytest.raises(DocumentNotFoundError):
        document_source(tmp_path / "inside").get(name)


@pytest.mark.parametrize("key", ["char_start", "chunk_index", "oprag", "oprag_hash"])
def test_chunks_are_no_full_texts(key):
    chunk = Document("One.", metadata={"source": "a.txt", key: 0})

    with pytest.raises(InvalidOptionError, match="has a chunk in its list"):
        document_source([chunk])


def test_an_absolute_name_inside_the_folder_is_read(tmp_path):
    folder = _folder(tmp_path)

    assert document_source(folder).get(str(folder / "a.txt")) == TEXTS["a.txt"]
