"""A table of PostgreSQL for each framework, opened anew in every worker."""

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from langchain_core.embeddings import Embeddings

from tests.kit.words import DIMENSIONS, word_vector
from tests.llamaindex.recording import WordEmbedding

FRAMEWORKS = ("langchain", "llamaindex")


class WordEmbeddings(Embeddings):
    """Word vectors for LangChain.

    Args:
        seconds: How long a call takes, as that of a remote service.
        counted: A folder in which each call leaves a file, named by process and time,
            with the number of its texts.
    """

    def __init__(self, seconds: float = 0, counted: Path | None = None) -> None:
        self.seconds = seconds
        self.counted = counted

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        time.sleep(self.seconds)
        if self.counted:
            name = f"{os.getpid()}-{time.time_ns()}"
            (self.counted / name).write_text(str(len(texts)))
        return [word_vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return word_vector(text)


class SlowEmbedding(WordEmbedding):
    """Word vectors for LlamaIndex."""

    seconds: float = 0

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        time.sleep(self.seconds)
        return super()._get_text_embeddings(texts)


@dataclass(frozen=True)
class Table:
    """A table of one framework in a database; sent to every worker."""

    framework: str
    database: str
    """`user@host:port/name`."""
    name: str
    seconds: float = 0
    counted: Path | None = None

    def __call__(self) -> Any:
        return self.opened(self.embeddings())

    def embeddings(self) -> Any:
        if self.framework == "langchain":
            return WordEmbeddings(self.seconds, self.counted)
        return SlowEmbedding(seconds=self.seconds)

    def opened(self, embeddings: Any) -> Any:
        if self.framework == "langchain":
            return self._langchain(embeddings)
        return self._llamaindex(embeddings)

    def _langchain(self, embeddings: Any) -> Any:
        from langchain_postgres import PGVectorStore

        return PGVectorStore.create_sync(self._engine(), embeddings, self.name)

    def _engine(self) -> Any:
        from langchain_postgres import PGEngine
        from sqlalchemy.pool import NullPool

        url = f"postgresql+psycopg://{self.database}"
        # Nobody closes what a run opened: no connection stays.
        return PGEngine.from_connection_string(url, poolclass=NullPool)

    def _llamaindex(self, embeddings: Any) -> Any:
        from llama_index.core import VectorStoreIndex
        from llama_index.vector_stores.postgres import PGVectorStore
        from sqlalchemy.pool import NullPool

        store = PGVectorStore(
            connection_string=f"postgresql+psycopg2://{self.database}",
            async_connection_string=f"postgresql+asyncpg://{self.database}",
            table_name=self.name,
            embed_dim=DIMENSIONS,
            create_engine_kwargs={"poolclass": NullPool},
        )
        return VectorStoreIndex.from_vector_store(store, embed_model=embeddings)

    def made(self) -> Self:
        if self.framework == "langchain":
            self._engine().init_vectorstore_table(self.name, DIMENSIONS)
        else:
            self.opened(self.embeddings()).vector_store._initialize()
        return self

    def rows(self) -> dict[str, Any]:
        """All that the table holds, by id: text, metadata and vector as they lie."""
        import psycopg

        columns = (
            f"langchain_id, content, langchain_metadata, embedding FROM {self.name}"
            if self.framework == "langchain"
            else f"node_id, text, metadata_, embedding FROM data_{self.name}"
        )
        with psycopg.connect(f"postgresql://{self.database}") as connection:
            found = connection.execute(f"SELECT {columns}").fetchall()
        return _by_id(found)


def _by_id(found: Iterable[tuple[Any, ...]]) -> dict[str, Any]:
    rows: dict[str, Any] = {}
    for id_, *values in found:
        assert str(id_) not in rows, "one id twice"
        rows[str(id_)] = values
    return rows
