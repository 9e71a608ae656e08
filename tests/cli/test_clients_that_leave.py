"""Servers asked by many at once, some of whom leave before they are answered."""

import asyncio
import json
import socket
from contextlib import asynccontextmanager
from threading import Event, Thread

import httpx
import pytest
import uvicorn
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore

from langchain_oprag import OffsetSentenceSplitter, index_documents
from oprag_cli.guard import Guard
from oprag_cli.librarian import MOST_ASKED, RETRY_AFTER, Librarian
from oprag_cli.library import Library
from oprag_cli.mcp_server import make_server
from oprag_cli.retrieval_server import make_app

KEY = "a-key-of-32-characters-and-more-"
TEXT = "The gate is red. The barn is high. The rent is 900 a month."
SIDE_BY_SIDE = 2
PATIENCE = 30


class Gated(DeterministicFakeEmbedding):
    """Embeds a question when the gate is open, and keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__(size=8)
        object.__setattr__(self, "gate", Event())
        object.__setattr__(self, "asked", [])

    def embed_query(self, text: str) -> list[float]:
        self.asked.append(text)
        assert self.gate.wait(PATIENCE)
        return super().embed_query(text)


class Served:
    """A server on loopback, over a library whose questions wait at a gate."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.model = Gated()
        store = InMemoryVectorStore(self.model)
        documents = [Document(TEXT, metadata={"source": "a.txt"})]
        index_documents(documents, store, splitter=OffsetSentenceSplitter())
        library = Library(store, at_once=SIDE_BY_SIDE)
        self.librarian = Librarian(lambda _: library, patience=PATIENCE)

    def app(self, port: int):
        if self.kind == "serve":
            return make_app(self.librarian, name="a", api_key=KEY, token_budget=500)
        server = make_server(self.librarian, token_budget=500)
        return Guard(server.streamable_http_app(), port)

    async def ask(self, address: str, question: str) -> str:
        """Return the text that is found, or how the question was sent away."""
        how = self.ask_serve if self.kind == "serve" else self.ask_mcp
        return await how(self.client, address, question)

    async def ask_serve(self, client, address: str, question: str) -> str:
        setting = {"top_k": 3, "score_threshold": 0}
        answer = await client.post(
            f"{address}/retrieval",
            headers={"Authorization": f"Bearer {KEY}"},
            json={"knowledge_id": "a", "query": question, "retrieval_setting": setting},
        )
        if answer.status_code == 503:
            assert answer.headers["retry-after"] == str(RETRY_AFTER)
            return answer.json()["error_msg"]
        return " ".join(each["content"] for each in answer.json()["records"])

    async def begin_mcp(self, client, address: str) -> dict[str, str]:
        """Begin a session; return the headers of its requests."""
        headers = {"Accept": "application/json, text/event-stream"}
        about = {"name": "test", "version": "1"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
        hello["clientInfo"] = about
        first = await self.send(client, address, headers, "initialize", hello, id=0)
        headers["Mcp-Session-Id"] = first.headers["mcp-session-id"]
        await self.send(client, address, headers, "notifications/initialized", {})
        return headers

    async def send(self, client, address: str, headers, method: str, params, **more):
        message = {"jsonrpc": "2.0", "method": method, "params": params, **more}
        return await client.post(f"{address}/mcp", headers=headers, json=message)

    async def ask_mcp(self, client, address: str, question: str) -> str:
        headers = await self.begin_mcp(client, address)
        call = {"name": "search", "arguments": {"question": question}}
        answer = await self.send(client, address, headers, "tools/call", call, id=1)
        said = [line for line in answer.text.splitlines() if line.startswith("data: {")]
        return json.loads(said[-1].removeprefix("data: "))["result"]["content"][0][
            "text"
        ]

    async def until_asked(self, number: int) -> None:
        """Wait until so many questions are at the server."""
        async with asyncio.timeout(PATIENCE):
            while self.librarian._asked != number:  # noqa: ASYNC110 -- in a thread
                await asyncio.sleep(0.01)


@pytest.fixture(params=["serve", "mcp"])
def served(request):
    return Served(request.param)


@asynccontextmanager
async def running(served: Served):
    served.librarian.start()
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        port = listener.getsockname()[1]
        options = {"log_level": "error", "access_log": False, "ws": "none"}
        config = uvicorn.Config(served.app(port), **options)
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        limits = httpx.Limits(max_connections=None)
        served.client = httpx.AsyncClient(timeout=PATIENCE, limits=limits)
        try:
            async with served.client:
                yield f"http://127.0.0.1:{port}"
        finally:
            served.model.gate.set()
            server.should_exit = True
            await asyncio.to_thread(thread.join)


async def leave(task: asyncio.Task) -> None:
    task.cancel()
    await asyncio.wait([task])


async def test_whoever_has_left_is_not_served_and_all_others_are(served):
    async with running(served) as address:
        asking = {}
        for number in range(20):
            asking[number] = asyncio.create_task(served.ask(address, f"house {number}"))
        await served.until_asked(20)
        async with asyncio.timeout(PATIENCE):
            while len(served.model.asked) < SIDE_BY_SIDE:  # noqa: ASYNC110 -- in threads
                await asyncio.sleep(0.01)
        worked_for = [*served.model.asked]
        assert len(worked_for) == SIDE_BY_SIDE
        waiting = [n for n in asking if f"house {n}" not in worked_for]
        for number in waiting[::2]:
            await leave(asking[number])
        await served.until_asked(20 - len(waiting[::2]))

        served.model.gate.set()

        stayed = [number for number in asking if number not in waiting[::2]]
        for number in stayed:
            assert "The gate is red." in await asking[number]
        assert {*served.model.asked} == {f"house {number}" for number in stayed}
        await served.until_asked(0)


@pytest.mark.once
async def test_more_than_can_wait_are_told_when_to_ask_again(served):
    async with running(served) as address:
        asking = []
        for number in range(MOST_ASKED):
            asking.append(asyncio.create_task(served.ask(address, f"house {number}")))
            if number % 20 == 0:
                await served.until_asked(number + 1)
        await served.until_asked(MOST_ASKED)

        said = await served.ask(address, "one more")

        assert f"Ask again in {RETRY_AFTER} seconds." in said
        await leave(asking.pop())
        await served.until_asked(MOST_ASKED - 1)
        asking.append(asyncio.create_task(served.ask(address, "one more")))
        await served.until_asked(MOST_ASKED)
        served.model.gate.set()
        for answer in await asyncio.gather(*asking):
            assert "The gate is red." in answer


async def test_a_client_that_leaves_is_no_error_in_the_log(served, capfd):
    async with running(served) as address:
        asking = [asyncio.create_task(served.ask(address, "a")) for _ in range(4)]
        await served.until_asked(4)
        await leave(asking.pop())
        served.model.gate.set()
        await asyncio.gather(*asking)
    assert capfd.readouterr().err == ""


async def test_a_session_that_is_ended_is_no_error_in_the_log(caplog):
    served = Served("mcp")
    served.model.gate.set()
    async with running(served) as address:
        headers = await served.begin_mcp(served.client, address)
        stream = served.client.stream("GET", f"{address}/mcp", headers=headers)
        async with stream as listening:
            ended = await served.client.delete(f"{address}/mcp", headers=headers)
            assert ended.status_code == 200
            assert [part async for part in listening.aiter_text()] == []
    assert not caplog.records
