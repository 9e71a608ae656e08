"""While it works, `index_documents` shows how far it is, and at the end what it did."""

import io
import logging
import sys

import pytest

from tests.kit.frameworks import Held, InLangChain, InLlamaIndex

SENTENCES = "One sentence here. Another one there! "


class Terminal(io.StringIO):
    """A standard error that somebody watches."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(params=[InLangChain, InLlamaIndex])
def place(request) -> Held:
    return request.param()


@pytest.fixture(params=[False, True], ids=["sync", "awaited"])
def awaited(request) -> bool:
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


def test_on_a_terminal_there_is_a_bar_and_then_what_was_done(
    place, awaited, watched, capsys
):
    terminal = watched()
    report = place.index(TEXTS, awaited=awaited)

    *bar, last = terminal.getvalue().replace("\r", "\n").strip().split("\n")
    assert "Indexing: 100%" in bar[-1]
    assert "3/3" in bar[-1]
    assert f"chunks={report.chunks_added}" in bar[-1]
    assert last == str(report)
    assert capsys.readouterr().out == ""


def test_where_nobody_watches_only_the_log_is_written(place, awaited, capfd, caplog):
    with caplog.at_level(logging.INFO, "oprag"):
        report = place.index({"d.txt": "One chunk."}, awaited=awaited)

    assert capfd.readouterr() == ("", "")
    assert caplog.messages == [str(report)]
    assert str(report).startswith("1 document added (1 chunk), ")


def test_a_function_is_told_instead_of_a_bar(place, awaited, watched):
    terminal = watched()
    calls: list[tuple[int, int | None, int]] = []

    report = place.index(
        TEXTS, awaited=awaited, show_progress=lambda *at: calls.append(at), batch_size=2
    )

    assert terminal.getvalue() == ""
    assert calls == sorted(calls)
    assert {total for _, total, _ in calls} == {3}
    assert calls[-1] == (3, 3, report.chunks_added)
    assert len({chunks for _, _, chunks in calls}) > 3
