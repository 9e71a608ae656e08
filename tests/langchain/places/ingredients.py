"""The names that the places are built from: an application, with oprag and without."""

import operator
import zlib
from collections.abc import Sequence
from typing import Annotated, Any, TypedDict

from langchain_core.documents import (
    BaseDocumentCompressor,
    BaseDocumentTransformer,
    Document,
)
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough, RunnablePick
from langchain_core.stores import InMemoryStore
from langchain_core.tools import create_retriever_tool
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import CharacterTextSplitter
from langgraph.graph import StateGraph

from langchain_oprag import (
    OrderPreservingCompressor,
    OrderPreservingRetriever,
    order_documents,
)
from tests.langchain import compat
from tests.langchain.corpus import EMBEDDING, QUERY, WIDTH, ListRetriever, book, chunk
from tests.langchain.recording import RecordingChatModel

CHUNKS = 40
OTHER_QUERIES = ("another way to ask", "and a third one")

# Every chunk is a line, so that splitters cut between chunks.
SOURCE = Document(
    "\n".join(document.page_content.strip() for document in book(CHUNKS)),
    metadata={"source": "book.txt"},
)


def lines(count: int, **options: Any) -> CharacterTextSplitter:
    """A splitter that puts so many lines of `SOURCE` into a chunk."""
    return CharacterTextSplitter(
        "\n", chunk_size=count * WIDTH, chunk_overlap=0, **options
    )


def parent_document_retriever(
    parent_splitter: Any, child_splitter: Any, source: Document = SOURCE
) -> BaseRetriever:
    """Finds six children by their vectors and returns their parents."""
    retriever = compat.ParentDocumentRetriever(
        vectorstore=InMemoryVectorStore(EMBEDDING),
        docstore=InMemoryStore(),
        parent_splitter=parent_splitter,
        child_splitter=child_splitter,
        search_kwargs={"k": 6},
    )
    retriever.add_documents([source])
    return retriever


def ingredients(*, oprag: bool) -> dict[str, Any]:
    """The names that `Place.how` may use.

    Args:
        oprag: False takes oprag out: its retriever is what it wraps, and its
            compressor hands on what it is given. The rest is the same.
    """
    ours: dict[str, Any] = {
        "OrderPreservingCompressor": OrderPreservingCompressor,
        "OrderPreservingRetriever": OrderPreservingRetriever,
        "order_documents": order_documents,
    }
    if not oprag:
        ours = {
            "OrderPreservingCompressor": _AsTheyCome,
            "OrderPreservingRetriever": _what_is_wrapped,
            "order_documents": list,
        }
    vectorstore = InMemoryVectorStore(EMBEDDING)
    vectorstore.add_documents(book(CHUNKS))
    model = RecordingChatModel()
    prompt = ChatPromptTemplate.from_template("{context}\n\nQuestion: {input}")
    return {
        **_frameworks_names(),
        **ours,
        **_retrievers(vectorstore),
        "model": model,
        "writer": RecordingChatModel(replies=[AIMessage("\n".join(OTHER_QUERIES))]),
        "judge": RecordingChatModel(replies=[AIMessage("YES")]),
        "prompt": prompt,
        "question": QUERY,
        "rewrite": ChatPromptTemplate.from_template("{chat_history} {input}"),
        "stuff": compat.create_stuff_documents_chain(model, prompt),
        "ordered": ours["OrderPreservingRetriever"](vectorstore=vectorstore, k=6),
        "reranker": compat.CrossEncoderReranker(model=_ByChecksum(), top_n=5),
        "joined": joined,
        "best_at_the_ends": _best_at_the_ends,
        "by_score": _by_score,
        "falling_scores": _falling_scores,
        "graph": StateGraph(State),
    }


class State(TypedDict):
    """State of a graph."""

    question: str
    found: Annotated[list[Document], operator.add]
    """The hits of several queries, one after another."""
    context: list[Document]
    answer: str


def joined(documents: Sequence[Document]) -> str:
    """The texts as one, as applications write it."""
    return "\n\n".join(document.page_content for document in documents)


def _frameworks_names() -> dict[str, Any]:
    names = vars(compat) | {
        "RunnablePassthrough": RunnablePassthrough,
        "RunnablePick": RunnablePick,
        "create_retriever_tool": create_retriever_tool,
    }
    if compat.IS_1X:
        from langchain.agents.middleware import dynamic_prompt

        names["dynamic_prompt"] = dynamic_prompt
    return names


def _retrievers(vectorstore: InMemoryVectorStore) -> dict[str, Any]:
    retriever = vectorstore.as_retriever(search_kwargs={"k": 6})
    return {
        "vectorstore": vectorstore,
        "retriever": retriever,
        "other": ListRetriever(documents=[chunk(n) for n in (30, 3, 21, 12)]),
        "scored": retriever | _scored,
        "parent_document": parent_document_retriever(
            lines(3, add_start_index=True), lines(1, add_start_index=True)
        ),
    }


class _ByChecksum(compat.BaseCrossEncoder):
    """Scores that have nothing to do with the order, and are always the same."""

    def score(self, text_pairs: Any) -> list[float]:
        return [float(zlib.crc32(text.encode())) for _, text in text_pairs]


def _scored(documents: Sequence[Document]) -> list[Document]:
    """Write a score that falls with the rank."""
    return [
        Document(d.page_content, metadata={**d.metadata, "score": 1 / (1 + rank)})
        for rank, d in enumerate(documents)
    ]


def _by_score(documents: Sequence[Document]) -> list[Document]:
    return sorted(documents, key=lambda document: -document.metadata["score"])


def _falling_scores(documents: Sequence[Document]) -> list[Document]:
    """Write scores that fall in reading order, as `docs/apps.md` shows."""
    for place, document in enumerate(documents):
        document.metadata["score"] = 1 - place / len(documents)
    return list(documents)


def _best_at_the_ends(documents: Sequence[Document]) -> list[Document]:
    """First the 1st, 3rd, 5th …, then back … 6th, 4th, 2nd."""
    return [*documents[::2], *documents[1::2][::-1]]


class _AsTheyCome(BaseDocumentCompressor, BaseDocumentTransformer):
    """The identity, in the place of a compressor."""

    def compress_documents(self, documents, query, callbacks=None):
        return documents

    def transform_documents(self, documents, **kwargs):
        return documents

    def __call__(self, documents):
        return documents

    def __hash__(self):
        # LCEL hashes the callables that it looks into.
        return hash(type(self))


def _what_is_wrapped(*, base_retriever=None, vectorstore=None, k=None):
    if base_retriever is not None:
        return base_retriever
    return vectorstore.as_retriever(search_kwargs={"k": k})
