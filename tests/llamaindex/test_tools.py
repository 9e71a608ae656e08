"""A retriever as a tool: places within the budget; nothing twice in a conversation."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import count, pairwise
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata
from llama_index.core.bridge.pydantic import Field
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.tools import RetrieverTool
from llama_index.core.workflow import Context

from llamaindex_oprag import (
    OffsetSentenceNodeParser,
    OrderPreservingRetrieverTool,
    format_nodes,
)
from tests.llamaindex.corpus import QUESTION, document, index
from tests.llamaindex.recording import WordEmbedding

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

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


class Searching(FunctionCallingLLM):
    """Makes so many searches in each turn, then answers; remembers what it was sent."""

    turns: list[int]
    calls: list[list[ChatMessage]] = Field(default_factory=list)
    queries: Any = Field(default_factory=count)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_function_calling_model=True, context_window=100_000)

    def _answer(self, messages: Sequence[ChatMessage]) -> ChatResponse:
        turn = len(self.calls)
        self.calls.append([message.model_copy(deep=True) for message in messages])
        searches = self.turns[turn] if turn < len(self.turns) else 0
        asked = [QUERIES[next(self.queries) % len(QUERIES)] for _ in range(searches)]
        reply = ChatMessage(role="assistant", content="" if asked else "An answer.")
        reply.additional_kwargs["asked"] = json.dumps(asked)
        return ChatResponse(message=reply)

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return self._answer(messages)

    async def achat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponse:
        return self._answer(messages)

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        raise NotImplementedError

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        async def parts():
            yield self._answer(messages)

        return parts()

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise NotImplementedError

    acomplete = stream_complete = astream_complete = complete

    def _prepare_chat_with_tools(
        self, tools, user_msg=None, chat_history=None, **kwargs
    ):
        return {"messages": [*(chat_history or [])]}

    def get_tool_calls_from_response(self, response, **kwargs):
        asked = json.loads(response.message.additional_kwargs["asked"])
        return [
            ToolSelection(
                tool_id=f"{n}", tool_name="search", tool_kwargs={"input": query}
            )
            for n, query in enumerate(asked)
        ]


def two_documents(parser: str) -> VectorStoreIndex:
    return VectorStoreIndex.from_documents(
        [document(name, text) for name, text in SOURCES.items()],
        transformations=[PARSERS[parser]],
        embed_model=WordEmbedding(),
    )


def search(retriever, **options) -> OrderPreservingRetrieverTool:
    options["name"] = "search"
    return OrderPreservingRetrieverTool.from_defaults(retriever, **options)


def agent(tool, *turns: int, streaming: bool = False, **options: Any) -> FunctionAgent:
    llm = Searching(turns=[*turns], **options)
    return FunctionAgent(tools=[tool], llm=llm, streaming=streaming)


HEAD = re.compile(r"^\[\d+\] (\S+), characters ([\d\- and]+)$", re.MULTILINE)


def places_shown(content: str) -> list[tuple[str, int]]:
    """Characters that a content shows, in its order; their text is the source's."""
    places = []
    for found in HEAD.finditer(content):
        spans = [(int(a), int(b)) for a, b in re.findall(r"(\d+)-(\d+)", found[2])]
        text = "\n".join(SOURCES[found[1]][start:end] for start, end in spans)
        assert content.startswith(text, found.end() + 1)
        places += [(found[1], n) for start, end in spans for n in range(start, end)]
    return places


def places_found(nodes) -> set[tuple[str, int]]:
    return {
        (each.node.ref_doc_id, n)
        for each in nodes
        for n in range(each.node.start_char_idx, each.node.end_char_idx)
    }


def in_order(places) -> bool:
    names = [name for name, _ in places]
    together = len({*names}) == sum(a != b for a, b in pairwise(["", *names]))
    return together and all(a < b for a, b in pairwise(places) if a[0] == b[0])


def texts_read(messages: Sequence[ChatMessage]) -> list[str]:
    return [message.content for message in messages if message.role == "tool"]


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("turns", [[1] * 10, [5, 5]], ids=["in turn", "parallel"])
@pytest.mark.parametrize("parser", PARSERS)
async def test_an_agent_is_shown_each_character_once_in_order_and_none_is_lost(
    parser, turns, streaming
):
    base = two_documents(parser).as_retriever(similarity_top_k=8)
    made = agent(search(base, show="unseen"), *turns, streaming=streaming)

    assert str(await made.run("What are the rules?")) == "An answer."

    contents = texts_read(made.llm.calls[-1])
    assert len(contents) == 10
    shown = [place for content in contents for place in places_shown(content)]
    assert len(shown) == len({*shown})
    assert all(in_order(places_shown(content)) for content in contents)
    found = {p for query in QUERIES for p in places_found(base.retrieve(query))}
    assert {*shown} <= found
    assert all(SOURCES[name][n].isspace() for name, n in found - {*shown})
    plain = sum(len(RetrieverTool.from_defaults(base).call(q).content) for q in QUERIES)
    assert sum(map(len, contents)) < 0.8 * plain
    assert any("see above" in content for content in contents)


@pytest.mark.parametrize("mode", ["call", "acall"])
@pytest.mark.parametrize("show", ["all", "unseen"])
async def test_it_writes_places_and_gap_marks_and_hands_out_the_nodes(
    lease, show, mode
):
    tool = search(lease.as_retriever(similarity_top_k=6), show=show)
    given = {"input": QUESTION}
    if show == "unseen":
        given["ctx"] = Context(agent(tool))

    output = tool.call(**given) if mode == "call" else await tool.acall(**given)

    assert output.content == format_nodes(output.raw_output)
    assert output.content.startswith("[1] lease.txt, characters ")
    assert "\n\n[…]\n\n[2] lease.txt" in output.content
    assert output.tool_name == "search"
    assert output.raw_input == {"input": QUESTION}


def test_the_model_is_told_a_name_a_description_and_one_input():
    made = OrderPreservingRetrieverTool.from_defaults(index())
    unseen = search(index(), show="unseen", description="The lease.")

    assert made.metadata.name == "retriever_tool"
    assert "place" in made.metadata.description
    assert unseen.metadata.description == "The lease."
    for tool in (made, unseen):
        parameters = tool.metadata.to_openai_tool()["function"]["parameters"]
        assert [*parameters["properties"]] == ["input"]
