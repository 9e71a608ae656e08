"""A document of numbered clauses, indexes over it, and the clauses that were sent."""

import re
from collections.abc import Sequence

from llama_index.core import Document, VectorStoreIndex
from llama_index.core.schema import NodeWithScore, TransformComponent

from llamaindex_oprag import OffsetSentenceNodeParser
from tests.llamaindex.recording import WordEmbedding

_TOPICS = ("rent", "heating", "repairs", "garden", "deposit", "keys", "noise", "pets")


def clause(number: int) -> str:
    """One clause; those of one topic, eight apart, share words with its question."""
    topic = _TOPICS[number % len(_TOPICS)]
    more = " ".join(f"{topic}{i}" for i in range(number % 3))
    return f"Clause §{number}§ rules the {topic} of the tenant {more} in full."


CLAUSES = 40
TEXT = "\n\n".join(clause(number) for number in range(CLAUSES))
QUESTION = "What rules the heating and the repairs of the tenant?"


def document(
    doc_id: str = "lease.txt", text: str = TEXT, **metadata: object
) -> Document:
    return Document(text=text, id_=doc_id, metadata=metadata)


def clause_parser() -> OffsetSentenceNodeParser:
    """One clause per node."""
    return OffsetSentenceNodeParser(chunk_size=20, sentence_spans=clause_spans)


def clause_spans(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"Clause .*? in full\.", text)]


def index(
    *documents: Document, parser: TransformComponent | None = None
) -> VectorStoreIndex:
    return VectorStoreIndex.from_documents(
        list(documents) or [document()],
        transformations=[parser or clause_parser()],
        embed_model=WordEmbedding(),
    )


def numbers(text: str) -> list[int]:
    """Numbers of the clauses in a text, as they follow one another."""
    return [int(number) for number in re.findall(r"§(\d+)§", text)]


def numbers_of(nodes: Sequence[NodeWithScore]) -> list[int]:
    return [number for node in nodes for number in numbers(node.get_content())]
