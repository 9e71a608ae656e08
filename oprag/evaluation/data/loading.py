"""Data sets by name, from a local path or from the Hugging Face hub."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from oprag.evaluation.data import infinitebench, longbench, longrag
from oprag.evaluation.data.hub import hub_file, hub_table, parquet_rows, unavailable
from oprag.evaluation.data.infinitebench import read_infinitebench
from oprag.evaluation.data.jsonl import read_jsonl
from oprag.evaluation.data.longbench import read_longbench
from oprag.evaluation.data.longrag import read_longrag
from oprag.evaluation.data.narrativeqa import (
    read_narrativeqa_folder,
    read_narrativeqa_rows,
)
from oprag.evaluation.data.passkey import make_passkey
from oprag.evaluation.data.qasper import read_qasper
from oprag.evaluation.data.quality import read_quality
from oprag.evaluation.data.records import Dataset
from oprag.evaluation.data.rows import JsonlRows, Rows, zip_rows
from oprag.evaluation.errors import check_one_of

_INFINITEBENCH = "xinrongzhang2022/InfiniteBench"
_LONGBENCH = "THUDM/LongBench"
_LONGRAG = "TIGER-Lab/LongRAG"
_NARRATIVEQA = "deepmind/narrativeqa"


class _Set(NamedTuple):
    read: Callable[[str, Path | None, str], Dataset]
    """From the part of the name after the slash, the path and the split."""
    parts: tuple[str, ...]
    """What may follow the slash; empty: nothing."""
    split: str
    """The one that the papers use."""
    path: str
    """What the path is, for people."""


def load(name: str, path: Path | str | None = None, *, split: str = "") -> Dataset:
    """Read a data set of the papers.

    Args:
        name: One of `DATASETS`.
        path: The authors' file, or its folder; see the readers. None: from the
            Hugging Face hub, which keeps what it fetched on this machine.
        split: Where there are several. Empty: the one that the papers use.

    Returns:
        The set. What differs from the papers' counts is in its `notes`, and a
        `DatasetCountWarning` says it.

    Raises:
        DatasetUnavailableError: No path was given and the hub cannot be reached or
            does not have the set.
        InvalidOptionError: There is no such set or split.
        MalformedDataError: A line is not as it should be; with file and line.
        MissingDependencyError: `datasets` is needed and not installed.
        UnreadableFileError: A file is not there.
    """
    check_one_of("name", name, DATASETS)
    family, _, part = name.partition("/")
    known = _SETS[family]
    where = None if path is None else Path(path)
    return known.read(part, where, split or known.split)


def _file(path: Path, *names: str) -> Path:
    """The path itself, or in a folder the first of these files that is there."""
    if not path.is_dir():
        return path
    there = (path / name for name in names if (path / name).is_file())
    return next(there, path / names[0])


def _infinitebench(task: str, path: Path | None, split: str) -> Dataset:
    del split
    name = infinitebench.FILES[task]
    file = hub_file(_INFINITEBENCH, name) if path is None else _file(path, name)
    return read_infinitebench(task, JsonlRows(file))


def _longbench(task: str, path: Path | None, split: str) -> Dataset:
    del split
    name = f"{task}.jsonl"
    member = f"data/{name}"
    if path is None:
        file = hub_file(_LONGBENCH, "data.zip")
    else:
        file = _file(path, name, member, "data.zip")
    rows: Rows = zip_rows(file, member) if file.suffix == ".zip" else JsonlRows(file)
    return read_longbench(task, rows)


def _longrag(task: str, path: Path | None, split: str) -> Dataset:
    if path is None:
        return read_longrag(
            task, hub_table(_LONGRAG, config=task, split=split), split=split
        )
    return read_longrag(task, _table(path, task, split), split=split)


def _table(path: Path, name: str, split: str) -> Rows:
    """A table on disk: JSON Lines, a Parquet file, or the hub's folder of them."""
    if path.suffix == ".parquet":
        return parquet_rows([path])
    for folder in (path / name, path):
        if files := sorted(folder.glob(f"{split}-*.parquet")):
            return parquet_rows(files)
    return JsonlRows(_file(path, f"{name}.jsonl"))


def _narrativeqa(part: str, path: Path | None, split: str) -> Dataset:
    del part
    if path is None:
        name = "validation" if split == "valid" else split
        rows = hub_table(_NARRATIVEQA, config=None, split=name)
        return read_narrativeqa_rows(rows, split=split)
    return read_narrativeqa_folder(path, split=split)


def _quality(part: str, path: Path | None, split: str) -> Dataset:
    del part
    name = f"QuALITY.v1.0.1.htmlstripped.{split}"
    if path is None:
        raise _not_on_hub("quality", f"the file {name} of github.com/nyu-mll/quality")
    return read_quality(JsonlRows(_file(path, name)), split=split)


def _qasper(part: str, path: Path | None, split: str) -> Dataset:
    del part
    name = f"qasper-{split}-v0.3.json"
    if path is None:
        raise _not_on_hub("qasper", f"the file {name} of allenai.org/data/qasper")
    return read_qasper(_file(path, name), split=split)


def _passkey(variant: str, path: Path | None, split: str) -> Dataset:
    del path, split
    # The name is one of DATASETS, so the variant is one of the three.
    return make_passkey(variant)  # type: ignore[arg-type]  # checked by the caller


def _jsonl(part: str, path: Path | None, split: str) -> Dataset:
    del part, split
    if path is None:
        raise _not_on_hub("jsonl", "a folder with docs.jsonl and questions.jsonl")
    return read_jsonl(path)


def _not_on_hub(name: str, what: str) -> Exception:
    reason = "its authors' files are not on the Hugging Face hub"
    return unavailable(name, reason, f"Give the path of {what}.")


_SETS = {
    "infinitebench": _Set(
        _infinitebench,
        tuple(infinitebench.FILES),
        "",
        "the task's .jsonl or its folder",
    ),
    "jsonl": _Set(_jsonl, (), "", "a folder with docs.jsonl and questions.jsonl"),
    "longbench": _Set(
        _longbench, tuple(longbench.TASKS), "", "data.zip, a .jsonl, or its folder"
    ),
    "longrag": _Set(
        _longrag,
        longrag.TASKS,
        "full",
        "the hub's .parquet files or their folder, or .jsonl",
    ),
    "narrativeqa": _Set(_narrativeqa, (), "test", "the authors' repository"),
    "passkey": _Set(_passkey, ("literal", "reworded", "larger"), "", "generated"),
    "qasper": _Set(_qasper, (), "dev", "the split's .json or its folder"),
    "quality": _Set(_quality, (), "dev", "the split's file or its folder"),
}

DATASETS = {
    f"{family}/{part}" if part else family: known.path
    for family, known in _SETS.items()
    for part in known.parts or ("",)
}
"""Names that `load` takes, and what the path of each is."""
