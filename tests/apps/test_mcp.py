"""`oprag mcp` as a program: started by clients, killed, and asked by many at once."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import httpx
import pytest
from langchain_mcp_adapters.client import MultiServerMCPClient
from llama_index.tools.mcp import BasicMCPClient, McpToolSpec
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.cli.test_mcp_server import PLACE, inside, texts_of
from tests.kit.mcp_client import call
from tests.kit.serving import HOST, listens, serving

CLIENTS_2 = ["mcp>=2.3,<3", "langchain[mcp]>=1.5.2", "llama-index-tools-mcp>=0.6"]
"""The newest clients, which need version 2 of the kit; the others stand beside ours."""


@pytest.fixture(scope="module")
def command(notes, tiny_model, tmp_path_factory) -> list[str]:
    """The command line after `python`."""
    kept = str(tmp_path_factory.mktemp("kept"))
    how = ["--directory", kept, "--embedding-model", str(tiny_model)]
    return ["-m", "oprag_cli", "mcp", str(notes), *how]


@pytest.fixture(scope="module")
def programs_2(installed) -> Path:
    """The folder of the programs of an environment with the clients of version 2."""
    return installed("mcp_2", CLIENTS_2)


@pytest.fixture(scope="module")
def address(command, tmp_path_factory):
    """Of a server that listens on this machine."""
    with listening(command, tmp_path_factory) as found:
        yield found


@pytest.fixture(scope="module")
def address_2(command, programs_2, tmp_path_factory):
    """Of the same with version 2 of the kit."""
    (packages,) = programs_2.parent.glob("lib/python*/site-packages")
    path = os.pathsep.join([str(packages), *filter(None, [os.getenv("PYTHONPATH")])])
    env = {**os.environ, "PYTHONPATH": path}
    with listening(command, tmp_path_factory, env) as found:
        yield found


@contextmanager
def listening(command, tmp_path_factory, env=None):
    def at(port: int) -> list[str]:
        return [sys.executable, *command, "--http", str(port)]

    folder = tmp_path_factory.mktemp("mcp")
    with serving(at, folder, listens, env=env) as port:
        yield f"http://{HOST}:{port}/mcp"


@asynccontextmanager
async def connected(address: str):
    async with (
        streamable_http_client(address) as (reader, writer, _),
        ClientSession(reader, writer) as session,
    ):
        await session.initialize()
        yield session


@asynccontextmanager
async def started(arguments: list[str], log: Path):
    given = StdioServerParameters(
        command=sys.executable, args=arguments, env={**os.environ}
    )
    with log.open("w") as errors:
        async with (
            stdio_client(given, errlog=errors) as (reader, writer),
            ClientSession(reader, writer) as session,
        ):
            await session.initialize()
            yield session


async def test_it_answers_at_once_and_tells_how_far_indexing_is(
    notes, tiny_model, tmp_path
):
    arguments = ["-m", "oprag_cli", "mcp", str(notes), "--directory", str(tmp_path)]
    arguments += ["--embedding-model", str(tiny_model)]
    async with started(arguments, tmp_path / "log") as session:
        tools = (await session.list_tools()).tools
        assert not list(tmp_path.rglob("*.sqlite3")), "indexed before it answered"
        first = await session.call_tool("search", {"question": "house 13"})
        assert "link.txt" not in await call(session, "documents")
        assert "swordfish" not in await call(session, "search", question="password")
    assert [tool.name for tool in tools] == ["search", "read", "outline", "documents"]
    assert all(tool.annotations.readOnlyHint for tool in tools)
    assert not first.isError
    assert "link.txt' is a link that leads out" in (tmp_path / "log").read_text()


@pytest.mark.parametrize("server", ["address", "address_2"])
@pytest.mark.parametrize(
    ("header", "status"),
    [({"host": "evil.example"}, 400), ({"origin": "http://evil.example"}, 403)],
)
def test_other_hosts_and_origins_are_refused(server, header, status, request):
    address = request.getfixturevalue(server)
    refused = httpx.post(address, json={}, headers=header)

    assert refused.status_code == status
    assert refused.text != httpx.post(address, json={}).text


@pytest.mark.parametrize("server", ["address", "address_2"])
def test_the_newest_clients_get_what_the_kit_before_gives(
    server, address, programs_2, request
):
    script = Path(__file__).with_name("mcp_2_clients.py")
    done = subprocess.run(
        [programs_2 / "python", script, request.getfixturevalue(server)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    tools = ["search", "read", "outline", "documents"]
    wanted = [tools, asyncio.run(found_at(address))]
    clients = ("official", "langchain", "llama_index")
    assert json.loads(done.stdout) == dict.fromkeys(clients, wanted)


async def found_at(address: str) -> str:
    async with connected(address) as session:
        return await call(session, "search", question="old house 9", token_budget=500)


@pytest.mark.parametrize("server", ["address", "address_2"])
async def test_clients_of_both_frameworks_read_it(server, request):
    address = request.getfixturevalue(server)
    client = MultiServerMCPClient(
        {"notes": {"url": address, "transport": "streamable_http"}}
    )
    ours = {tool.name: tool for tool in await client.get_tools()}
    question = {"question": "old house 9", "token_budget": 500}
    answer = await ours["search"].ainvoke(question)
    text = answer if isinstance(answer, str) else answer[0]["text"]
    assert PLACE.search(inside(text))

    spec = McpToolSpec(client=BasicMCPClient(address))
    theirs = {tool.metadata.name: tool for tool in await spec.to_tool_list_async()}
    assert set(theirs) == set(ours)
    output = await theirs["search"].acall(**question)
    assert output.raw_output.content[0].text == text


@pytest.fixture
def chroma(notes, tiny_model, tmp_path) -> list[str]:
    """A Chroma directory of the notes, as the command takes it."""
    model = ["--embedding-model", str(tiny_model)]
    index = ["index", str(notes), "--chroma", str(tmp_path / "chroma"), *model]
    subprocess.run(
        [sys.executable, "-m", "oprag_cli", *index], check=True, capture_output=True
    )
    return [str(tmp_path / "chroma"), *model]


async def test_a_chroma_directory_is_read_as_it_is(notes, chroma, tmp_path):
    sources = texts_of(notes)
    read = ["-m", "oprag_cli", "mcp", *chroma]
    async with started(read, tmp_path / "log") as session:
        found = inside(await call(session, "search", question="row 2, house 9"))
        places = PLACE.findall(found)
        assert places
        for name, page, start, end in places:
            where = {"document": name, "start": int(start), "end": int(end)}
            where |= {"page": page} if page else {}
            read = inside(await call(session, "read", **where))
            source = sources[name.removeprefix("notes/"), page or None]
            assert read.partition("\n")[2] == source[int(start) : int(end)]
        listed = inside(await call(session, "documents"))
        assert "notes/report.pdf: 3 pages" in listed


async def test_what_another_command_indexed_is_found_by_a_running_server(
    tiny_model, tmp_path
):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("The old gate is red.")
    (folder / "b.txt").write_text("The barn is high.")
    how = ["--directory", str(tmp_path / "kept"), "--embedding-model", str(tiny_model)]
    async with started(
        ["-m", "oprag_cli", "mcp", str(folder), *how], tmp_path / "log"
    ) as session:
        assert "old gate" in await call(session, "search", question="gate")
        (folder / "a.txt").write_text("The new gate is green.")
        again = await asyncio.create_subprocess_exec(
            *[sys.executable, "-m", "oprag_cli", "index", str(folder), *how],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert await again.wait() == 0
        found = await call(session, "search", question="gate")
        assert "new gate" in found
        assert "barn" in found
        read = await call(session, "read", document="a.txt")
        assert inside(read).partition("\n")[2] == "The new gate is green."


def test_the_files_for_registries_name_this_command():
    recipe = Path(__file__).parents[2] / "recipes" / "mcp"
    server = json.loads((recipe / "server.json").read_text())
    package = server["packages"][0]
    assert package["identifier"] == "oprag"
    assert package["packageArguments"][0]["value"] == "mcp"
    skill = (recipe / "SKILL.md").read_text()
    for tool in ("search", "read", "outline", "documents"):
        assert f"`{tool}`" in skill
