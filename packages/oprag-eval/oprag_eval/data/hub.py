"""Files and tables of the Hugging Face hub, where it can be reached."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from oprag.calls import said_by
from oprag.errors import UnreadableFileError
from oprag_eval.data.rows import Rows, table_rows


def hub_file(repository: str, name: str) -> Path:
    """Fetch one file of a data set, once; it is kept in the hub's cache."""
    import huggingface_hub as hub

    try:
        return Path(hub.hf_hub_download(repository, name, repo_type="dataset"))
    except _failures(hub) as error:
        raise _failed(f"{repository}/{name}", error) from error


def hub_table(repository: str, *, config: str | None, split: str) -> Rows:
    """Fetch a table of a data set, once."""
    import datasets
    import huggingface_hub as hub

    name = "/".join(part for part in (repository, config, split) if part)
    try:
        table = datasets.load_dataset(repository, config, split=split)
    except _failures(hub) as error:
        raise _failed(name, error) from error
    return table_rows(name, table)


def parquet_rows(files: Sequence[Path]) -> Rows:
    """Open Parquet files as one table."""
    import datasets

    name = str(files[0]) if len(files) == 1 else f"{files[0].parent}/*.parquet"
    try:
        table = datasets.load_dataset(
            "parquet", data_files=[str(file) for file in files], split="train"
        )
    except (OSError, ValueError, datasets.exceptions.DatasetGenerationError) as error:
        reason = "it cannot be read as Parquet"
        raise UnreadableFileError(
            f"{name!r}: {reason}.", path=name, reason=reason
        ) from error
    return table_rows(name, table)


def unavailable(name: str, reason: str, remedy: str) -> UnreadableFileError:
    """Return the error for a set that cannot be had; the remedy names the local way."""
    return UnreadableFileError(f"{name}: {reason}. {remedy}", path=name, reason=reason)


def _failures(hub: Any) -> tuple[type[Exception], ...]:
    """Return the errors of the two packages without a network or without the set."""
    return (OSError, RuntimeError, ValueError, hub.errors.HfHubHTTPError)


def _failed(name: str, error: Exception) -> UnreadableFileError:
    said = said_by(error).removesuffix(".")
    return unavailable(
        name,
        f"it cannot be fetched from the Hugging Face hub ({said})",
        "Connect to the network once, or download the files and give their path.",
    )
