"""`oprag index --ray`: files into a store on a server, by the workers of a cluster."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import typer
from langchain_core.vectorstores import VectorStore

from langchain_oprag import chunk_store
from oprag.calls import keep_secret, read_error_message
from oprag.errors import OpragError
from oprag.files import FilesRead
from oprag.indexing import IndexingReport, RemoveMissing, ShowProgress
from oprag_cli.embedding_models import (
    SentenceTransformerEmbeddings,
    find_packaged_weights,
    load_embedding_model,
)
from oprag_cli.index import (
    COLLECTION,
    COLLECTION_METADATA,
    FileSplitter,
    list_for_index,
)
from oprag_cli.messages import stop
from oprag_ray import index_on_ray

_POSTGRES = "langchain_postgres"  # which `make check` does not install
_PROBE = "How many numbers does a vector have?"


@dataclass(frozen=True)
class ServerStore:
    """A store on a server by its address; each worker opens it for itself."""

    url: str = field(repr=False)
    """`postgresql://USER@HOST:PORT/DATABASE`, or `http://HOST:PORT` of a Chroma
    server. May hold a password."""
    collection: str
    """The table or the collection in the store."""

    @property
    def _is_postgres(self) -> bool:
        return urlsplit(self.url).scheme in {"postgres", "postgresql"}

    def __call__(self, embeddings: Any) -> VectorStore:
        """Open it."""
        return (self._postgres if self._is_postgres else self._chroma)(embeddings)

    def make(self, size: int) -> None:
        """Make the table if it is missing, for vectors of `size` numbers."""
        if not self._is_postgres:
            return  # Chroma makes its collection when it is opened
        from sqlalchemy import text

        table = self.collection.replace('"', '""')
        index = f"{self.collection}_doc_key".replace('"', '""')
        engine = self._engine()

        async def is_missing() -> bool:
            async with engine._pool.connect() as connection:  # noqa: SLF001 -- nothing public asks
                asked = text("SELECT to_regclass(:name) IS NULL")
                found = await connection.execute(asked, {"name": f'"{table}"'})
                return bool(found.scalar())

        async def add_index() -> None:
            async with engine._pool.begin() as connection:  # noqa: SLF001 -- as above
                # It finds the chunks of a document fast, however many chunks there are.
                await connection.execute(
                    text(
                        f'CREATE INDEX IF NOT EXISTS "{index}" ON "{table}" '
                        "((langchain_metadata->>'doc_key'))"
                    )
                )

        if engine._run_as_sync(is_missing()):  # noqa: SLF001 -- as the store's `get` does
            engine.init_vectorstore_table(self.collection, size)
        engine._run_as_sync(add_index())  # noqa: SLF001 -- as above

    def _engine(self) -> Any:
        from sqlalchemy.pool import NullPool

        url = f"postgresql+psycopg{self.url[self.url.index('://') :]}"
        # Nobody closes the engine of a worker, so it keeps no connection.
        postgres = importlib.import_module(_POSTGRES)
        return postgres.PGEngine.from_connection_string(url, poolclass=NullPool)

    def _postgres(self, embeddings: Any) -> VectorStore:
        postgres = importlib.import_module(_POSTGRES)
        made: VectorStore = postgres.PGVectorStore.create_sync(
            self._engine(), embeddings, self.collection
        )
        return made

    def _chroma(self, embeddings: Any) -> VectorStore:
        import chromadb
        from chromadb.config import Settings
        from langchain_chroma import Chroma

        place = urlsplit(self.url)
        client = chromadb.HttpClient(
            place.hostname or "",
            place.port or (443 if place.scheme == "https" else 80),
            ssl=place.scheme == "https",
            settings=Settings(anonymized_telemetry=False),
        )
        return Chroma(
            self.collection,
            embeddings,
            client=client,
            collection_metadata=COLLECTION_METADATA,
        )


def server_store(url: str, collection: str) -> ServerStore:
    """Read the value of `--store`.

    Raises:
        typer.Exit: With code 2: the address is of no known kind of server.
    """
    keep_secret(url)
    try:
        place = urlsplit(url)
        known = place.scheme in {"postgres", "postgresql", "http", "https"}
        is_server = known and bool(place.hostname)
    except ValueError:  # no address at all
        is_server = False
    if not is_server:
        message = (
            "--store takes a server that all workers reach: "
            "postgresql://USER@HOST:PORT/DATABASE, or http://HOST:PORT of a Chroma "
            "server (`chroma run`). A folder is written by one process: index into it "
            "with --chroma, without --ray. Other stores: oprag_ray.index_on_ray."
        )
        raise stop(message, 2)
    return ServerStore(url, collection or COLLECTION)


def index_together(
    address: str,
    store: ServerStore,
    read: FilesRead,
    model: SentenceTransformerEmbeddings,
    *,
    scope: str,
    remove_missing: RemoveMissing,
    show_progress: ShowProgress,
) -> IndexingReport:
    """Bring a store on a server up to date with files; see `oprag_cli.index.update`.

    The files are read by this process; workers load the model by its name.

    Raises:
        typer.Exit: With code 1, the store cannot be opened.
        ClusterError: The cluster cannot be reached, or could not finish.
        IndexingError: See `index_documents`.
    """
    name = model.name
    _open(lambda: store.make(len(model.embed_query(_PROBE))))
    _open(lambda: next(iter(chunk_store(store(model)).read()), None))
    return index_on_ray(
        list_for_index(read),
        lambda: store(load_embedding_model(name, packaged=find_packaged_weights())),
        address=address,
        splitter=FileSplitter(),
        scope=scope,
        remove_missing=remove_missing,
        unsupported_metadata="drop",
        show_progress=show_progress,
    )


def _open(ask: Callable[[], object]) -> None:
    try:
        ask()
    except (OpragError, typer.Exit):
        raise
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0].replace("_", "-")
        message = f"That --store needs a package: pip install {package}."
        raise stop(message) from error
    except Exception as error:  # each store's client has its own errors
        raise stop(
            f"The --store cannot be opened: {read_error_message(error)}"
        ) from error
