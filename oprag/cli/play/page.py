"""The page of a tab: its parts, and what they do with the tab's session."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from nicegui import run, ui
from nicegui.element import Element
from nicegui.events import GenericEventArguments

from oprag.cli.options import SearchOptions
from oprag.cli.play.answers import Answering
from oprag.cli.play.reader import LARGEST, too_large
from oprag.cli.play.session import Session
from oprag.cli.play.sources import source_view
from oprag.cli.play.views import files_view, sent_view, step_view

STYLE = Path(__file__).with_name("page.css")
_LOOKS = 0.2
"""Seconds between two looks at how far indexing and answers are."""
_TABS = ("context", "source", "answer")
_NOTHING = "null"


class _Files(Element, component="files.js"):
    pass


class _Asking(Element, component="asking.js"):
    pass


class _Strips(Element, component="strips.js"):
    pass


class _Passages(Element, component="passages.js"):
    pass


class _Reader(Element, component="reader.js"):
    pass


class Page:
    """One loading of the page in a tab.

    Args:
        session: The tab's; it outlives the page.
        answering: The same.
    """

    def __init__(self, session: Session, answering: Answering) -> None:
        self._session = session
        self._answering = answering
        self._seen = -1
        self._wanted: Callable[[], None] | None = None
        self._busy = False

    def build(self) -> None:
        """Make the parts, and fill them with what the session holds."""
        session = self._session
        with ui.element("header").classes("op-header"):
            with ui.element("h1"):
                ui.html("oprag play", sanitize=False, tag="span")
            with ui.element("p").classes("op-note"):
                text = "See what a model would read, in the order the author wrote it."
                ui.html(text, sanitize=False, tag="span")
        with ui.element("div").classes("op-grid"):
            with ui.element("div").classes("op-side"):
                self._files = _Files()
                self._files.props["address"] = f"/files?session={session.key}"
                self._files.props["limit"] = LARGEST
                self._asking = _Asking()
                self._asking.props["asked"] = session.question
                self._asking.props["settings"] = _settings(session.options)
            with ui.element("div").classes("op-middle"):
                self._strips, self._passages = _Strips(), _Passages()
            with ui.element("div").classes("op-right"):
                self._reader = _Reader()
        self._reader.props["tab"] = "context"
        self._reader.props["source"] = self._reader.props["step"] = _NOTHING
        self._reader.props["chosen"] = 0
        self._listen()
        self._fill(self._views())
        ui.timer(_LOOKS, self._look)

    def _listen(self) -> None:
        self._files.on("remove", lambda e: self._session.remove(str(e.args)))
        self._files.on("refused", self._refuse)
        self._asking.on("ask", self._ask)
        self._asking.on("settings", self._set)
        self._strips.on("choose", self._choose)
        self._passages.on("choose", self._choose)
        self._reader.on("tab", self._turn_to)
        self._reader.on("choose", self._choose)
        self._reader.on("page", self._leaf)
        self._reader.on("answer", self._answering.start)

    def _refuse(self, event: GenericEventArguments) -> None:
        name, size = str(event.args["name"])[:120], int(event.args["size"])
        self._session.refuse(too_large(name, size) or f"{name} could not be taken.")

    async def _ask(self, event: GenericEventArguments) -> None:
        question = str(event.args)
        await self._do(lambda: self._session.ask(question))

    async def _set(self, event: GenericEventArguments) -> None:
        options = _options(self._session, event.args)
        await self._do(lambda: self._session.arrange(options))

    async def _do(self, work: Callable[[], None]) -> None:
        """Do work in a thread; what is overtaken while another runs is dropped."""
        self._wanted = work
        if self._busy:
            return
        self._busy = True
        try:
            while self._wanted is not None:
                work, self._wanted = self._wanted, None
                await run.io_bound(work)
                await self._redraw()
        finally:
            self._busy = False

    async def _choose(self, event: GenericEventArguments) -> None:
        await self._open(int(event.args))

    async def _leaf(self, event: GenericEventArguments) -> None:
        await self._open(int(self._reader.props["chosen"]), int(event.args))

    async def _open(self, number: int, page: int | None = None) -> None:
        step = self._session.step
        if step is None or not 1 <= number <= len(step.retrieved.passages):
            return
        view = await run.io_bound(lambda: json.dumps(source_view(step, number, page)))
        self._reader.props["source"] = view
        self._reader.props["tab"] = "source"
        self._mark(number)

    def _mark(self, number: int) -> None:
        for part in (self._strips, self._passages, self._reader):
            part.props["chosen"] = number

    def _turn_to(self, event: GenericEventArguments) -> None:
        if event.args in _TABS:
            self._reader.props["tab"] = event.args

    async def _look(self) -> None:
        if self._session.version != self._seen and not self._busy:
            await self._redraw()

    async def _redraw(self) -> None:
        self._seen = self._session.version
        views = await run.io_bound(self._views)
        if views is not None:  # the program is not ending
            self._fill(views)

    def _views(self) -> dict[str, str]:
        session = self._session
        step = session.step
        return {
            "files": json.dumps(files_view(session)),
            "step": _NOTHING if step is None else json.dumps(step_view(step)),
            "context": json.dumps([] if step is None else sent_view(step)),
            "tokens": "" if step is None else f"{step.retrieved.tokens:,} tokens",
            "problem": session.problem,
            "answer": json.dumps(self._answering.view()),
        }

    def _fill(self, views: dict[str, str]) -> None:
        moved = self._strips.props.get("json") not in (None, views["step"])
        self._files.props["json"] = views["files"]
        self._asking.props["problem"] = views["problem"]
        for part in (self._strips, self._passages):
            part.props["json"] = views["step"]
        self._reader.props["step"] = views["step"]
        for name in ("context", "tokens", "answer"):
            self._reader.props[name] = views[name]
        if moved:
            self._reader.props["source"] = _NOTHING
            if self._reader.props["tab"] == "source":
                self._reader.props["tab"] = "context"
            self._mark(0)


def _settings(options: SearchOptions) -> str:
    shown = ("token_budget", "k", "order", "selection", "widen", "merge")
    return json.dumps({name: getattr(options, name) for name in shown})


def _options(session: Session, given: dict[str, Any]) -> SearchOptions:
    """The options that the page sends; what it cannot send fails."""
    k, widen = given["k"], given["widen"]
    return replace(
        session.options,
        token_budget=min(max(int(given["token_budget"]), 1), 40_000),
        k=None if k is None else max(int(k), 1),
        order=given["order"],
        selection=given["selection"],
        widen=widen if widen in (None, "fill") else max(int(widen), 1),  # type: ignore[arg-type]  # as the option's callback gives it
        merge=bool(given["merge"]),
    )
