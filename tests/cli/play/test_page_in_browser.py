"""`oprag play`, the real program, used in a real browser."""

import base64
import random
import re
import socket
import statistics
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from oprag_cli.app import app
from tests.cli.play.pages import (
    DROP,
    ask,
    browser,
    context,
    drop,
    open_tab,
    program,
    report,
    set_budget,
    settled,
)
from tests.cli.play.test_session import QUESTION
from tests.files.mixed_files import LEASE

__all__ = ["browser", "open_tab", "report"]

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)>.txt"
CHUNKS = 5_000
WORDS = [
    f"{a}{b}{c}"
    for a in "bdfglmnprst"
    for b in ("an", "el", "ir", "om")
    for c in "aeiou"
]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("play")
    with program(folder, "--directory", folder / "index") as url:
        yield url


def printed(file: Path, index: Path, *options: str) -> str:
    """The output of `oprag context` for the same."""
    command = ["context", str(file), QUESTION, "--directory", str(index)]
    command += options
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    return result.stdout_bytes.decode()


def test_a_pdf_is_dropped_asked_moved_and_opened(open_tab, address, report, tmp_path):
    page = open_tab(address)
    drop(page, report)
    ask(page)
    index = tmp_path / "index"

    # Of a dropped file the name has no folder.
    def as_printed(*options):
        return printed(report, index, *options).replace(f"{tmp_path.name}/", "")

    assert context(page) == as_printed()
    for tokens in (500, 16_000):
        set_budget(page, tokens)
        assert context(page) == as_printed("--token-budget", str(tokens))
    fits = page.locator(".op-fits").inner_text()
    assert re.fullmatch(r"fits (\d+) of \1 chunks?", fits)
    assert sorted(context(page)) == sorted(context(page, "rank"))

    page.locator(".op-row-rank button").first.click()
    image = page.get_by_role("img", name=re.compile("The page with passage . marked"))
    image.wait_for()
    assert image.evaluate("image => image.naturalWidth") == 1400
    marked = page.locator(".op-source mark").all_inner_texts()
    assert " ".join(marked).strip() in context(page)

    fitting = image.bounding_box()["width"]
    page.get_by_role("button", name="Larger").click()
    assert image.bounding_box()["width"] == pytest.approx(1.5 * fitting, rel=0.02)
    page.get_by_role("button", name="Fit width").click()
    assert image.bounding_box()["width"] == pytest.approx(fitting)
    page.get_by_role("button", name="Close the source").click()
    page.locator(".op-reader").wait_for(state="detached")
    assert page.troubles == []


def test_both_texts_keep_to_their_columns_beside_a_source(open_tab, address, tmp_path):
    lines = [f"Line {n} of the log is about the weather at sea.\n" for n in range(900)]
    (tmp_path / "log.txt").write_text("".join(lines))
    page = open_tab(address)
    page.set_viewport_size({"width": 1400, "height": 900})
    drop(page, tmp_path / "log.txt")
    ask(page)
    set_budget(page, 2000)
    page.locator(".op-row-document button").nth(1).click()
    page.locator(".op-source mark").first.wait_for()
    page.wait_for_timeout(300)

    widths = page.evaluate(
        """() => [...document.querySelectorAll(".op-column")].map(
          (column) => [column.offsetWidth, column.querySelector("pre").offsetWidth])"""
    )
    assert len({width for column in widths for width in column}) == 1
    assert page.troubles == []


def test_passages_are_leafed_through(open_tab, address, report):
    page = open_tab(address)
    drop(page, report)
    ask(page)
    numbers = page.locator(".op-row-document button").count()
    page.locator(".op-row-document button").first.click()

    assert numbers == 3
    for number in (1, 2, 3, 2):
        page.get_by_role("heading", name=f"Passage {number}: report.pdf").wait_for()
        back = "‹ Passage" if number == 3 else "Passage ›"
        page.get_by_role("button", name=back).click()

    page.get_by_role("heading", name="Passage 3: report.pdf").wait_for()
    assert page.get_by_role("button", name="Passage ›").is_disabled()
    assert page.troubles == []


FIRST_CHARACTER = """shown => {
  const texts = document.createTreeWalker(shown, NodeFilter.SHOW_TEXT);
  let text = texts.nextNode();
  while (!text.data.trim()) text = texts.nextNode();
  const range = document.createRange();
  range.setStart(text, 0);
  range.setEnd(text, 1);
  const box = shown.getBoundingClientRect();
  return (range.getBoundingClientRect().left - box.left) / box.width;
}"""
"""How far from the left the first character of an element is, as a share of it."""


@pytest.mark.parametrize(
    ("text", "from_the_right"),
    [("השוכר משלם את שכר הדירה.", True), ("The tenant pays.", False)],
)
def test_text_begins_at_the_side_from_which_it_is_read(
    open_tab, address, tmp_path, text, from_the_right
):
    page = open_tab(address)
    (tmp_path / "lease.txt").write_text(text, "utf-8")
    drop(page, tmp_path / "lease.txt")
    ask(page)
    page.locator(".op-row-document button").first.click()
    source = page.locator(".op-source")
    source.wait_for()

    assert (source.evaluate(FIRST_CHARACTER) > 0.5) is from_the_right


def test_ten_tabs_do_not_mix(open_tab, address, tmp_path):
    names = [f"file{number}.txt" for number in range(10)]
    tabs = [open_tab(address) for _ in names]
    for tab, name in zip(tabs, names, strict=True):
        (tmp_path / name).write_text(f"Repairs of {name} are paid by {name[:-4]}.")
        given = [[name, base64.b64encode((tmp_path / name).read_bytes()).decode()]]
        tab.evaluate(DROP, given)
    for tab in tabs:
        settled(tab)
        ask(tab)

    for tab, name in zip(tabs, names, strict=True):
        assert tab.locator(".op-files .op-name").all_text_contents() == [name]
        assert set(re.findall(r"file\d", context(tab))) == {name[:-4]}
        assert tab.troubles == []


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

    assert page.locator(".op-files .op-name").all_text_contents() == [HOSTILE]
    assert page.locator("main script, main b > img, img[src=x]").count() == 0
    assert "<script>alert(1)</script>" in context(page)
    assert page.troubles == []


def test_the_keyboard_is_enough_on_a_small_screen(open_tab, address, tmp_path):
    (tmp_path / "lease.md").write_text(LEASE)
    from playwright.sync_api import expect

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
    page.locator(".op-strip button").first.wait_for()
    expect(page.locator(".op-row-rank h3")).to_be_in_viewport()
    tab_to("slider", re.compile("Budget"))
    page.keyboard.press("ArrowRight")
    page.get_by_text(" of 8,000 tokens").wait_for()
    tab_to("button", re.compile("Passage 1: lease.md"))
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.locator(".op-source mark").wait_for()
    expect(page.locator(".op-reader h2")).to_be_focused()
    expect(page.locator(".op-source mark").first).to_be_in_viewport()
    page.keyboard.press("Escape")
    page.locator(".op-reader").wait_for(state="detached")
    tab_to("button", re.compile("lease.md|characters"))
    page.keyboard.press("Enter")
    page.locator(".op-source mark").wait_for()

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

    page.locator(".op-row-document button").last.click()

    from playwright.sync_api import expect

    expect(page.locator(".op-source mark").first).to_be_in_viewport()
    assert page.troubles == []


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
              for (let step = 0; step < 24; step++) {
                const begun = performance.now();
                const tokens = [500, 1000, 2000, 4000, 8000, 16000][step % 6];
                slider.value = step % 6;
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
