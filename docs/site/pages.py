"""Pages outside `docs/`, and how pages link to one another and to files.

The README is the front page; the benchmarks, the changelog and CONTRIBUTING are pages,
too, read from where they are. MkDocs calls the functions that begin with `on_`.
"""

from __future__ import annotations

import posixpath
import re
import tomllib
from importlib.metadata import version
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]

_OUTSIDE = ("*.md", "benchmarks/*.md", "benchmarks/*.svg")
_LEFT_OUT = (InclusionLevel.EXCLUDED, InclusionLevel.DRAFT)

_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_SOURCE = re.compile(r'\b(src|srcset)="docs/')
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])+)\]\(([^()\s]+)\)")


_TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
_ROW = re.compile(r"<tr(?: [^>]*)?>.*?</tr>", re.DOTALL)
_HEADING = re.compile(r"<th(?: [^>]*)?>(.*?)</th>", re.DOTALL)
_CELL = re.compile(r"<td(?=[ >])")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Name the version, and link the repository if `pyproject.toml` has its address."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    config.copyright = f"oprag {version('oprag')}, MIT licence"
    config.repo_url = project.get("urls", {}).get("Source")
    config.repo_name = "Source"
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages from elsewhere in the repository."""
    for path in sorted(path for kind in _OUTSIDE for path in ROOT.glob(kind)):
        uri = path.relative_to(ROOT).as_posix()
        files.append(File.generated(config, uri, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, *, page: Page, files: Files, **_: object) -> str:
    """Let links lead to pages and pictures; other files of the repository are named."""
    here = page.file.src_uri

    def lead(link: re.Match[str]) -> str:
        picture, text, target = link.groups()
        if re.match(r"\w+:|#", target):
            return link[0]
        path, mark, anchor = target.partition("#")
        place = posixpath.normpath(posixpath.join(_folder(here), path))
        uri = place.removeprefix("docs/")
        file = files.get_file_from_path(uri)
        if file is None or file.inclusion in _LEFT_OUT:
            return text if place in text else f"{text} (`{place}`)"
        relative = posixpath.relpath(uri, posixpath.dirname(here) or ".")
        return f"{picture}[{text}]({relative}{mark}{anchor})"

    parts = _FENCED.split(markdown)
    parts[::2] = [_LINK.sub(lead, part) for part in parts[::2]]
    if here == "README.md":
        parts[::2] = [_SOURCE.sub(r'\1="', part) for part in parts[::2]]
    return "".join(parts)


def on_page_content(html: str, **_: object) -> str:
    """Let tables have no empty heading, and cells that say which column they are of.

    On a narrow screen a row is a card, with these names instead of headings. A browser
    then forgets that it is a table, so the roles are written.
    """
    return _TABLE.sub(lambda table: _named_cells(table[0]), html)


def _named_cells(table: str) -> str:
    headings = [re.sub(r"<[^>]+>|\"", "", text) for text in _HEADING.findall(table)]
    if len(headings) == len(_ROW.findall(table)):
        return table  # headings of rows: a table without names for its columns

    if not any(headings):
        table = re.sub(r"<thead>.*?</thead>", "", table, flags=re.DOTALL)

    def named(row: re.Match[str]) -> str:
        names = iter(headings)
        return _CELL.sub(
            lambda _: f'<td role="cell" data-of="{next(names, "")}"', row[0]
        )

    table = _ROW.sub(named, table).replace("<th></th>", '<td role="cell"></td>')
    table = table.replace("<th", '<th role="columnheader"').replace(
        '<th role="columnheader"ead>', '<thead role="rowgroup">'
    )
    table = table.replace("<tbody>", '<tbody role="rowgroup">')
    return table.replace("<tr", '<tr role="row"').replace(
        "<table>", '<table role="table">'
    )


def _folder(uri: str) -> str:
    """Return the folder of the repository that holds a page's text."""
    outside = (ROOT / uri).exists()
    return posixpath.dirname(uri if outside else f"docs/{uri}")
