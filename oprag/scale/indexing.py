"""`index_on_ray`: the index that `index_documents` makes, made by a cluster."""

from __future__ import annotations

import dataclasses
import itertools
import logging
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from typing import Any

from oprag.calls import said_by
from oprag.errors import ClusterError, invalid_option
from oprag.indexing import (
    Counted,
    IndexingReport,
    RemoveMissing,
    Replace,
    RunOptions,
    ShowProgress,
    UnsupportedMetadata,
    WrittenPart,
    check_given,
    source_scope,
    update_from_parts,
)
from oprag.scale.blocks import packed, unpacked
from oprag.scale.clusters import by_client, connected
from oprag.scale.feeding import feed
from oprag.scale.frameworks import Factories, FrameworkName
from oprag.scale.stages import Embedder, Preparer, Writer

_CPUS = 0.25
"""Share of a core that Ray keeps for an actor that mostly waits, for a store or a
service."""
_LEVELS = {"ray.data": logging.WARNING, "ray.data._internal.progress": logging.ERROR}
"""What Ray Data's loggers tell; the second one only that there is no bar."""


def index_on_ray(
    documents: Any,
    make_store: Callable[[Any], Any],
    make_embeddings: Callable[[], Any],
    *,
    framework: FrameworkName,
    address: str = "auto",
    splitter: Any = None,
    scope: str | None = None,
    remove_missing: RemoveMissing = False,
    replace: Replace = "document",
    unsupported_metadata: UnsupportedMetadata = "error",
    batch_size: int = 256,
    workers: int | tuple[int, int] = 1,
    embedders: int | tuple[int, int] = 1,
    cpus_per_embedder: float = _CPUS,
    gpus_per_embedder: float = 0,
    show_progress: ShowProgress = True,
) -> IndexingReport:
    """Make a vector store hold documents as they are now, with a Ray cluster.

    The index is the one that `index_documents` makes in one process: the same ids,
    texts, metadata and vectors, by the same rules. Documents are split and compared
    with the store by some workers, embedded by others and written by a third kind,
    each document by one of them. Run it again after a crash of a worker, a node or
    this process: what is there stays, and the rest is done.

    The two functions are pickled and called in the workers, which need the same
    packages as this process.

    Args:
        documents: What `index_documents` takes: a folder, which this process reads, or
            the framework's documents. Or a Ray Dataset: its column `text` is the text,
            a column `metadata` may hold a mapping, every other column is metadata,
            and one of them names the document (`source`, `file_path`, …). Rows of one
            name that follow one another are the parts of one document.
        make_store: Opens the store with the embeddings that it is given:
            `make_store(embeddings)` returns a LangChain vector store or a LlamaIndex
            `VectorStoreIndex`. Also called in this process. Where a store embeds a
            text when it is opened, each of them makes the embeddings for that.
        make_embeddings: Makes the embeddings: `make_embeddings()` returns LangChain's
            `Embeddings` or LlamaIndex's `BaseEmbedding`. Called by each embedder; by
            others only if the store asks for a vector that was not made ahead.
        framework: `"langchain"` or `"llamaindex"`: whose these are.
        address: See `oprag.scale.connected`; no `ray://`. A connection that this
            process has is used, whatever it says.
        splitter: A LangChain splitter or a LlamaIndex node parser, as `index_documents`
            takes it; None for oprag's of whole sentences.
        scope: See `index_documents`, as for the next three.
        remove_missing: What is missing is deleted by this process, at the end.
        replace: The same.
        unsupported_metadata: The same.
        batch_size: Chunks that are embedded and written at once. Of about so many
            is a block, which one worker has at a time.
        workers: Processes that split and compare, and as many that write; two numbers
            for the least and the most.
        embedders: Processes that embed; the same.
        cpus_per_embedder: Cores that Ray keeps for each: 1 or more for a model that
            computes on them. The others take a quarter each.
        gpus_per_embedder: The same of GPUs; parts of one are possible.
        show_progress: See `index_documents`.

    Returns:
        What was done, by document; of a store that nobody else writes to, the same as
        one process reports.

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
    factories = Factories(
        framework=framework,
        make_store=make_store,
        make_embeddings=make_embeddings,
        splitter=splitter,
    )
    if str(address).startswith("ray://"):
        raise by_client(address)
    options = RunOptions(replace=replace, batch_size=batch_size)
    for option, actors in (("workers", workers), ("embedders", embedders)):
        _check_actors(option, actors)
    target = factories.opened().target
    with connected(address) as ray, _settings(ray):
        is_dataset = isinstance(documents, ray.data.Dataset)
        check_given(
            [] if is_dataset else documents, target.framework, unsupported_metadata
        )
        options = dataclasses.replace(
            options, scope=source_scope([] if is_dataset else documents, scope)
        )
        fed = feed(ray, documents, target.framework, scope, batch_size)
        dataset = (
            ray.data.from_arrow_refs(fed.blocks or ray.put(packed([])))
            .map_batches(
                Preparer,
                fn_constructor_args=(factories, unsupported_metadata, options),
                **_pool(ray, workers),
            )
            .map_batches(
                Embedder,
                fn_constructor_args=(factories, batch_size),
                **_pool(ray, embedders, cpus_per_embedder, gpus_per_embedder),
            )
            .map_batches(
                Writer, fn_constructor_args=(factories, options), **_pool(ray, workers)
            )
        )
        skipped = WrittenPart(fed.skipped, added=0, deleted=0)
        with closing(_parts(ray, dataset, address)) as parts:
            return update_from_parts(
                Counted(itertools.chain([skipped], parts), lambda: fed.total),
                target.store,
                target.writer,
                scope=options.scope,
                remove_missing=remove_missing,
                replace=replace,
                batch_size=batch_size,
                show_progress=show_progress,
            )


def _pool(
    ray: Any, actors: int | tuple[int, int], cpus: float = _CPUS, gpus: float = 0
) -> dict[str, Any]:
    """How a stage runs: one block at a time in each of its actors."""
    least, most = (actors, actors) if isinstance(actors, int) else actors
    return {
        "batch_size": None,
        "batch_format": "pyarrow",
        "compute": ray.data.ActorPoolStrategy(min_size=least, max_size=most),
        "num_cpus": cpus,
        "num_gpus": gpus or None,
    }


def _parts(ray: Any, dataset: Any, address: str) -> Generator[WrittenPart, None, None]:
    """What the writers did, in the order of the documents."""
    told: set[Any] = set()
    batches = iter(dataset.iter_batches(batch_size=None, batch_format="pyarrow"))
    try:
        with closing(batches):
            for table in batches:
                for item in unpacked(table):
                    if isinstance(item, Exception):
                        raise item
                    if isinstance(item, WrittenPart):
                        yield item
                    elif item not in told:
                        told.add(item)
                        message, category = item
                        warnings.warn(message, category, stacklevel=2)
    except ray.exceptions.RayError as error:
        # Ray's message is a traceback; what a worker raised stands at its end.
        last = RuntimeError(str(error).strip().rpartition("\n")[2])
        message = (
            f"The cluster could not finish the run: {said_by(last)} What is "
            "written stays; index again when the cause is mended."
        )
        raise ClusterError(message, address=address) from error


@contextmanager
def _settings(ray: Any) -> Iterator[None]:
    """Ray Data's, for one run: in order, and telling only what is wrong."""
    context = ray.data.DataContext.get_current()
    options = context.execution_options
    before = options.preserve_order, context.enable_progress_bars
    levels = {logging.getLogger(name): level for name, level in _LEVELS.items()}
    known = {logger: logger.level for logger in levels}
    try:
        options.preserve_order, context.enable_progress_bars = True, False
        for logger, level in levels.items():
            logger.setLevel(level)
        yield
    finally:
        options.preserve_order, context.enable_progress_bars = before
        for logger, level in known.items():
            logger.setLevel(level)


def _check_actors(option: str, actors: Any) -> None:
    numbers = actors if isinstance(actors, tuple) else (actors, actors)
    if [*map(type, numbers)] != [int, int] or not 1 <= numbers[0] <= numbers[1]:
        takes = "It takes a number of processes, or two: the least and the most."
        raise invalid_option(option, actors, takes)
