"""`index_on_ray`: the index that `index_documents` makes, made by a cluster."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

from oprag.calls import read_error_message
from oprag.errors import ClusterError, UnreadableFileError, invalid_option
from oprag.indexing import (
    Framework,
    GivenNames,
    IndexingReport,
    RemoveMissing,
    Replace,
    RunOptions,
    ShowProgress,
    StoredBefore,
    UnsupportedMetadata,
    WorkerResult,
    check_given,
    read_documents,
    source_scope,
    update_by_workers,
)
from oprag_ray.clusters import check_address, connect
from oprag_ray.workers import Worker, documents_of, open_target, pack, unpack

_CHUNK = 300
"""Characters of a chunk: somewhat few, so that a block is embedded by one call."""


def index_on_ray(
    documents: Any,
    make_store: Callable[[], Any],
    *,
    address: str = "auto",
    splitter: Any = None,
    scope: str | None = None,
    remove_missing: RemoveMissing = False,
    replace: Replace = "document",
    unsupported_metadata: UnsupportedMetadata = "error",
    batch_size: int = 256,
    workers: int | tuple[int, int] = 1,
    cpus_per_worker: float = 0.25,
    gpus_per_worker: float = 0,
    show_progress: ShowProgress = True,
) -> IndexingReport:
    """Bring a vector store up to date with documents, on a Ray cluster.

    The index is the one that `index_documents` makes in one process: the same ids,
    texts, metadata and vectors, by the same rules. Each document is split, embedded
    and written by one worker. Run it again after a crash of a worker, a node or
    this process: the finished work stays, and the rest is done.

    Args:
        documents: As for `index_documents`: a folder, which this process reads, or
            the framework's documents. Or a Ray Dataset: its column `text` is the text,
            a column `metadata` may hold a mapping, every other column is metadata,
            and one of them names the document (`source`, `file_path`, …). Rows of one
            name that follow one another are the parts of one document.
        make_store: Opens the store: `make_store()` returns a LangChain vector store or
            a LlamaIndex `VectorStoreIndex`, with the model that embeds. It is pickled,
            and called in this process and in each worker, which need the same packages.
        address: `"HOST:PORT"` of the head node; `"auto"` for the cluster that this
            machine is a part of; `"local"` for one of this machine alone, which ends
            with the run. No `ray://`. A connection that this process has is used,
            whatever the address.
        splitter: A LangChain splitter or a LlamaIndex node parser, as `index_documents`
            takes it; None for oprag's of whole sentences.
        scope: See `index_documents`, as for the next three.
        remove_missing: Missing documents are deleted by this process, at the end.
        replace: The same.
        unsupported_metadata: The same.
        batch_size: Chunks that are embedded and written at once. A block, which one
            worker has at a time, holds about as many.
        workers: Processes that index; two numbers for the least and the most.
        cpus_per_worker: Cores that Ray keeps for each: 1 or more for a model that
            computes on them.
        gpus_per_worker: The same of GPUs.
        show_progress: See `index_documents`.

    Returns:
        A report of the work, by document. If nobody else writes to the store, it is
        the same as one process returns.

    Raises:
        ClusterError: The cluster cannot be reached, or could not finish the run.
        MissingDependencyError: Ray is not installed.
        InvalidOptionError: A name comes twice; nothing was written.
        InvalidOptionError: An option or the store cannot be used: one that lives in a
            process or a folder is refused. Or as `index_documents` raises it.
        IndexingError: As `index_documents` raises it. The lock against a second run is
            that of this machine.

    Warns:
        OpragWarning: As `index_documents` warns.
    """
    check_address(address)
    pool = (workers, workers) if isinstance(workers, int) else workers
    if [*map(type, pool)] != [int, int] or not 1 <= pool[0] <= pool[1]:
        takes = "It takes a number of processes, or two: the least and the most."
        raise invalid_option("workers", workers, takes)
    RunOptions(replace=replace, batch_size=batch_size, remove_missing=remove_missing)
    target = open_target(make_store, splitter)
    with connect(address) as ray, _quiet():
        framework = target.framework
        is_dataset = isinstance(documents, ray.data.Dataset)
        mark = source_scope([] if is_dataset else documents, scope)
        check_given([] if is_dataset else documents, framework, unsupported_metadata)
        given = documents_of(documents, framework) if is_dataset else documents
        names, skipped = GivenNames(), list[UnreadableFileError]()

        def readable() -> Iterator[tuple[str, list[Any]]]:
            for each in read_documents(given, framework, scope):
                if isinstance(each, UnreadableFileError):
                    names.add_name(each.path)
                    skipped.append(each)
                else:
                    names.add_name(each[0])
                    yield each

        blocks = [
            ray.put(pack(block)) for block in _blocks(readable(), framework, batch_size)
        ]
        options = {"scope": mark, "replace": replace, "batch_size": batch_size}

        def write(before: StoredBefore) -> Iterator[WorkerResult]:
            yield from skipped
            dataset = ray.data.from_arrow_refs(blocks or ray.put(pack([])))
            dataset.context.execution_options.preserve_order = True
            dataset.context.enable_progress_bars = False
            written = dataset.map_batches(
                Worker,
                fn_constructor_args=(
                    *(make_store, splitter, unsupported_metadata),
                    *(before, options),
                ),
                batch_size=None,
                batch_format="pyarrow",
                compute=ray.data.ActorPoolStrategy(min_size=pool[0], max_size=pool[1]),
                num_cpus=cpus_per_worker,
                num_gpus=gpus_per_worker or None,
            )
            with closing(_parts(ray, written, address)) as parts:
                yield from parts

        return update_by_workers(
            write,
            target.store,
            target.writer,
            count=partial(len, names),
            remove_missing=remove_missing,
            show_progress=show_progress,
            **options,
        )


def _blocks(
    named: Iterable[tuple[str, list[Any]]], framework: Framework[Any], batch_size: int
) -> Iterator[list[tuple[str, list[Any]]]]:
    """Yield blocks of whole documents, each of about `batch_size` chunks."""
    block: list[tuple[str, list[Any]]] = []
    characters = 0
    for name, parts in named:
        block.append((name, parts))
        characters += sum(len(framework.read_source(part).text) for part in parts)
        if len(block) >= batch_size or characters >= batch_size * _CHUNK:
            yield block
            block, characters = [], 0
    if block:
        yield block


def _parts(ray: Any, written: Any, address: str) -> Generator[WorkerResult, None, None]:
    """Yield the workers' reports in document order; give their warnings once."""
    given: set[Any] = set()
    batches = iter(written.iter_batches(batch_size=None, batch_format="pyarrow"))
    try:
        with closing(batches):
            for table in batches:
                for item in unpack(table):
                    if isinstance(item, Exception) and not getattr(item, "report", 0):
                        raise item
                    if not isinstance(item, tuple):
                        yield item
                    elif item not in given:
                        given.add(item)
                        message, category = item
                        warnings.warn(message, category, stacklevel=2)
    except ray.exceptions.RayError as error:
        # Ray's message is a traceback; a worker's own error is at its end.
        last = RuntimeError(str(error).strip().rpartition("\n")[2])
        message = (
            f"The cluster could not finish the run: {read_error_message(last)} What is "
            "written stays; index again when the cause is mended."
        )
        raise ClusterError(message, address=address) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Have Ray Data's logger report only warnings and errors."""
    logger = logging.getLogger("ray.data")
    before = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(before)
