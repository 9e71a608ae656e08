"""Rows of a run, as other tools import them; one through LangSmith's real client."""

import csv
import email
import io
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from langsmith import Client

from oprag_eval.comparing import compare_systems
from tests.evaluation.small import WordVectors, own_files

RECEIVED: list[tuple[str, bytes, str]] = []
TEXT = 'The keeper was "Anna" Holm, 10 °.\nNext – é 😀'


class Server(BaseHTTPRequestHandler):
    """As much of LangSmith's server as an upload asks for."""

    def do_GET(self) -> None:
        self._reply({"version": "0.1", "id": "11111111-1111-1111-1111-111111111111"})

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        RECEIVED.append((self.path, sent, self.headers["Content-Type"]))
        self._reply(
            {
                "id": "22222222-2222-2222-2222-222222222222",
                "name": "run",
                "created_at": "2026-01-01T00:00:00Z",
            }
        )

    def _reply(self, values: dict) -> None:
        body = json.dumps(values).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def address():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("rows")
    own_files(folder)

    def mine(_: str) -> dict:
        return {"context": [TEXT], "answer": "Anna Holm"}

    systems = [mine, "dos-rag:size=20"]
    given = folder / "notes", folder / "q.csv", systems
    compare_systems(*given, embeddings=WordVectors(), budgets=[80], out=folder / "run")
    return folder / "run"


def test_langsmith_gets_the_questions_and_what_is_right(run, address):
    client = Client(api_url=address, api_key="none")
    made = client.upload_csv(
        str(run / "rows.csv"),
        input_keys=["user_input"],
        output_keys=["reference"],
        name="run",
    )

    assert made.name == "run"
    path, sent, kind = RECEIVED[-1]
    message = email.message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + sent)
    parts = {
        part.get_param("name", header="Content-Disposition"): part.get_payload(
            decode=True
        ).decode()
        for part in message.walk()
        if not part.is_multipart()
    }
    table = list(csv.DictReader(io.StringIO(parts["file"], newline="")))
    assert path == "/datasets/upload"
    assert len(table) == 8
    assert table[0]["user_input"] == "When did the harbour open?"
    assert table[0]["reference"] == "in May"


def test_lists_and_texts_come_back_from_both_files_as_they_were(run):
    written = (run / "rows.jsonl").read_text("utf-8").split("\n")[:-1]
    lines = [json.loads(line) for line in written]
    with (run / "rows.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))

    assert lines[0]["retrieved_contexts"] == [TEXT]
    assert lines[0]["response"] == "Anna Holm"
    assert lines[4]["response"] is None  # the stand-in for a model says nothing
    for line, row in zip(lines, table, strict=True):
        assert list(line) == list(row)
        assert json.loads(row["retrieved_contexts"]) == line["retrieved_contexts"]
        assert row["user_input"] == line["user_input"]


@pytest.mark.parametrize("library", ["ragas", "mlflow"])
def test_other_libraries_read_them_where_they_are_installed(run, library):
    installed = pytest.importorskip(library)
    lines = run / "rows.jsonl"
    if library == "ragas":
        read = installed.EvaluationDataset.from_jsonl(str(lines))
        assert len(read) == 8
        assert read[0].retrieved_contexts == [TEXT]
    else:
        import pandas as pd

        frame = pd.read_json(lines, lines=True)
        names = {"targets": "reference", "predictions": "response"}
        read = installed.data.from_pandas(frame, **names)
        assert len(read.df) == 8
