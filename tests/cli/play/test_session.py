"""The state and the work of a tab of `oprag play`, without a browser."""

import json
import os
import time
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from threading import Event

import pytest
from typer.testing import CliRunner

from oprag.tokens import resolve_token_counter
from oprag_cli.app import app
from oprag_cli.play.answers import Answering
from oprag_cli.play.desk import ORDERS, Opened
from oprag_cli.play.reader import LARGEST, read_shelf
from oprag_cli.play.session import Session
from oprag_cli.play.sources import source_view
from oprag_cli.play.views import (
    answers_view,
    files_view,
    short_names,
    step_view,
    view_question,
    view_sent,
)
from oprag_cli.play.workshop import Workshop
from tests.files.mixed_files import LEASE, make_folder, pdf
from tests.kit.openai_server import Reply, ScriptedServer

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
        command = ["context", folder, QUESTION, *arguments, *fixed]
        printed = CliRunner().invoke(app, list(map(str, command)))
        assert printed.stdout_bytes.decode() == session.step.write_sent("document")


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
    assert files_view(session)["files"] == [
        [str(tmp_path / "lease.md"), "lease.md", False]
    ]


def test_a_file_is_shown_at_once_and_one_that_is_refused_before_the_model_is_there(
    folder, workshop
):
    lease, logo = str(folder / "lease.md"), str(folder / "logo.png")
    workshop.paths = [folder / "lease.md", folder / "logo.png"]
    with workshop.turn.take_turn(print):  # nothing is indexed meanwhile
        session = Session(workshop)
        assert [lease, "lease.md", True] in files_view(session)["files"]
        end = time.monotonic() + 60
        while not files_view(session)["sentences"] and time.monotonic() < end:
            time.sleep(0.01)
        session.take(folder / "empty.txt", "a.txt")  # while others are not indexed
        said = [f"{logo} is binary, not text.", "a.txt is empty."]
        assert files_view(session)["sentences"] == said

    assert files_view(ready(session))["files"] == [[lease, "lease.md", False]]


def test_a_file_that_waits_can_be_removed(folder, workshop):
    session = dropped(Session(workshop), folder / "report.pdf")
    with workshop.turn.take_turn(print):
        session.given = [*session.given, (folder / "lease.md", "")]
        session.remove(str(folder / "lease.md"))

    assert files_view(ready(session))["files"] == [["report.pdf", "report.pdf", False]]


def test_what_is_shown_is_what_is_sent_with_numbers_and_places(folder, workshop):
    session = dropped(Session(workshop), folder / "report.pdf")
    session.ask(QUESTION)

    sent = view_sent(session.step)

    joined = "\n\n".join(piece["head"] + piece["text"] for piece in sent)
    assert f"{joined}\n" == session.step.write_sent("document")
    assert [piece["head"] for piece in sent] == [
        "[1] report.pdf, page 1, characters 0-37\n",
        "[…]\n\n[2] report.pdf, page 3, characters 0-29\n",
    ]


@pytest.mark.parametrize("merge", [True, False])
def test_both_orders_are_the_same_blocks_and_the_same_tokens(folder, workshop, merge):
    workshop.paths = [folder]
    session = ready(Session(workshop))
    session.options = replace(session.options, merge=merge)
    session.ask(QUESTION)
    step, view = session.step, step_view(session.step)
    ranks = [passage.rank for passage in step.retrieved.passages]

    assert len(ranks) > 2
    assert view["orders"]["document"] == [*range(1, len(ranks) + 1)]
    by_rank = [ranks[number - 1] for number in view["orders"]["rank"]]
    assert by_rank == sorted(ranks)
    pairs = pairwise(view["orders"]["rank"])
    assert view["jumps"] == sum(after < before for before, after in pairs)
    texts = [step.write_sent(order) for order in ORDERS]
    assert texts[0] != texts[1]
    assert sorted(texts[0]) == sorted(texts[1])
    count = resolve_token_counter()
    in_prompts = {count(f"<passages>\n{text}\n</passages>") for text in texts}
    assert len(in_prompts) == 1


def test_a_file_at_the_limit_is_read(tmp_path):
    file = tmp_path / "long\n.txt"
    file.write_text("word " * (LARGEST // 5))
    assert [*read_shelf([(file, "")], print).paths] == [f"{tmp_path}/long\\n.txt"]


def test_a_pdf_passage_is_shown_on_its_page_and_in_its_text(folder, workshop):
    session = dropped(Session(workshop), folder / "report.pdf")
    session.ask(QUESTION)

    views = [source_view(Opened(session.step, number)) for number in (1, 2)]

    assert [view["title"] for view in views] == [
        "report.pdf, page 1, characters 0-37",
        "report.pdf, page 3, characters 0-29",
    ]
    assert all(view["image"].startswith("data:image/png;base64,") for view in views)
    assert ["The repair costs 4,000 euros.", True] in views[1]["parts"]
    assert all(0 < view["mark"] < 0.5 for view in views)
    assert [(view["number"], view["last"]) for view in views] == [(1, 2), (2, 2)]
    ((page, said),) = views[0]["turns"]
    other = source_view(Opened(session.step, 1, page))
    assert (page, said) == (2, "Page 3")
    assert other["parts"] == [["The repair costs 4,000 euros.", False]]
    assert other["mark"] == 0


def test_the_text_around_a_passage_is_the_source(tmp_path, workshop):
    text = "".join(f"Sentence {number} is here. " for number in range(2_000))
    (tmp_path / "long.txt").write_text(text)
    session = dropped(Session(workshop), tmp_path / "long.txt")
    session.arrange(replace(session.options, token_budget=500, merge=False))
    session.ask("Sentence 1000")

    for number, passage in enumerate(session.step.retrieved.passages, start=1):
        view = source_view(Opened(session.step, number))
        assert view["plain"]
        parts = view["parts"]
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

    assert files_view(session)["files"] == [["report.pdf", "report.pdf", False]]
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


def answered(session: Session) -> Answering:
    answering = Answering(session)
    answering.want()
    end = time.monotonic() + 60
    while answering.working:
        assert time.monotonic() < end
        time.sleep(0.01)
    return answering


@pytest.fixture
def scripted(monkeypatch):
    """A chat model that answers from a script; gives what it was asked."""

    @contextmanager
    def serve(script):
        with ScriptedServer(script) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            yield server.requests

    return serve


def test_two_answers_come_of_the_same_passages_in_two_orders(
    folder, workshop, scripted
):
    workshop.chat_model, workshop.paths = "openai:scripted", [folder]
    session = ready(Session(workshop))
    session.ask(QUESTION)
    step = session.step
    orders = {step.write_sent(order).strip(): order for order in ORDERS}

    def reply(request):
        inside = request.prompt.partition("<passages>\n")[2].partition("\n</passages>")
        return f"By {orders[inside[0].strip()]} [2, 99] [1]."

    with scripted(reply) as requests:
        answering = answered(session)

    view = answers_view(answering)
    assert {name: each["text"] for name, each in view["answers"].items()} == {
        "rank": "By rank [2, 99] [1].",
        "document": "By document [2, 99] [1].",
    }
    assert view["cited"] == [1, 2]
    assert not view["stale"]
    assert all(request.streaming for request in requests)
    facts = ["\n".join(each["facts"]) for each in view["answers"].values()]
    assert facts[0] == facts[1]
    assert "tokens in" in facts[0]
    json.dumps(view)


@pytest.mark.filterwarnings("ignore:The answer is cut off")
def test_an_answer_streams_and_one_that_is_cut_says_so(folder, workshop, scripted):
    workshop.chat_model = "openai:scripted"
    session = dropped(Session(workshop), folder / "lease.md")
    session.ask(QUESTION)
    gate = Event()
    held = Reply(deltas=["The ", gate, "landlord."], finish_reason="length")
    answering = Answering(session)
    with scripted([held, held]):
        answering.want()
        end = time.monotonic() + 30
        while [answer.text for answer in answering.answers] != ["The ", "The "]:
            assert time.monotonic() < end
            time.sleep(0.01)
        gate.set()
        while answering.working:
            time.sleep(0.01)

    assert [answer.text for answer in answering.answers] == ["The landlord."] * 2
    assert "ended by 'length'" in "".join(answering.answers[0].facts)


def test_an_answer_waits_for_its_passages_and_later_options_make_it_an_earlier_one(
    folder, workshop, scripted
):
    workshop.chat_model, workshop.paths = "openai:scripted", [folder / "lease.md"]
    with scripted(lambda _: "The landlord [1]."):
        with workshop.turn.take_turn(print):
            session = Session(workshop)
            session.ask(QUESTION)
            answering = Answering(session)
            answering.want()
            assert answering.answers == []
            said = view_question(session)["said"]
            assert said.startswith("The question waits until the files are ready.")
        ready(session)
        answering.start_wanted()
        while answering.working:
            time.sleep(0.01)

    assert answering.answers[0].text == "The landlord [1]."
    session.arrange(replace(session.options, k=1))
    assert answers_view(answering)["stale"]
    answering.start_wanted()
    assert answers_view(answering)["stale"], "only a press of a button sends anything"


def test_without_a_model_nothing_is_sent(folder, workshop):
    session = dropped(Session(workshop), folder / "lease.md")
    session.ask(QUESTION)

    answering = answered(session)

    assert answering.answers == []
    assert answers_view(answering)["model"] == ""


def test_a_model_that_cannot_be_reached_is_said_on_the_page(
    folder, workshop, monkeypatch
):
    workshop.chat_model = "openai:scripted"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    session = dropped(Session(workshop), folder / "lease.md")
    session.ask(QUESTION)

    answering = answered(session)

    assert all("openai:scripted" in answer.problem for answer in answering.answers)


def test_names_are_shown_without_the_folder_that_they_share():
    given = {
        "notes/2026/may.md": "may.md",
        "notes/2026/a/b.md": "a/b.md",
        "dropped.pdf": "dropped.pdf",
    }
    assert short_names(given) == given | {"notes/2026/a/b.md": str(Path("a/b.md"))}
    assert short_names(["/x/a.md"]) == {"/x/a.md": "a.md"}
    for kept in (["/x/a.md", "y/b.md"], ["notes/a.md", "a.md"], ["a.md"], []):
        assert short_names(kept) == {name: name for name in kept}
