"""Reads what a model was shown: characters of sources, numbers, lines for the rest."""

import re
from collections.abc import Mapping
from itertools import pairwise

_WRITTEN = re.compile(r"\[(\d+)\] (\S+), characters ([\d\- and]+)|\[see above: (.+)\]")

Places = list[tuple[str, int]]
"""Characters, each by its document and where it stands."""


class ShownText:
    """All that is read of some sources; each number means one passage."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.sources = sources
        self.numbers: dict[int, tuple[str, str]] = {}
        """The document and the text that was read under each number."""

    def read(self, *contents: str) -> Places:
        """Contents one after another: their places, no two the same."""
        shown: Places = []
        above: set[str] = set()
        for content in contents:
            places: Places = []
            for found in _WRITTEN.finditer(content):
                number, name, spans, rest = found.groups()
                if rest:
                    assert {*re.findall(r"\d+", rest)} <= above
                    continue
                ends = [map(int, each.split("-")) for each in spans.split(" and ")]
                parts = [range(start, end) for start, end in ends]
                text = "\n".join(self.sources[name][p.start : p.stop] for p in parts)
                assert content.startswith(text, found.end() + 1)
                meant = self.numbers.setdefault(int(number), (name, text))
                assert meant == (name, text)
                above.add(number)
                places += [(name, n) for part in parts for n in part]
            assert all(a < b for a, b in pairwise(places) if a[0] == b[0])
            names = [name for name, _ in places]
            assert len({*names}) == sum(a != b for a, b in pairwise(["", *names]))
            shown += places
        assert len(shown) == len({*shown})
        return shown
