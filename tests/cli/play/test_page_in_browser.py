"""`oprag play`, the real program, used in a real browser."""

import base64
import os
import random
import re
import socket
import statistics
import sys
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from oprag.cli.app import app
from tests.cli.play.test_session import QUESTION
from tests.evaluation.reports.browsers import watched
from tests.evaluation.reports.test_page_in_browser import browser
from tests.files.mixed_files import LEASE, MEETING, pdf
from tests.kit.serving import HOST, listens, serving

__all__ = ["browser"]

pytestmark = pytest.mark.browser

PAGES = (
    "The roof leaks above the third floor, and nobody has repaired it.",
    "Repairs above 100 euros are paid by the landlord. The tenant pays all others.",
    "The repair of the roof costs 4,000 euros. The painter comes on Monday.",
)
HOSTILE = "<img src=x onerror=alert(1)>.txt"
CHUNKS = 5_000
WORDS = [
    f"{a}{b}{c}"
    for a in "bdfglmnprst"
    for b in ("an", "el", "ir", "om")
    for c in "aeiou"
]


@contextmanager
def program(folder: Path, *arguments: object):
    def command(port: int) -> list[str]:
        play = [sys.executable, "-m", "oprag", "play", *map(str, arguments)]
        return [*play, "--no-browser", "--port", str(port)]

    env = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(Path.cwd())}
    (folder / "run").mkdir()
    with serving(command, folder / "run", listens, env=env) as port:
        yield f"http://{HOST}:{port}"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("play")
    with program(folder, "--directory", folder / "index") as url:
        yield url


@pytest.fixture
def open_tab(browser):
    """Open the page in a new tab; in `troubles` what it said or fetched elsewhere."""
    opened = []

    def open_it(url: str, **how):
        context = browser.new_context(viewport={"width": 1280, "height": 860}, **how)
        own = (url, "data:", url.replace("http", "ws"))
        page = watched(context.new_page(), *own)
        page.on("dialog", lambda said: page.troubles.append(said.message))
        page.goto(url)
        page.get_by_role("heading", name="Files").wait_for()
        opened.append(context)
        return page

    yield open_it
    for context in opened:
        context.close()


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
        page.get_by_text(file.name).first.wait_for(timeout=60_000)
    settled(page)


def settled(page) -> None:
    said = "document.querySelector('.op-files .op-said')?.innerText"
    page.wait_for_function(f"/^[0-9,]+ chunks?,/.test({said})", timeout=300_000)


def ask(page, question: str = QUESTION) -> None:
    page.get_by_role("textbox").fill(question)
    page.get_by_role("button", name="Ask").click()
    page.locator(".op-passage").first.wait_for()


def context(page) -> str:
    return page.locator(".op-context").evaluate("shown => shown.textContent")


def set_budget(page, tokens: int) -> None:
    page.get_by_role("slider", name="Budget").evaluate(
        """(slider, tokens) => {
          slider.value = tokens;
          slider.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        tokens,
    )
    page.get_by_text(f" of {tokens:,} tokens").wait_for()


def printed(file: Path, index: Path, *options: str) -> str:
    """The output of `oprag context` for the same."""
    command = ["context", str(file), QUESTION, "--plain", "--directory", str(index)]
    command += options
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    return result.stdout_bytes.decode().removesuffix("\n")


@pytest.fixture
def report(tmp_path) -> Path:
    pdf(tmp_path / "report.pdf", PAGES)
    return tmp_path / "report.pdf"


def test_a_pdf_is_dropped_asked_moved_reordered_and_opened(
    open_tab, address, report, tmp_path
):
    page = open_tab(address)
    drop(page, report)
    ask(page)
    index = tmp_path / "index"

    assert context(page) == printed(report, index)

    for tokens in (500, 40_000):
        set_budget(page, tokens)
        assert context(page) == printed(report, index, "--token-budget", str(tokens))

    page.get_by_role("combobox", name="Order").select_option("rank")
    page.locator(".op-orders b").filter(has_text="sent").wait_for()
    expected = printed(report, index, "--token-budget", "40000", "--order", "rank")
    page.wait_for_function(
        "text => document.querySelector('.op-context')?.textContent === text",
        arg=expected,
    )

    page.locator(".op-passage").first.click()
    image = page.get_by_role("img", name="The page with passage 1 marked")
    image.wait_for()
    assert image.evaluate("image => image.naturalWidth") == 900
    marked = page.locator(".op-source mark").all_inner_texts()
    assert " ".join(marked).strip() in expected
    assert page.troubles == []


def test_a_refresh_keeps_the_state_and_two_tabs_do_not_mix(
    open_tab, address, report, tmp_path
):
    (tmp_path / "meeting.txt").write_bytes(MEETING.encode())
    one, other = open_tab(address), open_tab(address)
    drop(one, report)
    ask(one)
    set_budget(one, 1500)
    drop(other, tmp_path / "meeting.txt")
    before = context(one)

    one.reload()
    one.locator(".op-passage").first.wait_for()

    assert context(one) == before
    assert one.get_by_role("slider", name="Budget").input_value() == "1500"
    assert one.get_by_role("textbox").input_value() == QUESTION
    assert one.locator(".op-files .op-name").all_inner_texts() == ["report.pdf"]
    assert other.locator(".op-files .op-name").all_inner_texts() == ["meeting.txt"]
    assert other.get_by_role("textbox").input_value() == ""
    assert one.troubles == other.troubles == []


def test_a_file_that_does_not_come_whole_is_refused_and_markup_is_text(
    open_tab, address, tmp_path
):
    hostile = tmp_path / HOSTILE
    hostile.write_text(
        "<script>alert(1)</script><b>Repairs</b> are paid by whom? {{ 7*7 }}"
    )
    page = open_tab(address)

    with page.expect_request("**/files?*") as sent:
        drop(page, hostile)
    way = sent.value.url.removeprefix(address).partition("&name=")[0]
    host = address.removeprefix("http://")
    with socket.create_connection(host.split(":")) as broken_off:
        head = f"POST {way}&name=half.txt HTTP/1.1\r\nHost: {host}\r\n"
        broken_off.sendall(f"{head}Content-Length: 9\r\n\r\nhalf".encode())
    page.get_by_text("half.txt could not be taken: it did not arrive").wait_for()
    page.evaluate(DROP, [["huge.txt", None]])
    page.get_by_text("huge.txt has 200 MB").wait_for()
    ask(page, "<img src=x onerror=alert(2)>{{ 7*7 }}")

    assert page.locator(".op-files .op-name").all_inner_texts() == [HOSTILE]
    assert page.locator("main script, main b > img, img[src=x]").count() == 0
    page.get_by_role("tab", name="Context").click()
    assert "<script>alert(1)</script>" in context(page)
    assert page.troubles == []


def test_the_keyboard_is_enough_on_a_small_screen(open_tab, address, tmp_path):
    (tmp_path / "lease.md").write_text(LEASE)
    page = open_tab(address)
    page.set_viewport_size({"width": 390, "height": 844})
    drop(page, tmp_path / "lease.md")

    def tab_to(role: str, name: str | re.Pattern[str]) -> None:
        wanted = page.get_by_role(role, name=name).first
        for _ in range(40):
            page.keyboard.press("Tab")
            if wanted.evaluate("element => element === document.activeElement"):
                return
        pytest.fail(f"{name} is not reached")

    tab_to("textbox", "Question")
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    page.locator(".op-passage").first.wait_for()
    tab_to("slider", re.compile("Budget"))
    page.keyboard.press("ArrowRight")
    page.get_by_text(" of 4,500 tokens").wait_for()
    tab_to("button", re.compile("lease.md, characters"))
    page.keyboard.press("Enter")
    page.locator(".op-source mark").wait_for()
    tab_to("tab", "In the source")
    page.keyboard.press("ArrowLeft")
    page.locator(".op-context").wait_for()

    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.troubles == []


@pytest.mark.parametrize("width", [390, 1280])
def test_a_chosen_passage_is_seen_however_deep_it_stands(
    open_tab, address, tmp_path, width
):
    lines = [f"Line {n} of the log is about the weather.\n" for n in range(400)]
    (tmp_path / "log.txt").write_text("".join([*lines, LEASE]))
    page = open_tab(address)
    page.set_viewport_size({"width": width, "height": 844})
    drop(page, tmp_path / "log.txt")
    ask(page)

    page.locator(".op-passage").last.click()

    from playwright.sync_api import expect

    expect(page.locator(".op-source mark").first).to_be_in_viewport()
    assert page.troubles == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong(open_tab, address, report, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = open_tab(address, color_scheme=scheme)
    drop(page, report)
    ask(page)
    found = []
    for tab in ("Context", "In the source", "Answer"):
        page.get_by_role("tab", name=tab).click()
        if tab == "In the source":
            page.locator(".op-passage").first.click()
            page.locator(".op-source").wait_for()
        results = Axe().run(page)
        found += [
            (tab, v["id"], v["nodes"][0]["html"])
            for v in results.response["violations"]
        ]
    assert found == []


@pytest.mark.parametrize(
    ("header", "status"),
    [({}, 200), ({"host": "evil.example"}, 400), ({"origin": "http://a.example"}, 403)],
)
def test_other_hosts_and_origins_are_refused(address, header, status):
    assert httpx.get(address, headers=header).status_code == status


def test_a_step_of_the_budget_takes_less_than_200_ms_on_5_000_chunks(
    open_tab, tiny_model, tmp_path, record_property
):
    drawn = random.Random(7)  # noqa: S311 -- words of a text
    sentences = [" ".join(drawn.choices(WORDS, k=48)) + "." for _ in range(CHUNKS)]
    (tmp_path / "long.txt").write_text("\n\n".join(map(str.capitalize, sentences)))
    options = ["--embedding-model", tiny_model, "--directory", tmp_path / "index"]
    with program(tmp_path, tmp_path / "long.txt", *options) as url:
        page = open_tab(url)
        settled(page)
        said = page.locator(".op-files .op-said").inner_text()
        assert int(said.split()[0].replace(",", "")) >= CHUNKS
        ask(page)
        page.wait_for_timeout(500)
        took = page.evaluate(
            """async () => {
              const slider = document.querySelector("input[type=range]");
              const said = document.querySelector(".op-strips .op-said");
              const frame = () => new Promise(requestAnimationFrame);
              const took = [];
              for (let tokens = 500; tokens <= 40000; tokens += 500) {
                const begun = performance.now();
                slider.value = tokens;
                slider.dispatchEvent(new Event("input", { bubbles: true }));
                const wanted = " of " + tokens.toLocaleString("en-US") + " tokens";
                while (!said.innerText.includes(wanted)) await frame();
                took.push(performance.now() - begun);
              }
              return took;
            }"""
        )
        assert page.troubles == []
    median, worst = statistics.median(took), max(took)
    record_property("steps", f"median {median:.0f} ms, worst {worst:.0f} ms")
    assert median < 200
