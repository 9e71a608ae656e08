"""Files and tables of the Hugging Face hub, where it can be reached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from oprag.calls import said_by
from oprag.errors import UnreadableFileError
from oprag_eval.data.rows import Rows


def hub_file(repository: str, name: str) -> Path:
    """Fetch one file of a data set, once; it is kept in the hub's cache."""
    import huggingface_hub as hub

    with _fetching(f"{repository}/{name}"):
        return Path(hub.hf_hub_download(repository, name, repo_type="dataset"))


def hub_table(repository: str, *, config: str | None, split: str) -> Rows:
    """Fetch a table of a data set, once."""
    import datasets

    name = "/".join(part for part in (repository, config, split) if part)
    with _fetching(name):
        table = datasets.load_dataset(repository, config, split=split)
    return Rows(name, enumerate(table, 1))


@contextmanager
def _fetching(name: str) -> Iterator[None]:
    """Tell what to do without a network, or without the set."""
    from huggingface_hub.errors import HfHubHTTPError

    try:
        yield
    except (OSError, RuntimeError, ValueError, HfHubHTTPError) as error:
        said = said_by(error).removesuffix(".")
        reason = f"it cannot be fetched from the Hugging Face hub ({said})"
        remedy = "Connect to the network once, or download the files and give"
        message = f"{name}: {reason}. {remedy} their path."
        raise UnreadableFileError(message, path=name, reason=reason) from error


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
    return Rows(name, enumerate(table, 1))
