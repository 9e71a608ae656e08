"""The state and the work of a tab of `oprag play`, without a browser."""

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from oprag.cli.app import app
from oprag.cli.play.answers import HOW, Answering
from oprag.cli.play.reader import LARGEST, read_shelf
from oprag.cli.play.session import Session, Workshop
from oprag.cli.play.sources import source_view
from oprag.cli.play.views import files_view, sent_view, step_view
from tests.files.mixed_files import LEASE, make_folder, pdf
from tests.kit.openai_server import Reply, ScriptedServer, Usage

QUESTION = "Who pays for repairs?"


@pytest.fixture
def workshop(tiny_model, tmp_path):
    made = Workshop([], str(tiny_model), tmp_path / "index")
    yield made
    made.close()


def ready(session: Session) -> Session:
    end = time.monotonic() + 60
    while session.status.working:
        assert time.monotonic() < end
        time.sleep(0.01)
    return session


def dropped(session: Session, *files: Path) -> Session:
    """Give files as a browser does: their bytes, and their names."""
    for file in files:
        place = session.place_for(file.name)
        place.write_bytes(file.read_bytes())
        session.take(place, file.name)
    return ready(session)


@pytest.fixture
def folder(tmp_path):
    return make_folder(tmp_path / "notes")


OPTIONS = [
    ({}, []),
    ({"token_budget": 60}, ["--token-budget", "60"]),
    ({"k": 2}, ["--k", "2"]),
    ({"order": "rank"}, ["--order", "rank"]),
    ({"merge": False}, ["--no-merge"]),
    ({"widen": 1, "k": 1}, ["--widen", "1", "--k", "1"]),
    ({"widen": "fill"}, ["--widen", "fill"]),
    ({"selection": "recall"}, ["--selection", "recall"]),
    ({"selection": "recall", "k": 3}, ["--selection", "recall", "--k", "3"]),
]


def test_each_option_gives_what_oprag_context_prints(folder, workshop, tiny_model):
    workshop.paths = [folder]
    session = ready(Session(workshop))
    session.ask(QUESTION)

    for changed, arguments in OPTIONS:
        session.options = type(session.options)()
        session.arrange(replace(session.options, **changed))

        fixed = ["--embedding-model", tiny_model, "--directory", workshop.folder]
        command = ["context", folder, QUESTION, "--plain", *arguments, *fixed]
        printed = CliRunner().invoke(app, list(map(str, command)))
        assert printed.stdout_bytes.decode() == f"{session.step.retrieved.context}\n"


def test_every_file_that_cannot_be_used_has_a_sentence_and_the_others_go_on(
    tmp_path, workshop
):
    (tmp_path / "lease.md").write_text(LEASE, "utf-8")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing")
    (tmp_path / "empty.txt").write_bytes(b"")
    (tmp_path / "photo.txt").write_bytes(bytes(range(256)) * 8)
    pdf(tmp_path / "locked.pdf", password="secret")
    with (tmp_path / "huge.txt").open("wb") as huge:
        os.truncate(huge.fileno(), 200_000_000)
    names = ["broken.pdf", "empty.txt", "photo.txt", "locked.pdf", "huge.txt"]
    workshop.paths = [tmp_path / name for name in ["lease.md", *names, "gone.md"]]

    session = ready(Session(workshop))

    said = [sentence.removeprefix(f"{tmp_path}/") for sentence in session.refused]
    assert [sentence.split()[0] for sentence in said] == [*names, "gone.md"]
    assert said[1:] == [
        "empty.txt is empty.",
        "photo.txt is binary, not text.",
        "locked.pdf is locked by a password; save it without one.",
        "huge.txt has 200 MB, and this page takes files of at most 20 MB.",
        "gone.md does not exist.",
    ]
    assert "broken.pdf is a damaged PDF" in said[0]
    assert files_view(session)["files"] == [[str(tmp_path / "lease.md"), False]]


def test_a_file_is_shown_at_once_and_one_that_is_refused_before_the_model_is_there(
    folder, workshop
):
    lease, logo = str(folder / "lease.md"), str(folder / "logo.png")
    workshop.paths = [folder / "lease.md", folder / "logo.png"]
    with workshop.lock:  # nothing is indexed meanwhile
        session = Session(workshop)
        assert [lease, True] in files_view(session)["files"]
        end = time.monotonic() + 60
        while not files_view(session)["sentences"] and time.monotonic() < end:
            time.sleep(0.01)
        session.take(folder / "empty.txt", "a.txt")  # while others are not indexed
        said = [f"{logo} is binary, not text.", "a.txt is empty."]
        assert files_view(session)["sentences"] == said

    assert files_view(ready(session))["files"] == [[lease, False]]


def test_a_file_that_waits_can_be_removed(folder, workshop):
    session = dropped(Session(workshop), folder / "report.pdf")
    with workshop.lock:
        session.given = [*session.given, (folder / "lease.md", "")]
        session.remove(str(folder / "lease.md"))

    assert files_view(ready(session))["files"] == [["report.pdf", False]]


def test_what_is_sent_is_the_context_and_its_heads_are_beside_it(folder, workshop):
    session = dropped(Session(workshop), folder / "report.pdf")
    session.ask(QUESTION)

    sent = sent_view(session.step)

    joined = "\n\n".join(piece["text"] for piece in sent)
    assert joined == session.step.retrieved.context
    assert [piece["head"] for piece in sent] == [
        "[1] report.pdf, page 1, characters 0-37",
        "[…]\n\n[2] report.pdf, page 3, characters 0-29",
    ]


def test_a_file_at_the_limit_is_read(tmp_path):
    file = tmp_path / "long\n.txt"
    file.write_text("word " * (LARGEST // 5))
    assert [*read_shelf([(file, "")], print).paths] == [f"{tmp_path}/long\\n.txt"]


def test_a_pdf_passage_is_shown_on_its_page_and_in_its_text(folder, workshop):
    session = dropped(Session(workshop), folder / "report.pdf")
    session.ask(QUESTION)

    views = [source_view(session.step, number) for number in (1, 2)]

    assert [view["title"] for view in views] == [
        "report.pdf, page 1, characters 0-37",
        "report.pdf, page 3, characters 0-29",
    ]
    assert all(view["image"].startswith("data:image/png;base64,") for view in views)
    assert ["The repair costs 4,000 euros.", True] in views[1]["parts"]
    ((page, said),) = views[0]["turns"]
    other = source_view(session.step, 1, page)
    assert (page, said) == (2, "Page 3")
    assert other["parts"] == [["The repair costs 4,000 euros.", False]]


def test_the_text_around_a_passage_is_the_source(tmp_path, workshop):
    text = "".join(f"Sentence {number} is here. " for number in range(2_000))
    (tmp_path / "long.txt").write_text(text)
    session = dropped(Session(workshop), tmp_path / "long.txt")
    session.arrange(replace(session.options, token_budget=500, merge=False))
    session.ask("Sentence 1000")

    for number, passage in enumerate(session.step.retrieved.passages, start=1):
        parts = source_view(session.step, number)["parts"]
        assert [part for part, marked in parts if marked] == [passage.text]
        assert "".join(part for part, _ in parts if part not in {"… ", " …"}) in text


def test_passages_stand_at_their_places_in_the_whole_document(folder, workshop):
    session = dropped(Session(workshop), folder / "report.pdf")
    session.ask(QUESTION)
    (document,) = step_view(session.step)["documents"]
    (whole,) = session.desk.whole.values()

    texts = [whole[start:end] for start, end, *_ in document["marks"]]

    assert texts == [passage.text for passage in session.step.retrieved.passages]
    assert document["length"] == len(whole)


def test_a_file_that_is_removed_is_no_longer_read(folder, workshop):
    session = dropped(Session(workshop), folder / "lease.md", folder / "report.pdf")
    session.ask(QUESTION)

    session.remove("lease.md")
    ready(session)

    assert files_view(session)["files"] == [["report.pdf", False]]
    assert {p.document_name for p in session.step.retrieved.passages} == {"report.pdf"}


def test_what_was_dropped_goes_when_the_program_ends(folder, workshop):
    session = dropped(Session(workshop), folder / "lease.md")
    (path,) = session.desk.shelf.paths.values()

    workshop.close()

    assert not path.exists()


def test_a_budget_that_holds_nothing_is_said(folder, workshop):
    session = dropped(Session(workshop), folder / "lease.md")
    session.arrange(replace(session.options, token_budget=1))
    session.ask(QUESTION)

    assert session.step is None
    assert session.problem.startswith("token_budget=1 holds no chunk")


@pytest.mark.filterwarnings("ignore:The answer is cut off")
def test_an_answer_streams_with_its_route_and_tokens(folder, workshop, monkeypatch):
    workshop.chat_model, workshop.decline = "openai:scripted", "tool"
    session = dropped(Session(workshop), folder / "lease.md")
    session.ask(QUESTION)
    answering = Answering(session)
    cut = Reply("The landlord.", usage=Usage(200, 3), finish_reason="length")
    with ScriptedServer([cut]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        answering.start()
        while answering.working:
            time.sleep(0.01)

    view = answering.view()
    assert view["text"] == "The landlord."
    assert view["problem"] == ""
    assert view["facts"][1].strip().startswith("lease.md, characters")
    assert "retrieved: answered, 200 tokens in, 3 out" in "".join(view["facts"])
    assert server.requests[0].body["tools"][0]["function"]["name"] == "decline"
    assert "ended by 'length'" in "".join(view["facts"])
    assert view["facts"][-1].startswith("The full documents alone: ")


def test_without_a_model_it_says_how_to_name_one(workshop):
    answering = Answering(Session(workshop))
    answering.start()

    assert not answering.working
    assert answering.view()["how"] == HOW
    assert "--model" in HOW


def test_a_model_that_cannot_be_reached_is_said_on_the_page(
    folder, workshop, monkeypatch
):
    workshop.chat_model = "openai:scripted"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    session = dropped(Session(workshop), folder / "lease.md")
    session.ask(QUESTION)
    answering = Answering(session)
    answering.start()
    while answering.working:
        time.sleep(0.01)

    assert "openai:scripted" in answering.view()["problem"]
    json.dumps(answering.view())
