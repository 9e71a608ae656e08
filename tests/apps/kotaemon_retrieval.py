"""Indexes two texts of one name with kotaemon's own classes, and retrieves from them.

Runs in an environment of kotaemon's. The table that lists chunks is the one that its
collections of files make; they add to it as is done here.
"""

import json
from hashlib import sha256
from pathlib import Path

from kotaemon.base import Document, DocumentWithEmbedding
from kotaemon.embeddings import BaseEmbeddings
from kotaemon.rerankings.base import BaseReranking


class AsItIs(BaseReranking):
    def run(self, documents, query):
        return documents


class Reversed(BaseReranking):
    def run(self, documents, query):
        return documents[::-1]


def _digest(text):
    return sha256(text.encode()).digest()


class Vectors(BaseEmbeddings):
    def invoke(self, text, *args, **kwargs):
        return self.run(text)

    def run(self, text):
        return [
            DocumentWithEmbedding(
                embedding=[byte - 127.5 for byte in _digest(each.text)], content=each
            )
            for each in self.prepare_input(text)
        ]


def main() -> None:
    """Prints the texts that are retrieved by each reranking, as JSON."""
    from kotaemon.indices import VectorIndexing, VectorRetrieval
    from kotaemon.indices.splitters import TokenSplitter
    from kotaemon.storages import InMemoryVectorStore, LanceDBDocumentStore
    from ktem.db.engine import engine
    from ktem.rerankings.manager import reranking_models_manager
    from sqlalchemy import Column, Integer, String
    from sqlalchemy.orm import Session, declarative_base

    base = declarative_base()

    class Listed(base):
        __tablename__ = "index__1__index"
        id = Column(Integer, primary_key=True, autoincrement=True)
        source_id = Column(String)
        target_id = Column(String)
        relation_type = Column(String)

    base.metadata.create_all(engine)
    stores = {
        "vector_store": InMemoryVectorStore(),
        "doc_store": LanceDBDocumentStore("lance"),
        "embedding": Vectors(),
    }
    ids = []
    for number, text in enumerate(json.loads(Path("texts.json").read_text())):
        file = Document(text=text, metadata={"file_name": "lease.md"})
        chunks = TokenSplitter(chunk_size=128, chunk_overlap=0)([file])
        with Session(engine) as session:
            for kind in ("document", "vector"):
                rows = [(f"file {number}", each.doc_id, kind) for each in chunks]
                names = ("source_id", "target_id", "relation_type")
                session.add_all(
                    Listed(**dict(zip(names, row, strict=True))) for row in rows
                )
            session.commit()
        VectorIndexing(**stores).run(chunks)
        ids += [each.doc_id for each in chunks]
    found = {}
    for name in ("none", "order", "both"):
        retrieval = VectorRetrieval(
            **stores,
            retrieval_mode="vector",
            rerankers=[reranking_models_manager[name]],
        )
        asked = {"top_k": 10, "do_extend": True, "scope": ids}
        found[name] = [each.text for each in retrieval.run("the roof", **asked)]
    print(json.dumps(found))  # noqa: T201
