"""While it works, `index_documents` shows how far it is, and at the end what it did."""

from __future__ import annotations

import io
import logging
import sys
from typing import Any

import pytest
from langchain_core.documents import Document as LangChainDocument
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import Document as LlamaIndexDocument
from llama_index.core import VectorStoreIndex

import langchain_oprag
import llamaindex_oprag
from tests.stores.langchain_places import HashEmbeddings
from tests.stores.llamaindex_fakes import ChecksumEmbedding

SENTENCES = "One sentence here. Another one there! "


class Terminal(io.StringIO):
    """A standard error that somebody watches."""

    def isatty(self) -> bool:
        return True


class Framework:
    """Indexes texts by name, sync or awaited, into one store."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.store: Any = (
            InMemoryVectorStore(HashEmbeddings())
            if name == "langchain"
            else VectorStoreIndex([], embed_model=ChecksumEmbedding())
        )

    def document(self, name: str, text: str) -> Any:
        if self.name == "langchain":
            return LangChainDocument(text, metadata={"source": name})
        return LlamaIndexDocument(text=text, id_=name)

    async def index(self, texts: Any, how: str, **options: Any) -> Any:
        package = langchain_oprag if self.name == "langchain" else llamaindex_oprag
        given = (
            [self.document(*each) for each in texts.items()]
            if isinstance(texts, dict)
            else texts
        )
        if how == "sync":
            return package.index_documents(given, self.store, **options)
        return await package.aindex_documents(given, self.store, **options)


@pytest.fixture(params=["langchain", "llamaindex"])
def framework(request):
    return Framework(request.param)


@pytest.fixture(params=["sync", "awaited"])
def how(request):
    return request.param


@pytest.fixture
def watched(monkeypatch):
    """Called in the test: pytest sets standard error anew before it."""

    def watch() -> Terminal:
        shown = Terminal()
        monkeypatch.setattr(sys, "stderr", shown)
        return shown

    return watch


TEXTS = {"a.txt": SENTENCES, "b.txt": SENTENCES * 40, "c.txt": SENTENCES}


async def test_on_a_terminal_there_is_a_bar_and_then_what_was_done(
    framework, how, watched, capsys
):
    terminal = watched()
    report = await framework.index(TEXTS, how)

    *bar, last = terminal.getvalue().replace("\r", "\n").strip().split("\n")
    assert "Indexing: 100%" in bar[-1]
    assert "3/3" in bar[-1]
    assert f"chunks={report.chunks_added}" in bar[-1]
    assert last == str(report)
    assert capsys.readouterr().out == ""


async def test_where_nobody_watches_only_the_log_is_written(
    framework, how, capfd, caplog
):
    with caplog.at_level(logging.INFO, "oprag"):
        report = await framework.index(TEXTS, how)

    assert capfd.readouterr() == ("", "")
    assert caplog.messages == [str(report)]


async def test_a_function_is_told_instead_of_a_bar(framework, how, watched):
    terminal = watched()
    calls: list[tuple[int, int | None, int]] = []

    report = await framework.index(
        TEXTS, how, show_progress=lambda *at: calls.append(at), batch_size=2
    )

    assert terminal.getvalue() == ""
    assert calls == sorted(calls)
    assert {total for _, total, _ in calls} == {3}
    assert calls[-1] == (3, 3, report.chunks_added)
    assert len({chunks for _, _, chunks in calls}) > 3
