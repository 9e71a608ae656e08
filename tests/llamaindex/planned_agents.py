"""Models that call tools by a plan, and the two documents that they search."""

import json
from itertools import cycle, islice, pairwise
from typing import Any

from llama_index.core import VectorStoreIndex
from llama_index.core.base.llms.types import TextBlock, ToolCallBlock
from llama_index.core.llms import ChatMessage, LLMMetadata, MockFunctionCallingLLM
from llama_index.core.node_parser import SentenceSplitter

from llamaindex_oprag import OffsetSentenceNodeParser, OrderPreservingRetrieverTool
from tests.llamaindex.corpus import document
from tests.llamaindex.recording import WordEmbedding

TOPICS = ("rent", "heating", "repairs", "garden", "deposit", "keys", "noise", "pets")
SOURCES = {
    name: "\n\n".join(
        f"Section {number} of {name} is about {TOPICS[number % 8]}. "
        + " ".join(
            f"Rule {number}.{n} of {name} on {TOPICS[(number + n) % 8]} says {n}."
            for n in range(8)
        )
        for number in range(16)
    )
    for name in ("lease.txt", "rules.txt")
}
PARSERS = {
    "llamaindex": SentenceSplitter(chunk_size=90, chunk_overlap=30),
    "ours": OffsetSentenceNodeParser(chunk_size=60),
}
QUERIES = [
    f"What is the rule on {topic} and {other}?" for topic, other in pairwise(TOPICS)
]
QUERIES += ["Which section is about noise?", "Tell me of repairs and keys.", "pets"]


class Planned(MockFunctionCallingLLM):
    """Calls what each step of a plan says, then answers; keeps what it was sent."""

    plan: Any = ()
    sent: list[list[ChatMessage]]

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_function_calling_model=True, context_window=100_000)

    def _get_response_generator(self) -> Any:
        def answer(messages: Any, **_: Any) -> ChatMessage:
            self.sent.append([each.model_copy(deep=True) for each in messages])
            return ChatMessage(role="assistant", blocks=self.said(next(self.plan, ())))

        return answer

    def said(self, step: Any) -> list[Any]:
        calls = [ToolCallBlock(tool_name=name, tool_kwargs=to) for name, to in step]
        return calls or [TextBlock(text="An answer.")]


class Reasoning(Planned):
    """The same for a ReActAgent, which calls tools by what is written."""

    def said(self, step: Any) -> list[Any]:
        text = "Thought: I can answer.\nAnswer: An answer."
        for name, given in step:
            text = (
                f"Thought: I look.\nAction: {name}\nAction Input: {json.dumps(given)}"
            )
        return [TextBlock(text=text)]


def asks(*numbers: int) -> Any:
    return [("search", {"input": QUERIES[number]}) for number in numbers]


def searches(*turns: int) -> Any:
    """So many searches in each turn, of all queries one after another."""
    queries = cycle(range(len(QUERIES)))
    return iter([asks(*islice(queries, turn)) for turn in turns])


def two_documents(parser: str = "ours") -> VectorStoreIndex:
    return VectorStoreIndex.from_documents(
        [document(name, text) for name, text in SOURCES.items()],
        transformations=[PARSERS[parser]],
        embed_model=WordEmbedding(),
    )


def search(retriever: Any, **options: Any) -> OrderPreservingRetrieverTool:
    options = {"name": "search", "show": "unseen", **options}
    return OrderPreservingRetrieverTool.from_defaults(retriever, **options)


def hands_to(name: str) -> Any:
    return [("handoff", {"to_agent": name, "reason": "It knows more."})]
