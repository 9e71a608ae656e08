"""Makes the pictures of `docs/images` of the programs as they run: `make recordings`.

`python -m tests.docs.recordings [NAME] …`; without a name, all. The
programs read what ships with Python. Bytes differ from run to run, as times do.
"""

from __future__ import annotations

import csv
import io
import os
import pty
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from pydoc_data.topics import topics
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from tests.docs.before_after import draw
from tests.evaluation.reports.browsers import find_browser

if TYPE_CHECKING:
    from playwright.sync_api import Page

IMAGES = Path(__file__).parents[2] / "docs" / "images"
OPRAG = (sys.executable, "-m", "oprag_cli")
COLUMNS = 100

ASKED = Path(__file__).with_name("recorded_questions.csv")
"""Topics of Python's reference, a question on each and what its answer has to say."""

QUESTION = "What happens to an exception that nothing handles?"
"""The question to the page of `oprag play`."""


def on_a_terminal(*arguments: str) -> str:
    """Run `oprag` in a terminal of its own; give what it writes there, but messages."""
    main, program = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    process = subprocess.Popen(
        [*OPRAG, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=program,
        stderr=subprocess.DEVNULL,  # where progress is drawn, over and over
        env={**environment, "COLUMNS": str(COLUMNS)},
    )
    os.close(program)
    written = b""
    try:
        while read := os.read(main, 65_536):
            written += read
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(main)
    if process.wait():
        raise RuntimeError(written.decode())
    return written.decode().replace("\r\n", "\n")


def drawn(written: Text, title: str) -> str:
    """Draw what a terminal shows, as SVG that loads nothing from elsewhere."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(written)
    svg = console.export_svg(title=title, unique_id="oprag")
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


def demo(folder: Path) -> None:
    """`oprag demo`, up to its second question."""
    command = ("demo", "--directory", str(folder / "index"))
    subprocess.run([*OPRAG, *command], check=True, capture_output=True)
    written = Text.from_ansi(f"$ oprag demo\n{on_a_terminal(*command)}")
    end = written.plain.rindex("\n-", 0, written.plain.index("2 of 3: "))
    (IMAGES / "demo.svg").write_text(drawn(written[:end], "oprag demo"), "utf-8")


@contextmanager
def opened(address: str, width: int, height: int) -> Iterator[Page]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        program = find_browser(playwright.chromium.executable_path)
        browser = playwright.chromium.launch(executable_path=program)
        page = browser.new_page(viewport={"width": width, "height": height})
        page.goto(address)
        yield page
        browser.close()


def photograph(page: Page, name: str) -> None:
    """Keep what a page shows in 256 colours: a third of the bytes, and alike."""
    from PIL import Image

    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    reduced = shot.quantize(method=Image.Quantize.MAXCOVERAGE)
    reduced.save(IMAGES / name, optimize=True)


def documents(folder: Path) -> None:
    folder.mkdir()
    with ASKED.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            topic = row["document"].removesuffix(".txt")
            (folder / row["document"]).write_text(topics[topic], "utf-8")


def report(folder: Path) -> None:
    """The page of `oprag sweep`, without a chat model."""
    documents(folder / "reference")
    command = ("sweep", "reference", "--questions", str(ASKED), "--out", "run")
    subprocess.run([*OPRAG, *command], check=True, cwd=folder)
    with opened((folder / "run" / "report.html").as_uri(), 1100, 1200) as page:
        photograph(page, "report.png")


def play(folder: Path) -> None:
    """The page of `oprag play`: asked a question, with a passage opened."""
    documents(folder / "reference")
    command = ("play", "reference", "--no-browser", "--port", "0")
    with subprocess.Popen(
        [*OPRAG, *command, "--directory", "index"],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            found = (re.search(r"http://\S+", line) for line in server.stderr or ())
            address = next(filter(None, found))[0]
            with opened(address, 1400, 900) as page:
                page.get_by_role("textbox", name="Question").fill(QUESTION)
                page.get_by_role("button", name="Ask", exact=True).click()
                page.locator(".op-strip button").first.wait_for(timeout=600_000)
                page.get_by_role("slider", name="Budget").fill("2")
                page.get_by_text("of 2,000 tokens").wait_for()
                page.locator(".op-row-document button").nth(1).click()
                page.locator(".op-panel mark").first.wait_for()
                page.wait_for_timeout(500)  # the texts move beside the source
                photograph(page, "play.png")
        finally:
            server.terminate()


def before_after(_: Path) -> None:
    """The README's cards, wide and narrow."""
    draw(IMAGES)


PICTURES: Mapping[str, Callable[[Path], None]] = {
    "before_after": before_after,
    "demo": demo,
    "play": play,
    "report": report,
}
"""The pictures, each with what makes it."""


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or PICTURES:
        with tempfile.TemporaryDirectory() as folder:
            PICTURES[name](Path(folder))
        sys.stdout.write(f"made the picture of {name}\n")


if __name__ == "__main__":
    main()
