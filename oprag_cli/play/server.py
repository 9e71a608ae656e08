"""The application of `oprag play`: the page for each tab, and the way in for files."""

from __future__ import annotations

from anyio import to_thread
from fastapi import FastAPI, Request
from nicegui import ui
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse, Response

from oprag_cli.guard import Guard
from oprag_cli.play.answers import Answering
from oprag_cli.play.page import STYLES, Page
from oprag_cli.play.reader import too_large
from oprag_cli.play.session import Session
from oprag_cli.play.workshop import Workshop


def make_app(workshop: Workshop, port: int) -> Guard:
    """Make the application, for a server of ASGI.

    Args:
        workshop: The state that all tabs share.
        port: The port on which it listens.
    """
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    tabs: dict[str, tuple[Session, Answering]] = {}

    @app.post("/files")
    async def take(request: Request) -> Response:
        return await _take(request, {s.key: s for s, _ in tabs.values()})

    async def root() -> None:
        for style in STYLES:
            ui.add_css(style)
        client = ui.context.client
        await client.connected()
        tab = client.tab_id or client.id
        if tab not in tabs:
            session = Session(workshop)
            tabs[tab] = session, Answering(session)
        Page(*tabs[tab]).build(client.request.query_params)

    ui.run_with(
        app,
        root=root,
        title="oprag play",
        language="en-US",
        dark=None,
        tailwind=False,
        show_welcome_message=False,
    )
    return Guard(app, port)


async def _take(request: Request, sessions: dict[str, Session]) -> Response:
    """Keep a dropped file, which is the body of the request."""
    session = sessions.get(request.query_params.get("session", ""))
    name = request.query_params.get("name", "")
    if session is None or not name:
        return PlainTextResponse("There is no such tab.", 404)
    path, shown = session.place_for(name), name[:120]
    sentence = ""
    try:
        with path.open("wb") as file:
            async for part in request.stream():
                file.write(part)
                if sentence := too_large(shown, file.tell()):
                    break
    except (OSError, ClientDisconnect) as error:
        why = getattr(error, "strerror", "") or "it did not arrive whole"
        sentence = f"{shown} could not be taken: {why}."
    if sentence:
        path.unlink(missing_ok=True)
        session.refuse(sentence)
        return PlainTextResponse(sentence, 413)
    await to_thread.run_sync(session.take, path, name)
    return PlainTextResponse("Taken.")
