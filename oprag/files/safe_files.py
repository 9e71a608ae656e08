"""Files that a kill leaves whole."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, data: bytes, *, shared: bool = False) -> None:
    """Replace a file so that a kill leaves the old one or the new one.

    Args:
        path: The file.
        data: Its new content.
        shared: Whether other processes may write the same file at this time. Each
            then has its own draft; otherwise the next one replaces a draft that a kill
            left.
    """
    draft = path.with_name(f"{path.name}.{os.getpid() if shared else 'new'}")
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
