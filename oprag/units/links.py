"""Links between documents: those in their texts, or their neighbours in a folder."""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote, urldefrag, urljoin

_TARGET = re.compile(
    # [label](target "title"), and no picture
    r"(?<!!)\[[^\[\]\n]*\]\(\s*(?:<([^<>\n]+)>|((?:[^\s()<>]|\([^\s()<>]*\))+))"
    # [label]: target
    r"|^ {0,3}\[(?!\^)[^\[\]\n]+\]:\s+(?:<([^<>\n]+)>|(\S+))"
    # <a href=target>
    r"|<a\s[^<>]*?\bhref\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))",
    re.MULTILINE | re.IGNORECASE,
)
_WIKI = re.compile(r"\[\[([^\[\]|#\n]+)(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_BLANKS = re.compile(r"[\s_]+")


def find_links(documents: Mapping[str, str]) -> list[tuple[str, str]]:
    """Find the links of documents to one another in their texts.

    Links are Markdown links (inline and by reference), HTML anchors, and wiki links
    (`[[Title]]`, `[[Title|label]]`, `[[Title#section]]`). A target is taken relative
    to the name of the document it is in, as a path or a URL; the rest from `#` or `?`
    on is left out. Names without their ending are also found (`notes/plan` for
    `notes/plan.md`). A wiki title is a name, or its last part without the ending, in
    any case, blanks and underscores being the same; of several such documents the
    first given counts.

    Args:
        documents: Texts by document name.

    Returns:
        Pairs of different names that `documents` has, each once, in the order of the
        documents and of their texts. Links that lead elsewhere are left out.
    """
    names = _Names(documents)
    found: dict[tuple[str, str], None] = {}
    for name, text in documents.items():
        targets = [html.unescape("".join(groups)) for groups in _TARGET.findall(text)]
        others = [names.find_target(name, target) for target in targets]
        others += [names.find_titled(name, title) for title in _WIKI.findall(text)]
        found |= {(name, other): None for other in others if other not in {None, name}}
    return list(found)


def neighbour_links(names: Iterable[str]) -> list[tuple[str, str]]:
    """Link each document with the one before it in the same folder."""
    last: dict[str, str] = {}
    links = []
    for name in names:
        folder = posixpath.dirname(name.replace("\\", "/"))
        if folder in last:
            links.append((last[folder], name))
        last[folder] = name
    return links


class _Names:
    """Documents by all the names that a link may give them."""

    def __init__(self, names: Iterable[str]) -> None:
        self._by_title: dict[str, str] = {}
        self._by_path = {name: name for name in names}
        for name in list(self._by_path):
            bare, _ = posixpath.splitext(name)
            self._by_path.setdefault(posixpath.normpath(name), name)
            self._by_path.setdefault(bare, name)
            for title in (name, bare, posixpath.basename(bare)):
                self._by_title.setdefault(_fold(title), name)

    def find_target(self, source: str, target: str) -> str | None:
        """Return the document that a link in `source` leads to, or None."""
        try:
            path, _ = urldefrag(target)
            joined = urljoin(source, path) if path else source
        except ValueError:  # brackets that are no address
            return None
        plain = path.partition("?")[0]
        beside = posixpath.join(posixpath.dirname(source), plain)
        bare = joined.partition("?")[0]
        for place in (joined, bare, posixpath.normpath(beside), plain.lstrip("/")):
            for name in (place, unquote(place)):
                if name and (found := self._by_path.get(name)) is not None:
                    return found
        return None

    def find_titled(self, source: str, title: str) -> str | None:
        """Return the document that a wiki title means, or None."""
        found = self._by_title.get(_fold(title))
        return self.find_target(source, title.strip()) if found is None else found


def _fold(title: str) -> str:
    return _BLANKS.sub(" ", title).strip().casefold()
