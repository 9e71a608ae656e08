"""`python -m benchmarks.agents`: what an agent reads that searches ten times.

The text is the chapter on special methods of Python's language reference, which comes
with Python; the ten questions are about one subject, so that what they find overlaps.
all-MiniLM-L6-v2 finds four chunks of about 230 tokens for each. It prints the table of
`benchmarks/README.md`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pydoc_data.topics import topics
from typing import Any, NamedTuple

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import BaseTool, tool
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter
from llama_index.core import Document as Source
from llama_index.core import VectorStoreIndex
from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import ChatMessage, MockFunctionCallingLLM
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.tools import RetrieverTool

from langchain_oprag import (
    EvidenceMiddleware,
    OffsetSentenceSplitter,
    OrderPreservingRetriever,
    create_retrieval_tool,
)
from llamaindex_oprag import OrderPreservingRetrieverTool
from oprag.result_key import read_written
from oprag.tokens import resolve_token_counter
from oprag_cli.embedding_models import find_packaged_weights, load_embedding_model

TEXT = topics["specialnames"]
QUESTIONS = (
    "How is a class created?",
    "What is a metaclass?",
    "How is the metaclass of a class determined?",
    "When is __init_subclass__ called?",
    "What does __prepare__ return?",
    "When is __set_name__ called?",
    "How do descriptors work?",
    "How is an attribute of a class looked up?",
    "What is __slots__ for?",
    "When is __getattr__ called?",
)
K = 4
PLACES = re.compile(r"^\[\d+\] \S+, characters ([\d\- and]+)$", re.MULTILINE)


class Row(NamedTuple):
    """What one agent read."""

    agent: str
    last: int
    """Tokens of its last prompt."""
    all: int
    """Tokens of all its prompts together."""
    twice: float
    """Share of the characters of the source that were there already, in the last."""
    inverted: int
    """Passages of one search that stand behind a later one of the same search."""


class Answer(NamedTuple):
    """What one search put into the conversation."""

    text: str
    spans: list[tuple[int, int]]


def plain_tool(store: VectorStore) -> BaseTool:
    """The tool of LangChain's page "Build a RAG agent"."""

    @tool(response_format="content_and_artifact")
    def retrieve(query: str) -> tuple[str, list[Document]]:
        """Look something up."""
        found = store.similarity_search(query, k=K)
        texts = (f"Source: {d.metadata}\nContent: {d.page_content}" for d in found)
        return "\n\n".join(texts), found

    return retrieve


def langchain_agents(embeddings: Embeddings) -> Iterator[Row]:
    """The page's tool and ours, with LangChain's chunks and with ours."""
    theirs = RecursiveCharacterTextSplitter(
        chunk_size=1000, chunk_overlap=200, add_start_index=True
    )
    for chunks, splitter in (
        ("its chunks", theirs),
        ("oprag's chunks", OffsetSentenceSplitter(chunk_size=230)),
    ):
        store = InMemoryVectorStore(embeddings)
        source = Document(TEXT, metadata={"source": "reference.txt"})
        store.add_documents(splitter.split_documents([source]))
        ours = create_retrieval_tool(
            OrderPreservingRetriever(vectorstore=store, k=K, merge=True)
        )
        for name, search, middleware in (
            ("the page's tool", plain_tool(store), None),
            ("`create_retrieval_tool`", ours, None),
            ("the page's tool, `EvidenceMiddleware`", plain_tool(store), True),
            ("`create_retrieval_tool`, `EvidenceMiddleware`", ours, True),
        ):
            messages = conversation(search)
            if middleware:
                messages = EvidenceMiddleware().apply(messages)
            answers = [
                Answer(m.text, spans_of(m.text, m.artifact))
                for m in messages
                if m.type == "tool"
            ]
            yield row(f"LangChain, {chunks}: {name}", answers)


def conversation(search: BaseTool) -> list[BaseMessage]:
    """Ten searches, one after another."""
    messages: list[BaseMessage] = [HumanMessage("How do classes work?")]
    for number, question in enumerate(QUESTIONS):
        call = {"name": search.name, "args": {"query": question}, "id": str(number)}
        messages.append(AIMessage("", tool_calls=[call]))
        messages.append(search.invoke({**call, "type": "tool_call"}))
    return messages


def llamaindex_agents(embeddings: Embeddings) -> Iterator[Row]:
    """LlamaIndex's retriever tool and ours, with LlamaIndex's chunks."""
    index = VectorStoreIndex.from_documents(
        [Source(text=TEXT, id_="reference.txt")],
        transformations=[SentenceSplitter(chunk_size=230, chunk_overlap=46)],
        embed_model=_Embedding(embeddings),
    )
    retriever = index.as_retriever(similarity_top_k=K)
    ours = OrderPreservingRetrieverTool
    for name, search in (
        ("`RetrieverTool`", RetrieverTool.from_defaults(retriever)),
        ("`OrderPreservingRetrieverTool`", ours.from_defaults(retriever)),
        ('the same, `show="unseen"`', ours.from_defaults(retriever, show="unseen")),
    ):
        answers = asyncio.run(_searches(search))
        yield row(f"LlamaIndex, its chunks: {name}", answers)


async def _searches(search: Any) -> list[Answer]:
    questions = iter(QUESTIONS)

    def scripted(*_: Any, **__: Any) -> ChatMessage:
        question = next(questions, None)
        if question is None:
            return ChatMessage("An answer.", role="assistant")
        call = ToolCallBlock(
            tool_name=search.metadata.get_name(), tool_kwargs={"input": question}
        )
        return ChatMessage(role="assistant", blocks=[call])

    llm = MockFunctionCallingLLM(response_generator=scripted)
    handler = FunctionAgent(tools=[search], llm=llm).run("How do classes work?")
    answers = []
    async for event in handler.stream_events():
        if isinstance(event, ToolCallResult):
            found = event.tool_output
            text = found.content
            answers.append(Answer(text, spans_of(text, found.raw_output)))
    await handler
    return answers


class _Embedding(BaseEmbedding):
    """LangChain's embeddings for LlamaIndex."""

    def __init__(self, embeddings: Embeddings) -> None:
        super().__init__()
        self._embeddings = embeddings

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._embeddings.embed_query(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._embeddings.embed_query(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._embeddings.embed_query(query)


def spans_of(text: str, found: Sequence[Any]) -> list[tuple[int, int]]:
    """The characters that an answer shows: as it says itself, or of what was found."""
    if "[see above: " in text or PLACES.search(text):
        said = " ".join(PLACES.findall(text))
        return [(int(a), int(b)) for a, b in re.findall(r"(\d+)-(\d+)", said)]
    if found and isinstance(found[0], Document):
        starts = [(_start_of(d.metadata), d.page_content) for d in found]
    else:
        starts = [(n.node.start_char_idx, n.node.get_content()) for n in found]
    return [(start, start + len(text)) for start, text in starts]


def _start_of(metadata: dict[str, Any]) -> int:
    written = read_written(metadata)
    if written is not None and written.whole is not None:
        return written.whole.start
    keys = ("start_index", "char_start")
    return next(int(metadata[key]) for key in keys if key in metadata)


def row(agent: str, answers: Sequence[Answer]) -> Row:
    """Count what the answers of an agent's tool put into its prompts."""
    count = resolve_token_counter("cl100k_base")
    grown = list(accumulate(count(answer.text) for answer in answers))
    sent = [n for answer in answers for a, b in answer.spans for n in range(a, b)]
    inverted = sum(
        first > second
        for answer in answers
        for number, first in enumerate(answer.spans)
        for second in answer.spans[number + 1 :]
    )
    return Row(agent, grown[-1], sum(grown), 1 - len(set(sent)) / len(sent), inverted)


def table(rows: Sequence[Row]) -> str:
    """The rows in Markdown."""
    lines = [
        "| | last prompt | all prompts | twice | inverted |",
        "|---|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {r.agent} | {r.last:,} | {r.all:,} | {r.twice:.0%} | {r.inverted} |"
        for r in rows
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    embeddings = load_embedding_model(packaged=find_packaged_weights())
    rows = [*langchain_agents(embeddings), *llamaindex_agents(embeddings)]
    print(table(rows))


if __name__ == "__main__":
    main()
