"""Indexing for `oprag play`: the work, the answers meanwhile, the words about it."""

import re
import threading
import time
from pathlib import Path

import pytest

from oprag.files import FileText
from oprag_cli.demo import QUESTIONS, REFERENCE_NAME
from oprag_cli.play.progress import Progress, say_duration
from oprag_cli.play.session import Session
from oprag_cli.play.views import files_view, view_question
from oprag_cli.play.workshop import PlayEmbeddings, Workshop
from tests.cli.play.test_session import QUESTION, dropped, ready

CHUNKS = 400


def write_notes(folder: Path, chunks: int) -> Path:
    """Write a folder of so many chunks, in 20 files."""
    folder.mkdir()
    for number in range(20):
        lines = []
        for n in range(chunks // 20):
            words = " ".join(f"ship {w} of day {n} has {number} men" for w in range(9))
            lines.append(f"Note {number}, paragraph {n}: {words}.")
        (folder / f"note{number:02}.txt").write_text("\n\n".join(lines))
    return folder


@pytest.fixture
def notes(request, tmp_path):
    return write_notes(tmp_path / "notes", getattr(request, "param", 40))


@pytest.fixture
def workshop(tiny_model, tmp_path, notes):
    made = Workshop([notes], str(tiny_model), tmp_path / "index")
    yield made
    made.close()


@pytest.fixture
def embedded(monkeypatch):
    """All texts that are embedded, as they come to the model."""
    texts = []
    whole = PlayEmbeddings.embed_documents

    def spy(self, given):
        texts.extend(given)
        return whole(self, given)

    monkeypatch.setattr(PlayEmbeddings, "embed_documents", spy)
    return texts


@pytest.mark.parametrize("notes", [CHUNKS], indirect=True)
def test_a_file_that_is_dropped_on_a_folder_is_embedded_alone(
    workshop, embedded, tmp_path
):
    session = ready(Session(workshop))
    assert len(embedded) >= CHUNKS
    assert session.desk.index.chunks == len(embedded)
    before = len(embedded)
    (tmp_path / "lease.txt").write_text("Repairs are paid by the landlord.")

    dropped(session, tmp_path / "lease.txt")

    assert embedded[before:] == ["Repairs are paid by the landlord."]
    assert session.desk.index.chunks == before + 1
    session.ask("Repairs are paid by the landlord.")  # the same text is the nearest
    sent = session.step.write_sent("rank")
    assert re.match(r"(\[…\]\s+)?\[\d+\] lease.txt, characters", sent)
    assert "note" in sent

    session.remove("lease.txt")
    ready(session)
    ready(Session(workshop))
    assert len(embedded) == before + 1
    assert session.desk.index.chunks == before


def test_so_is_one_that_is_dropped_before_the_folder_is_ready(
    workshop, embedded, tmp_path
):
    (tmp_path / "lease.txt").write_text("Repairs are paid by the landlord.")
    with workshop.turn.take_turn(print):
        session = Session(workshop)
        place = session.place_for("lease.txt")
        place.write_bytes((tmp_path / "lease.txt").read_bytes())
        session.take(place, "lease.txt")
    ready(session)
    ready(Session(workshop))

    assert len(embedded) == len({*embedded})
    assert embedded[-1] == "Repairs are paid by the landlord."


def test_ten_tabs_embed_a_folder_once(workshop, embedded):
    sessions = [Session(workshop) for _ in range(10)]
    for session in sessions:
        ready(session)

    assert len(embedded) == len({*embedded}) == sessions[0].desk.index.chunks
    assert len({id(session.desk) for session in sessions}) == 1


def test_a_question_is_answered_while_a_dropped_file_is_embedded(
    workshop, monkeypatch, tmp_path
):
    session = ready(Session(workshop))
    whole = PlayEmbeddings.embed_documents
    began, gate = threading.Event(), threading.Event()

    def held(self, texts):
        began.set()
        gate.wait(30)
        return whole(self, texts)

    monkeypatch.setattr(PlayEmbeddings, "embed_documents", held)
    place = session.place_for("lease.txt")
    place.write_text("Repairs are paid by the landlord.")
    session.take(place, "lease.txt")
    assert began.wait(30)

    at = time.monotonic()
    session.ask("Repairs are paid by the landlord.")
    took = time.monotonic() - at

    assert took < 1
    assert "note" in session.step.write_sent("document")
    assert "lease.txt" not in session.step.write_sent("document")
    assert view_question(session)["said"].startswith(
        "Found in the files that are ready;"
    )
    gate.set()
    ready(session)
    assert "lease.txt" in session.step.write_sent("document")
    assert view_question(session)["said"] == ""


def test_a_question_goes_before_the_texts_that_are_being_embedded(workshop):
    with workshop.turn.take_turn(print):
        embeddings = workshop.embeddings()
    order = []
    slow = PlayEmbeddings(embeddings)
    encode = slow.model.encode_document

    def encoded(texts, **how):
        order.append(len(texts))
        time.sleep(0.05)
        return encode(texts, **how)

    slow.model.encode_document = encoded
    try:
        run = threading.Thread(target=slow.embed_documents, args=[["a text"] * 400])
        run.start()
        while not order:
            time.sleep(0.001)
        before = len(order)
        slow.embed_query("a question")
        after = len(order)
        run.join()
    finally:
        slow.model.encode_document = encode

    assert max(order) <= 8
    assert after - before <= 1
    assert slow.characters == 400 * len("a text")


def test_a_question_waits_for_another_tab_and_never_for_a_model_that_is_loaded(
    workshop, monkeypatch
):
    whole = PlayEmbeddings.embed_documents
    gate = threading.Event()
    said = []
    shown = Session._say

    def heard(self, doing):
        said.append(doing)
        shown(self, doing)

    def held(self, texts):
        gate.wait(30)
        return whole(self, texts)

    monkeypatch.setattr(PlayEmbeddings, "embed_documents", held)
    first = Session(workshop)
    end = time.monotonic() + 60
    while not first.status.said.startswith("Indexing"):
        assert time.monotonic() < end
        time.sleep(0.01)
    monkeypatch.setattr(Session, "_say", heard)
    second = Session(workshop)
    second.ask(QUESTION)
    while not second.status.said.startswith("Waiting"):
        assert time.monotonic() < end
        time.sleep(0.01)

    waits = "Waiting for another tab. Indexing: 0 of 20 files, 0 chunks"
    assert files_view(second)["said"] == waits
    assert view_question(second)["said"] == (
        f"The question waits until the files are ready. {waits}"
    )
    gate.set()
    ready(first)
    ready(second)
    assert second.step is not None
    assert not [each for each in said if "Loading" in each]


def test_the_sample_asks_the_first_question_of_the_demo(tiny_model, tmp_path, embedded):
    workshop = Workshop([], str(tiny_model), tmp_path / "index")
    session = Session(workshop)
    session.take_sample()
    end = time.monotonic() + 300
    while session.status.working:
        assert time.monotonic() < end
        time.sleep(0.05)
    before = len(embedded)

    assert session.question == QUESTIONS[0]
    assert {p.text_id for p in session.step.retrieved.passages} == {REFERENCE_NAME}
    assert view_question(session)["examples"] == list(QUESTIONS)
    other = Session(workshop)
    other.take_sample()
    ready(other)
    assert len(embedded) == before
    workshop.close()


def test_the_time_that_is_left_is_said_by_the_characters(monkeypatch):
    now = 100.0
    monkeypatch.setattr("oprag_cli.play.progress.time.monotonic", lambda: now)

    class Counter:
        characters = 50

    reports = []
    texts = [FileText("a.txt", "x" * 900), FileText("b.txt", "y" * 100)]
    progress = Progress(texts, {texts[1]}, Counter, reports.append)
    progress.tell(0, 2, 0)
    now, Counter.characters = 101.0, 350
    progress.tell(0, 2, 40)
    now = 110.0
    progress.tell(0, 2, 40)
    progress.tell(1, 2, 40)
    Counter.characters = 2_000
    progress.tell(2, 2, 90)

    assert [report.said for report in reports] == [
        "Indexing: 0 of 2 files, 0 chunks",
        "Indexing: 0 of 2 files, 40 chunks",
        "Indexing: 0 of 2 files, 40 chunks, about 20 seconds left",
        "Indexing: 1 of 2 files, 40 chunks, about 20 seconds left",
        "Indexing: 2 of 2 files, 90 chunks",
    ]
    shares = [report.share for report in reports]
    assert shares == pytest.approx([0, 1 / 3, 1 / 3, 1 / 2, 1])


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.2, "about 5 seconds"),
        (42, "about 40 seconds"),
        (61, "about 1 minute"),
        (160, "about 3 minutes"),
    ],
)
def test_a_duration_is_said_as_exactly_as_it_is_known(seconds, said):
    assert say_duration(seconds) == said
    assert re.fullmatch(r"about \d+ (second|minute)s?", said)
