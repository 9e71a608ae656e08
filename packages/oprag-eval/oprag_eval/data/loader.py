"""Data sets by name, from a local path or from the Hugging Face hub."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, get_args

from oprag.calls import read_error_message
from oprag.errors import UnreadableFileError, invalid_option
from oprag_eval.data import longrag
from oprag_eval.data.long_contexts import TASKS, read_long_contexts
from oprag_eval.data.narrativeqa import read_narrativeqa
from oprag_eval.data.passkey import PasskeyVariant, make_passkey
from oprag_eval.data.quality import read_quality
from oprag_eval.data.records import Dataset
from oprag_eval.data.rows import Rows, json_rows, zip_rows


def hub_file(repository: str, name: str) -> Path:
    """Fetch one file of a data set, once; it is kept in the hub's cache."""
    import huggingface_hub as hub

    with _fetching(f"{repository}/{name}"):
        return Path(hub.hf_hub_download(repository, name, repo_type="dataset"))


def table_rows(name: str, *source: str | None, **options: Any) -> Rows:
    """Open a table of the hub, which fetches it once, or of files."""
    import datasets

    with _fetching(name):
        table = datasets.load_dataset(*source, **options)
    return Rows(name, enumerate(table, 1))


@contextmanager
def _fetching(name: str) -> Iterator[None]:
    """Tell what to do without a network, or without the set."""
    from datasets.exceptions import DatasetGenerationError
    from huggingface_hub.errors import HfHubHTTPError

    kinds = OSError, RuntimeError, ValueError, HfHubHTTPError, DatasetGenerationError
    try:
        yield
    except kinds as error:
        said = read_error_message(error).removesuffix(".")
        reason = f"it cannot be read or fetched from the Hugging Face hub ({said})"
        remedy = "Connect to the network once, or download the files and give"
        message = f"{name}: {reason}. {remedy} their path."
        raise UnreadableFileError(message, path=name, reason=reason) from error


def parquet_rows(files: Sequence[Path]) -> Rows:
    """Open Parquet files as one table."""
    name = str(files[0]) if len(files) == 1 else f"{files[0].parent}/*.parquet"
    paths = [str(file) for file in files]
    return table_rows(name, "parquet", data_files=paths, split="train")


_INFINITEBENCH = "xinrongzhang2022/InfiniteBench"
_FILES = {
    "en.qa": "longbook_qa_eng.jsonl",
    "en.mc": "longbook_choice_eng.jsonl",
    "passkey": "passkey.jsonl",
}
_LONGBENCH = "THUDM/LongBench"
_LONGRAG = "TIGER-Lab/LongRAG"
_NARRATIVEQA = "deepmind/narrativeqa"
_QUALITY = "QuALITY.v1.0.1.htmlstripped.dev"


class _Set(NamedTuple):
    read: Callable[[str, Path | None], Dataset]
    """Makes the set from the part of the name after the slash, and the path."""
    path: str
    """The kind of path, for people."""
    parts: tuple[str, ...] = ("",)
    """The names that may follow the slash."""


def load(name: str, path: Path | str | None = None) -> Dataset:
    """Read a data set of the papers, the split that they use.

    Args:
        name: One of `DATASETS`.
        path: The authors' file, or its folder; see the readers. None or empty: from
            the Hugging Face hub, which keeps the files on this machine.

    Returns:
        The set. Its `notes` hold the differences from the papers' counts, and an
        `OpragWarning` says them.

    Raises:
        UnreadableFileError: A file is not there, or a line is not as it should be; no
            path was given, and the hub cannot be reached or does not have the set.
        InvalidOptionError: There is no such set.
    """
    if name not in DATASETS:
        raise invalid_option("name", name, f"It takes one of {', '.join(DATASETS)}.")
    family, _, part = name.partition("/")
    return _SETS[family].read(part, Path(path) if path else None)


def _file(path: Path, *names: str) -> Path:
    """Return the path itself, or in a folder the first of these files that is there."""
    if not path.is_dir():
        return path
    there = (path / name for name in names if (path / name).is_file())
    return next(there, path / names[0])


def _infinitebench(task: str, path: Path | None) -> Dataset:
    name = _FILES[task]
    file = hub_file(_INFINITEBENCH, name) if path is None else _file(path, name)
    return read_long_contexts(f"infinitebench/{task}", json_rows(file))


def _longbench(task: str, path: Path | None) -> Dataset:
    name = f"{task}.jsonl"
    member = f"data/{name}"
    if path is None:
        file = hub_file(_LONGBENCH, "data.zip")
    else:
        file = _file(path, name, member, "data.zip")
    rows = zip_rows(file, member) if file.suffix == ".zip" else json_rows(file)
    return read_long_contexts(f"longbench/{task}", rows)


def _longrag(name: str, path: Path | None) -> Dataset:
    def table(config: str, part: str) -> Rows:
        if path is None:
            name = f"{_LONGRAG}/{config}/{part}"
            return table_rows(name, _LONGRAG, config, split=part)
        return _table(path, config, part)

    task, slash, _ = name.partition("/")
    corpus = table(f"{task}_wiki", "train") if slash else None
    return longrag.read_longrag(name, table(task, "full"), corpus)


def _table(path: Path, name: str, split: str) -> Rows:
    """Open a table on disk: JSON Lines, a Parquet file, or the hub's folder of them."""
    if path.suffix == ".parquet":
        return parquet_rows([path])
    for folder in (path / name, path):
        if files := sorted(folder.glob(f"{split}-*.parquet")):
            return parquet_rows(files)
    return json_rows(_file(path, f"{name}.jsonl"))


def _narrativeqa(_: str, path: Path | None) -> Dataset:
    if path is None:
        name = f"{_NARRATIVEQA}/test"
        return read_narrativeqa(table_rows(name, _NARRATIVEQA, split="test"))
    return read_narrativeqa(_table(path, "data", "test"))


def _quality(_: str, path: Path | None) -> Dataset:
    if path is None:
        reason = "its authors' files are not on the Hugging Face hub"
        message = (
            f"quality: {reason}. Give the path of the file {_QUALITY} of "
            "github.com/nyu-mll/quality."
        )
        raise UnreadableFileError(message, path="quality", reason=reason)
    return read_quality(json_rows(_file(path, _QUALITY)))


_SETS = {
    "infinitebench": _Set(
        _infinitebench, "the task's .jsonl or its folder", tuple(_FILES)
    ),
    "longbench": _Set(
        _longbench,
        "data.zip, a .jsonl, or its folder",
        tuple(name[10:] for name in TASKS if name.startswith("longbench/")),
    ),
    "longrag": _Set(
        _longrag, "the hub's .parquet files or their folder, or .jsonl", longrag.SETS
    ),
    "narrativeqa": _Set(_narrativeqa, "the hub's .parquet files or their folder"),
    "passkey": _Set(
        lambda variant, _: make_passkey(variant),  # type: ignore[arg-type]  # checked
        "generated",
        get_args(PasskeyVariant),
    ),
    "quality": _Set(_quality, "the authors' dev file or its folder"),
}

DATASETS = {
    f"{family}/{part}" if part else family: known.path
    for family, known in _SETS.items()
    for part in known.parts
}
"""Names that `load` takes, and the kind of path of each."""
