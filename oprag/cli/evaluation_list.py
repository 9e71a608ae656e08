"""What `oprag evaluate --list` shows."""

from __future__ import annotations

from collections.abc import Iterator

from oprag.evaluation.catalogue import SYSTEMS
from oprag.evaluation.data import DATASETS


def listing() -> Iterator[str]:
    """Return the data sets and the systems, with the settings that these take."""
    yield "Data sets (--data NAME=PATH), and what the path is:"
    width = max(map(len, DATASETS))
    for name, path in DATASETS.items():
        yield f"  {name.ljust(width)}  {path}"
    yield ""
    yield "Systems (--systems NAME or NAME:KEY=VALUE,KEY=VALUE):"
    for entry in SYSTEMS.values():
        settings = ", ".join(f"{key}={_told(v)}" for key, v in entry.settings.items())
        yield f"  {entry.name}: {entry.description}"
        yield f"    {settings}"


def _told(value: object) -> str:
    """A default as it is written on the command line."""
    if value is None:
        return "none"
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)
