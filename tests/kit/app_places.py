"""Where oprag's components are put in applications: the tables of `docs/apps.md`."""

import re
from pathlib import Path
from typing import NamedTuple

_PAGE = Path(__file__).parents[2] / "docs" / "apps.md"
_ROW = re.compile(r"^\| `(.+?)` \| `(.+)` \| (\w+)(?:: `(.+)`)? \|$", re.MULTILINE)


class Place(NamedTuple):
    id: str
    how: str
    """One Python expression on the names of `ingredients.py`."""
    verdict: str
    """Whether order is kept: yes, no, or error."""
    instead: str
    """Where order is lost: id of a place that keeps it."""


def places(framework: str) -> list[Place]:
    section = _PAGE.read_text("utf-8").partition(f"\n### {framework}\n")[2]
    rows = _ROW.findall(section.partition("\n### ")[0])
    found = [Place(*row)._replace(how=row[1].replace("\\|", "|")) for row in rows]
    kept = {place.id for place in found if place.verdict == "yes"}
    assert {place.instead for place in found} <= {"", *kept}
    assert len({place.id for place in found}) == len(found) > 20
    return found
