"""`oprag serve` as a program: asked as Dify asks, by many at once, and killed."""

import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from oprag_cli.listener import WITHIN
from tests.cli.test_retrieval_server import BEARER, KEY, body
from tests.kit.serving import HOST, free_port, listens, serving


@pytest.fixture(scope="module")
def started(notes, tiny_model, tmp_path_factory):
    """Starts the server; gives its address and the log so far."""
    kept = tmp_path_factory.mktemp("kept")
    how = ["--directory", str(kept), "--embedding-model", str(tiny_model)]
    command = [sys.executable, "-m", "oprag_cli", "serve", str(notes), *how, "--port"]

    @contextmanager
    def start():
        folder = tmp_path_factory.mktemp("server")
        environment = {**os.environ, "OPRAG_API_KEY": KEY}
        with serving(
            lambda port: [*command, str(port)], folder, listens, env=environment
        ) as port:
            yield f"http://{HOST}:{port}", folder / "server.log"

    return start


@pytest.fixture(scope="module")
def running(started):
    with started() as (address, log):
        asked(address, 1)
        yield address, log


def asked(address: str, number: int) -> dict:
    """The answer, when the index is there."""
    for _ in range(60):
        answer = httpx.post(
            f"{address}/retrieval",
            json=body(f"house {number}"),
            headers=BEARER,
            timeout=5,  # as long as Dify waits
        )
        if answer.status_code != 503:
            break
        assert "Ask again in a moment." in answer.json()["error_msg"]
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_it_listens_before_it_has_indexed_and_answers_after_it_was_killed(started):
    with started() as (address, log):
        before = asked(address, 7)
        assert [each["content"] for each in before["records"]]
        said = log.read_text()
    with started() as (address, _):
        assert asked(address, 7) == before
    assert "Listening: http://127.0.0.1:" in said
    assert said.index("Listening") < said.index("Read: 3 files")
    assert "External Knowledge ID: notes" in said


def test_twenty_clients_at_once_get_what_one_gets(running):
    address, _ = running
    one_by_one = [asked(address, number) for number in range(20)]
    with ThreadPoolExecutor(20) as pool:
        together = [*pool.map(lambda number: asked(address, number), range(20))]
    assert together == one_by_one


def test_mischief_neither_ends_it_nor_gets_anything_out_of_it(running):
    address, log = running
    hostile = [
        *(b"", b"\0" * 1_000, b"[" * 900_000, b"{" * 900_000, b"9" * 900_000),
        *(b"x" * 5_000_000, '{"query": "\ud800"}'.encode("utf-8", "surrogatepass")),
    ]
    for content in hostile:
        for headers in (BEARER, {}, {"Authorization": "Bearer " + "y" * 60_000}):
            try:
                answer = httpx.post(
                    f"{address}/retrieval", content=content, headers=headers
                )
            except httpx.TransportError:  # it hangs up on what is too long
                continue
            assert 400 <= answer.status_code < 500
    with socket.create_connection((HOST, int(address.rpartition(":")[2]))) as raw:
        raw.sendall(b"POST /retrieval HTTP/1.1\r\nContent-Length: 9\r\n\r\n")
        for word in ("password", "swordfish"):
            found = httpx.post(f"{address}/retrieval", json=body(word), headers=BEARER)
            assert found.status_code == 200
            assert "swordfish" not in found.text
    said = log.read_text()
    assert KEY not in said
    assert "Traceback" not in said
    assert "link.txt' is a link that leads out" in said


def test_requests_that_are_sent_in_part_are_closed_in_time(running):
    port = int(running[0].rpartition(":")[2])
    whole = b"POST /retrieval HTTP/1.1\r\nContent-Length: 9\r\n\r\n"
    parts = (b"POST /retr", whole, whole + b"{")
    with ExitStack() as stack:
        clients = [socket.create_connection((HOST, port)) for _ in parts]
        for client, sent in zip(clients, parts, strict=True):
            stack.enter_context(client).settimeout(2 * WITHIN)
            client.sendall(sent)
        for client in clients:
            while client.recv(1_000):
                pass


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="Linux tells of sockets")
def test_nobody_listens_beyond_this_machine(running):
    port = f"{int(running[0].rpartition(':')[2]):04X}"
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    lines += Path("/proc/net/tcp6").read_text().splitlines()[1:]
    listening = [line.split()[1] for line in lines if line.split()[3] == "0A"]
    assert [each for each in listening if each.endswith(":" + port)] == [
        f"0100007F:{port}"
    ]


def test_ctrl_c_ends_it_though_a_client_has_not_sent_all(notes, tiny_model, tmp_path):
    with (
        program(notes, tiny_model, tmp_path) as (process, port),
        socket.create_connection((HOST, port)) as client,
    ):
        lines = [
            "POST /retrieval HTTP/1.1",
            f"Authorization: {BEARER['Authorization']}",
        ]
        lines += ["Host: localhost", "Content-Length: 9", "", "{"]
        client.sendall("\r\n".join(lines).encode())
        time.sleep(0.5)  # it is being read
        process.send_signal(signal.SIGINT)
        # 0 where the signal was ignored at first, as in a job of the background.
        assert process.wait(20) in (0, 130)


def test_the_key_on_the_command_line_stays_out_of_the_log(notes, tiny_model, tmp_path):
    with program(notes, tiny_model, tmp_path) as (_, port):
        assert asked(f"http://{HOST}:{port}", 3)["records"]
    assert KEY not in (tmp_path / "log").read_text()


@contextmanager
def program(notes, tiny_model, tmp_path):
    """The server with the key on its command line, and its port."""
    port = str(free_port())
    command = [sys.executable, "-m", "oprag_cli", "serve", str(notes), "--port", port]
    how = ["--api-key", KEY, "--embedding-model", str(tiny_model)]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(
            [*command, *how, "--directory", str(tmp_path)], stderr=log, stdout=log
        )
        try:
            for _ in range(600):
                if listens(int(port)):
                    break
                time.sleep(0.1)
            yield process, int(port)
        finally:
            process.terminate()
            process.wait()
