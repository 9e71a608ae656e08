"""Who may speak to the page of `oprag play`."""

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from oprag_cli.guard import Guard

OWN = "http://127.0.0.1:8323"


async def answer(_):
    return PlainTextResponse("here")


async def talk(websocket):
    await websocket.accept()
    await websocket.send_text("here")


@pytest.fixture
def client():
    routes = [Route("/", answer, methods=["GET", "POST"]), WebSocketRoute("/ws", talk)]
    return TestClient(Guard(Starlette(routes=routes), 8323), base_url=OWN)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": OWN},
        {"host": "localhost:8323", "origin": "http://LOCALHOST:8323"},
    ],
)
def test_the_page_itself_is_answered_and_may_fetch_nothing_else(client, headers):
    answered = client.post("/", headers=headers)

    assert answered.text == "here"
    policy = answered.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "https:" not in policy
    assert "*" not in policy


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8323", "127.0.0.1:80", "127.0.0.1", "[::1]:8323"],
)
def test_another_host_is_refused_whatever_it_is_bound_to(client, host):
    assert client.get("/", headers={"host": host}).status_code == 400


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1:9", "https://127.0.0.1:8323"],
)
def test_another_origin_is_refused(client, origin):
    assert client.post("/", headers={"origin": origin}).status_code == 403
    assert client.get("/", headers={"origin": origin}).status_code == 403


@pytest.mark.parametrize(
    "headers", [{"host": "evil.example"}, {"origin": "http://evil.example"}]
)
def test_a_websocket_of_another_page_is_refused_before_it_opens(client, headers):
    url = f"ws://{headers.get('host', '127.0.0.1:8323')}/ws"
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect(url, headers=headers),
    ):
        pass


def test_a_websocket_of_the_page_is_opened(client):
    url = "ws://127.0.0.1:8323/ws"
    with client.websocket_connect(url, headers={"origin": OWN}) as talking:
        assert talking.receive_text() == "here"
