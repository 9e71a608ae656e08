"""The real program of `oprag play`, and hands for its page, for tests in a browser."""

import base64
import os
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from oprag_cli.play.links import BUDGETS
from tests.cli.play.test_session import QUESTION
from tests.evaluation.reports.browsers import watched
from tests.evaluation.reports.test_page_in_browser import browser
from tests.files.mixed_files import pdf
from tests.kit.openai_server import ScriptedServer
from tests.kit.serving import HOST, listens, serving

__all__ = ["browser"]

PAGES = (
    "The roof leaks above the third floor, and nobody has repaired it.",
    "Repairs above 100 euros are paid by the landlord. The tenant pays all others.",
    "The repair of the roof costs 4,000 euros. The painter comes on Monday.",
)


@contextmanager
def program(folder: Path, *arguments: object):
    def command(port: int) -> list[str]:
        play = [sys.executable, "-m", "oprag_cli", "play", *map(str, arguments)]
        return [*play, "--no-browser", "--port", str(port)]

    env = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(Path.cwd())}
    (folder / "run").mkdir()
    with serving(command, folder / "run", listens, env=env) as port:
        yield f"http://{HOST}:{port}"


DROP = """(given) => {
  const dropped = new DataTransfer();
  for (const [name, data] of given) {
    const bytes = data === null
      ? new Uint8Array(200e6)
      : Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
    dropped.items.add(new File([bytes], name));
  }
  const how = { dataTransfer: dropped, bubbles: true, cancelable: true };
  document.querySelector(".op-drop").dispatchEvent(new DragEvent("drop", how));
}"""
"""Drop files with these names and bytes; without bytes, one of 200 MB."""


def drop(page, *files: Path) -> None:
    """Drop files as a hand does, and wait until they are indexed."""
    given = [(f.name, base64.b64encode(f.read_bytes()).decode()) for f in files]
    page.evaluate(DROP, given)
    for file in files:
        name = page.locator(".op-name", has_text=file.name).first
        name.wait_for(state="attached", timeout=60_000)  # the list is folded
    settled(page)


def settled(page) -> None:
    said = "document.querySelector('.op-files .op-said')?.innerText"
    page.wait_for_function(f"/^[0-9,]+ chunks?,/.test({said})", timeout=300_000)


def ask(page, question: str = QUESTION) -> None:
    page.get_by_role("textbox").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()
    page.locator(".op-strip button").first.wait_for()


def context(page, order: str = "document") -> str:
    """The text that is sent, as it is shown."""
    column = page.locator(f"[aria-labelledby=op-{order}] .op-context")
    return column.evaluate("shown => shown.textContent")


def set_budget(page, tokens: int) -> None:
    page.get_by_role("slider", name="Budget").evaluate(
        """(slider, at) => {
          slider.value = at;
          slider.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        BUDGETS.index(tokens),
    )
    page.get_by_text(f" of {tokens:,} tokens").wait_for()


@pytest.fixture
def open_tab(browser):
    """Open the page in a new tab; in `troubles` what it said or fetched elsewhere."""
    opened = []

    def open_it(url: str, **how):
        context = browser.new_context(viewport={"width": 1280, "height": 860}, **how)
        own = url.partition("/?")[0]
        speaks = own.replace("http", "ws")
        page = watched(context.new_page(), own, speaks, "data:", "blob:")
        page.on("dialog", lambda said: page.troubles.append(said.message))
        page.goto(url)
        page.get_by_role("heading", name="Files").wait_for(state="attached")
        opened.append(context)
        return page

    yield open_it
    for context in opened:
        context.close()


@pytest.fixture
def report(tmp_path) -> Path:
    pdf(tmp_path / "report.pdf", PAGES)
    return tmp_path / "report.pdf"


@contextmanager
def answering_program(folder: Path, script, *arguments: object):
    """The page with a chat model that answers from a script; its requests too."""
    with ScriptedServer(script) as model, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", model.base_url)
        patch.setenv("OPENAI_API_KEY", "none")
        named = ["--model", "openai:scripted", "--directory", folder / "index"]
        with program(folder, *arguments, *named) as url:
            yield url, model.requests
