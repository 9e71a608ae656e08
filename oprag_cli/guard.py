"""Access to the page: only by a browser on this machine, from the page itself."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_POLICY = (
    "default-src 'self'; "
    # The library that draws the page compiles its templates in the browser.
    "script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; "
    "connect-src 'self' ws://127.0.0.1:{port} ws://localhost:{port}; "
    "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

_WRONG_HOST = "This page answers to 127.0.0.1 and localhost alone."
_WRONG_ORIGIN = "Another page may not speak to this one."
_POLICY_VIOLATION = 1008


class Guard:
    """Refuses other hosts (a name that was bound to this machine) and other origins.

    Args:
        app: The application, websocket included.
        port: The port on which it listens.
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        self.app = app
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._origins = {f"http://{host}" for host in self._hosts}
        self._headers = {
            **_HEADERS,
            "Content-Security-Policy": _POLICY.format(port=port),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        refused = self._refuse(scope)
        if refused is None:
            await self.app(scope, receive, self._sender(send))
        elif scope["type"] == "websocket":
            await receive()
            # Before it is accepted: the server answers 403.
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        else:
            await refused(scope, receive, send)

    def _refuse(self, scope: Scope) -> PlainTextResponse | None:
        named = {b"host": [""], b"origin": []} | _values(scope)
        if any(host not in self._hosts for host in named[b"host"]):
            return PlainTextResponse(_WRONG_HOST, 400)
        if any(origin not in self._origins for origin in named[b"origin"]):
            return PlainTextResponse(_WRONG_ORIGIN, 403)
        return None

    def _sender(self, send: Send) -> Send:
        async def add_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        return add_headers


def _values(scope: Scope) -> dict[bytes, list[str]]:
    """Return the values of each header, which may come several times."""
    values: dict[bytes, list[str]] = {}
    for name, value in scope["headers"]:
        values.setdefault(name, []).append(value.decode("latin-1").lower())
    return values
