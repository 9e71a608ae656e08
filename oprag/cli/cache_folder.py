"""Where the command line keeps what it need not make twice."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """Return the folder for oprag in the user's cache folder, as each system has it."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    if Path(named).is_absolute():
        return Path(named) / "oprag"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "oprag"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home()) / "oprag" / "cache"
    return Path.home() / ".cache" / "oprag"
