"""`llms.txt`, which lists every page for language models, and all of them in one file.

The form is that of https://llmstxt.org: a title, a summary, and lists of links with a
line about each. Links are relative, as nothing says where the site will be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])+)\][\[(][^\])]+[\])]")
_SENTENCE_END = re.compile(r"(?<=[.?])\s")
_SHORT = 25
_INSTALLING = ("`pip install", "Of these", "Nothing else", "Made by", "Written by")
_NO_TEXT = ("#", "|", "```", "- ", "<", "![", ":::")
"""How paragraphs begin that do not say what a page is about."""


def on_page_markdown(markdown: str, *, page: Page, **_: object) -> None:
    """Describe the page by its first sentence, for search engines too."""
    page.meta["description"] = _about(markdown)


def on_env(_: object, *, config: MkDocsConfig, files: Files) -> None:
    """Write both files, in the order of the navigation."""
    groups: dict[str, list[str]] = {}
    texts = []
    for page in _in_order(files):
        group = page.parent.title if page.parent else config.site_name
        line = f"- [{page.title}]({page.url}): {page.meta['description']}"
        groups.setdefault(group, []).append(line)
        texts.append(re.sub(r"^::: .*\n*", "", page.markdown or "", flags=re.MULTILINE))
    lists = [
        "\n\n".join([f"## {group}", "\n".join(lines)])
        for group, lines in groups.items()
    ]
    head = [f"# {config.site_name}", f"> {config.site_description}"]
    site = Path(config.site_dir)
    site.mkdir(parents=True, exist_ok=True)  # the pages are not written yet
    (site / "llms.txt").write_text("\n\n".join([*head, *lists]) + "\n", "utf-8")
    (site / "llms-full.txt").write_text("\n\n".join(texts), "utf-8")


def _in_order(files: Files) -> Iterator[Page]:
    file = files.get_file_from_path("README.md")
    page = file.page if file else None
    while page is not None:
        yield page
        page = page.next_page


def _about(markdown: str) -> str:
    """The first whole sentence that is about the page's matter; else its title."""
    plain = (
        " ".join(_LINK.sub(r"\1", paragraph).replace("**", "").split())
        for paragraph in markdown.split("\n\n")
        if paragraph and not paragraph.startswith(_INSTALLING + _NO_TEXT)
    )
    sentences = (one.rstrip(":") for text in plain for one in _SENTENCE_END.split(text))
    said = (one for one in sentences if len(one) > _SHORT and one[:6] != "Until ")
    return next(said, markdown.partition("\n")[0].lstrip("# "))
