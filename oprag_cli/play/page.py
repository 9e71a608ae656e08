"""The page of a tab: its parts, and how they use the tab's session."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Thread
from typing import Any, TypeAlias, TypeVar

from nicegui import run, ui
from nicegui.element import Element
from nicegui.events import GenericEventArguments

from oprag_cli.options import SearchOptions
from oprag_cli.play.answers import Answering
from oprag_cli.play.desk import Opened, Step
from oprag_cli.play.links import BUDGETS, chosen_options, link_to, write_python
from oprag_cli.play.reader import LARGEST, too_large
from oprag_cli.play.session import Session
from oprag_cli.play.sources import source_view
from oprag_cli.play.views import (
    answers_view,
    files_view,
    passages_view,
    step_view,
    view_question,
    view_sent,
)

STYLES = tuple(map(Path(__file__).with_name, ("page.css", "results.css")))
_LOOKS = 0.2
"""Seconds between two looks at how far searches, indexing and answers are."""
_Shown = TypeVar("_Shown")
_View: TypeAlias = Callable[[_Shown], Any]


class _Actions(Element, component="actions.js", esm={"oprag-play": "web"}):
    pass


class _Files(Element, component="files.js"):
    pass


class _Asking(Element, component="asking.js"):
    pass


class _Strips(Element, component="strips.js"):
    pass


class _Answers(Element, component="answers.js"):
    pass


class _Passages(Element, component="passages.js"):
    pass


class _Reader(Element, component="reader.js"):
    pass


class Page:
    """One loading of the page in a tab.

    Args:
        session: The session of the tab; it outlives the page.
        answering: The answers of the tab; they outlive the page too.
    """

    def __init__(self, session: Session, answering: Answering) -> None:
        self._session = session
        self._answering = answering
        self._seen = -1
        self._made: dict[str, tuple[object, str]] = {}
        self._wanted: Callable[[], None] | None = None
        self._busy = False

    def build(self, link: Mapping[str, str]) -> None:
        """Make the parts, and fill them with the state of the session.

        Args:
            link: A question and its options, if the page was opened by a link.
        """
        self._follow(link)
        with ui.element("header").classes("op-header"):
            with ui.element("h1"):
                ui.html("oprag play", sanitize=False, tag="span")
            with ui.element("p").classes("op-note"):
                text = "The same passages, best first and in the author’s order."
                ui.html(text, sanitize=False, tag="span")
            self._actions = _Actions()
        with ui.element("div").classes("op-grid"):
            self._asking, self._strips = _Asking(), _Strips()
            with ui.element("div").classes("op-results"):
                self._answers, self._reader = _Answers(), _Reader()
            self._passages, self._files = _Passages(), _Files()
        self._files.props["address"] = f"/files?session={self._session.key}"
        self._files.props["limit"] = LARGEST
        self._asking.props["budgets"] = list(BUDGETS)
        self._listen()
        self._fill(self._views())
        ui.timer(_LOOKS, self._look)

    def _follow(self, link: Mapping[str, str]) -> None:
        """Search for the question of a link, and do not ask the model."""
        session, question = self._session, link.get("q", "").strip()
        if not question:
            return
        try:
            options = chosen_options(link, SearchOptions())
        except ValueError:
            options = SearchOptions()
        if (question, options) != (session.question, session.options):
            session.question, session.options = question, options
            Thread(target=session.arrange, args=[options], daemon=True).start()

    def _listen(self) -> None:
        session = self._session
        self._files.on("remove", lambda e: session.remove(str(e.args)))
        self._files.on("refused", self._refuse)
        self._files.on("sample", self._take_sample)
        self._asking.on("ask", self._ask)
        self._asking.on("settings", self._set)
        self._answers.on("answer", self._answering.want)
        for part in (self._strips, self._passages, self._reader):
            part.on("choose", self._choose)
        self._answers.on("choose", self._choose_cited)
        self._answers.on("read", self._choose)
        self._reader.on("page", self._leaf)
        self._reader.on("close", self._close)

    def _refuse(self, event: GenericEventArguments) -> None:
        name, size = str(event.args["name"])[:120], int(event.args["size"])
        self._session.refuse(too_large(name, size) or f"{name} could not be taken.")

    async def _take_sample(self) -> None:
        await self._do(self._session.take_sample)

    async def _ask(self, event: GenericEventArguments) -> None:
        session, question = self._session, str(event.args)

        def ask() -> None:
            session.ask(question)
            self._answering.want()

        await self._do(ask)

    async def _set(self, event: GenericEventArguments) -> None:
        options = chosen_options(event.args, self._session.options)
        await self._do(lambda: self._session.arrange(options))

    async def _do(self, work: Callable[[], None]) -> None:
        """Do work in a thread; if several wait for it, only the last one is done."""
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
        opened = self._session.opened
        # The reader leafs through the open step; all others show the newest.
        step = opened.step if opened and event.sender is self._reader else None
        await self._open(step or self._session.step, int(event.args))

    async def _choose_cited(self, event: GenericEventArguments) -> None:
        await self._open(self._answering.step, int(event.args))

    async def _leaf(self, event: GenericEventArguments) -> None:
        opened = self._session.opened
        if opened is not None:
            await self._open(opened.step, opened.number, int(event.args))

    async def _open(
        self, step: Step | None, number: int, page: int | None = None
    ) -> None:
        if step is not None and 1 <= number <= len(step.retrieved.passages):
            self._session.opened = Opened(step, number, page)
            await self._redraw()

    async def _close(self) -> None:
        self._session.opened = None
        await self._redraw()

    async def _look(self) -> None:
        self._answering.start_wanted()
        if self._session.version != self._seen:
            await self._redraw()

    async def _redraw(self) -> None:
        self._seen = self._session.version
        views = await run.io_bound(self._views)
        if views is not None:  # the program is not ending
            self._fill(views)

    def _views(self) -> dict[str, str | int]:
        session, answering = self._session, self._answering
        step, opened = session.step, session.opened
        question, options = session.question, session.options
        shown = opened is not None and opened.step is step
        answered = answering.step
        return {
            "files": json.dumps(files_view(session)),
            "asking": json.dumps(view_question(session)),
            "asked": question,
            "settings": json.dumps(_settings(options)),
            "step": self._once("step", step, step_view),
            "context": self._once("context", step, view_sent),
            "answers": json.dumps(answers_view(answering)),
            "sent": self._once("sent", answered, passages_view),
            "source": self._once("source", opened, source_view),
            "chosen": opened.number if opened is not None and shown else 0,
            "link": link_to(question, options),
            "python": write_python(question or "…", options),
        }

    def _once(self, name: str, shown: _Shown | None, view: _View[_Shown]) -> str:
        """Return the view of a thing as JSON, made anew only for another thing."""
        if name not in self._made or self._made[name][0] is not shown:
            value = None if shown is None else view(shown)
            self._made[name] = shown, json.dumps(value)
        return self._made[name][1]

    def _fill(self, views: Mapping[str, str | int]) -> None:
        taken: Mapping[Element, tuple[str, ...]] = {
            self._files: ("files",),
            self._asking: ("asking", "asked", "settings"),
            self._strips: ("step", "chosen"),
            self._answers: ("step", "context", "answers", "sent", "chosen"),
            self._reader: ("source",),
            self._passages: ("step", "answers", "chosen"),
            self._actions: ("step", "context", "answers", "sent", "link", "python"),
        }
        for part, names in taken.items():
            for name in names:
                if part.props.get(name) != views[name]:
                    part.props[name] = views[name]


def _settings(options: SearchOptions) -> dict[str, object]:
    shown = ("token_budget", "k", "selection", "widen", "merge")
    return {name: getattr(options, name) for name in shown}
