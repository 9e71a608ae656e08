"""Two processes that index the same folder into the same store at the same moment."""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.kit.killed_indexing import AFTER, BEFORE, PACKAGES, forked, open_store, write


def main(framework: str, kind: str, clean: str, texts: Path, place: str) -> None:
    """Index into an empty store, then into one that holds `BEFORE`.

    Args:
        framework: `langchain` or `llamaindex`.
        kind: One of `KINDS`.
        clean: Where the documents are indexed once, to compare with.
        texts: Where they are written.
        place: The empty store.

    Writes, as JSON, what each process said, and whether the store holds what the
    clean one does.
    """
    warnings.simplefilter("ignore")
    for package in (f"{framework}_oprag.indexing", *PACKAGES[framework, kind]):
        importlib.import_module(package)
    write(texts, AFTER)
    wanted = forked(lambda: _content(framework, kind, clean, texts))
    said = []
    for start in ({}, BEFORE):
        write(texts, start)
        forked(lambda: _index(framework, kind, place, texts))
        write(texts, AFTER)
        said += _together(framework, kind, place, texts)
        left = forked(lambda: _content(framework, kind, place))
        said.append("as clean" if left == wanted else f"{len(left)} rows")
    sys.stdout.write(json.dumps(said))


def _index(framework: str, kind: str, place: str, texts: Path) -> None:
    index = open_store(framework, kind, place).index
    if any(texts.iterdir()):
        index(texts)


def _content(
    framework: str, kind: str, place: str, texts: Path | None = None
) -> list[Any]:
    from tests.kit.interrupted import content

    opened = open_store(framework, kind, place)
    if texts is not None:
        opened.index(texts)
    return content(opened.chunks)


def _together(framework: str, kind: str, place: str, texts: Path) -> list[str]:
    """The output of two processes that begin at the same moment."""
    waiting, start = os.pipe()
    children = []
    for _ in range(2):
        answer, give = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(start)
                index = open_store(framework, kind, place).index
                os.write(give, b".")
                os.read(waiting, 1)
                os.write(give, _said(index, texts).encode())
                os._exit(0)
            except BaseException:  # noqa: BLE001 -- a fork must not go on as the script
                traceback.print_exc()
                os._exit(1)
        os.close(give)
        children.append((child, answer))
    os.close(waiting)
    for _, answer in children:
        assert os.read(answer, 1) == b"."
    os.close(start)  # now
    said = []
    for child, answer in children:
        with os.fdopen(answer) as pipe:
            said.append(pipe.read())
        assert os.waitpid(child, 0)[1] == 0, "see above"
    return said


def _said(index: Callable[[Path], Any], texts: Path) -> str:
    from oprag.errors import IndexingError

    try:
        report = index(texts)
    except IndexingError as error:
        return str(error)
    return "did all" if report.chunks_added else "found it done"


if __name__ == "__main__":
    main(*sys.argv[1:4], Path(sys.argv[4]), sys.argv[5])
