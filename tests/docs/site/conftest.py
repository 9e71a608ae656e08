"""The documentation site, built once; `make docs` names the folder of its own."""

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.evaluation.reports.test_page_in_browser import browser


class Html(HTMLParser):
    """The places, links and headings of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        self.ids: list[str] = []
        self.links: list[str] = []
        """Where links of the text and the menus lead."""
        self.loaded: list[str] = []
        """The files that a browser fetches with the page."""
        self.headings: list[int] = []
        self.images_without_text: list[str] = []
        self.metas: dict[str, str] = {}
        self.steps = ""
        """The data of the slider."""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = {name: value or "" for name, value in attrs}
        self.ids += [values[name] for name in ("id", "name") if name in values]
        self.steps = values.get("data-steps", self.steps)
        is_led_to = tag == "a" or values.get("rel") in {"next", "prev"}
        if "href" in values:
            (self.links if is_led_to else self.loaded).append(values["href"])
        elif "src" in values:
            self.loaded.append(values["src"])
        elif tag == "meta" and "name" in values:
            self.metas[values["name"]] = values["content"]
        if tag == "img" and not values.get("alt"):
            self.images_without_text.append(values["src"])
        if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self.headings.append(int(tag[1]))


__all__ = ["browser"]

ROOT = Path(__file__).parents[3]
BUILT = os.environ.get("OPRAG_SITE")


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """The folder of the site, built without a network; a warning is an error."""
    if BUILT:
        return ROOT / BUILT
    folder = tmp_path_factory.mktemp("site")
    code = (
        "from mkdocs.__main__ import cli\n"
        "from tests.docs.blocks import stay_offline\n"
        "stay_offline()\n"
        f"cli(['build', '--strict', '--quiet', '--site-dir', {str(folder)!r}])\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="session")
def pages(site) -> dict[str, Html]:
    return {
        path.relative_to(site).as_posix(): Html(path.read_text("utf-8"))
        for path in sorted(site.rglob("*.html"))
    }
