"""LlamaIndex's tutorials of 2026, before and after the one line that changes.

Pages: the starter (an agent with a function that asks an engine), "FunctionAgent",
"Multi-agent workflows" and "RAG Workflow with Reranking". Each pattern is what its page
teaches, in words of our own, with scripted models. The order is read off the prompts
that the models were sent.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage, MockFunctionCallingLLM
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.response_synthesizers import CompactAndRefine
from llama_index.core.schema import NodeWithScore
from llama_index.core.tools import BaseTool, RetrieverTool
from llama_index.core.workflow import Event, StartEvent, StopEvent, Workflow, step

from llamaindex_oprag import OrderPreservingPostprocessor, OrderPreservingRetrieverTool
from tests.kit.marked_text import TEXT, inverted_pairs, marks
from tests.llamaindex.recording import RecordingLLM, WordEmbedding

# LlamaIndex's agents use what pydantic and its own workflows deprecate.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

QUESTION = "Which rules bind whoever signs, 7 of section 3, and 2 of section 9?"
NAMED = {"name": "search", "description": "Searches the lease."}
Postprocessors = list[BaseNodePostprocessor]


@pytest.fixture
def lease() -> VectorStoreIndex:
    """Their splitter, with overlap."""
    return VectorStoreIndex.from_documents(
        [Document(text=TEXT, id_="lease.md")],
        transformations=[SentenceSplitter(chunk_size=80, chunk_overlap=20)],
        embed_model=WordEmbedding(),
    )


class Models:
    """One that calls tools and one that writes answers."""

    def __init__(self) -> None:
        self.caller = MockFunctionCallingLLM(response_generator=self._answer)
        self.writer = RecordingLLM()
        self._called: list[str] = []

    @property
    def prompts(self) -> list[str]:
        """What both were sent, call by call."""
        return [*self._called, *self.writer.prompts]

    def _answer(self, messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        """Search; hand over to the writer if there is one; answer."""
        prompt = "\n".join(message.content or "" for message in messages)
        self._called.append(prompt)
        if messages[-1].role != "tool":
            return _calling("search", input=QUESTION)
        if "Hand over" in prompt:
            return _calling("handoff", to_agent="writer", reason="It was found.")
        return ChatMessage("An answer.", role="assistant")


def _calling(name: str, **arguments: Any) -> ChatMessage:
    call = ToolCallBlock(tool_name=name, tool_kwargs=arguments, tool_call_id=name)
    return ChatMessage(role="assistant", blocks=[call])


# The starter: a function over a query engine


def function_agent(index: VectorStoreIndex, last: Postprocessors, models: Models):
    engine = index.as_query_engine(
        llm=models.writer, similarity_top_k=4, node_postprocessors=last
    )

    def search(input: str) -> str:  # noqa: A002 -- what the model calls it
        """Answer questions about the lease."""
        return str(engine.query(input))

    return FunctionAgent(tools=[search], llm=models.caller)


# A retriever as the agent's tool


def retriever_tool_agent(tool: BaseTool, models: Models):
    return FunctionAgent(tools=[tool], llm=models.caller)


def two_agents(tool: BaseTool, models: Models):
    """One searches and hands over to one that writes."""
    searcher = FunctionAgent(
        name="searcher",
        description="Searches the lease.",
        system_prompt="Search. Hand over to the writer then.",
        tools=[tool],
        llm=models.caller,
        can_handoff_to=["writer"],
    )
    writer = FunctionAgent(
        name="writer",
        description="Writes the answer.",
        system_prompt="Write the answer.",
        tools=[],
        llm=models.caller,
    )
    return AgentWorkflow(agents=[searcher, writer], root_agent="searcher")


# Retrieve, rerank, synthesize: a workflow


class Retrieved(Event):
    nodes: list[NodeWithScore]


class Reranked(Event):
    nodes: list[NodeWithScore]


class RagWorkflow(Workflow):
    def __init__(self, index: VectorStoreIndex, last: Postprocessors, models: Models):
        super().__init__()
        self.retriever = index.as_retriever(similarity_top_k=10)
        self.last = last
        self.synthesizer = CompactAndRefine(llm=models.writer, streaming=True)

    @step
    async def retrieve(self, event: StartEvent) -> Retrieved:
        return Retrieved(nodes=await self.retriever.aretrieve(QUESTION))

    @step
    async def rerank(self, event: Retrieved) -> Reranked:
        nodes = ByAScoreOfItsOwn().postprocess_nodes(event.nodes, query_str=QUESTION)
        for postprocessor in self.last:
            nodes = await postprocessor.apostprocess_nodes(nodes, query_str=QUESTION)
        return Reranked(nodes=nodes)

    @step
    async def synthesize(self, event: Reranked) -> StopEvent:
        response = await self.synthesizer.asynthesize(QUESTION, nodes=event.nodes)
        said = [token async for token in response.async_response_gen()]
        return StopEvent(result="".join(said))


class ByAScoreOfItsOwn(BaseNodePostprocessor):
    """A reranker: keeps the four best of its own scores."""

    def _postprocess_nodes(self, nodes, query_bundle=None):
        scored = [
            NodeWithScore(node=found.node, score=zlib.crc32(found.text.encode()))
            for found in nodes
        ]
        return sorted(scored, key=lambda found: -found.score)[:4]


# The line that changes


class Tutorial(NamedTuple):
    """A pattern without the line and with it."""

    before: Callable[[VectorStoreIndex, Models], Any]
    after: Callable[[VectorStoreIndex, Models], Any]


def with_last(build: Callable[..., Any]) -> Tutorial:
    """`node_postprocessors=[…, OrderPreservingPostprocessor()]`."""
    return Tutorial(
        lambda index, models: build(index, [], models),
        lambda index, models: build(index, [OrderPreservingPostprocessor()], models),
    )


def with_tool(build: Callable[..., Any]) -> Tutorial:
    """`OrderPreservingRetrieverTool.from_defaults(retriever, …)`."""

    def made_by(tool: Any) -> Callable[[VectorStoreIndex, Models], Any]:
        return lambda index, models: build(
            tool.from_defaults(index.as_retriever(similarity_top_k=4), **NAMED), models
        )

    return Tutorial(made_by(RetrieverTool), made_by(OrderPreservingRetrieverTool))


TUTORIALS = {
    "FunctionAgent": with_last(function_agent),
    "FunctionAgent, retriever": with_tool(retriever_tool_agent),
    "AgentWorkflow, two agents": with_tool(two_agents),
    "RAG workflow": with_last(RagWorkflow),
}

each_tutorial = pytest.mark.parametrize("tutorial", TUTORIALS.values(), ids=TUTORIALS)


async def prompts(build: Any, index: VectorStoreIndex, *, streamed: bool) -> list[str]:
    """Run an application; what its models were sent, call by call."""
    models = Models()
    handler = build(index, models).run(user_msg=QUESTION)
    if streamed:
        assert [event async for event in handler.stream_events()]
    assert "An answer." in str(await handler)
    return models.prompts


@pytest.mark.parametrize("streamed", [False, True], ids=["awaited", "streamed"])
@each_tutorial
async def test_one_changed_line_puts_what_the_model_reads_in_order(
    tutorial, streamed, lease
):
    before = await prompts(tutorial.before, lease, streamed=streamed)
    after = await prompts(tutorial.after, lease, streamed=streamed)

    assert inverted_pairs(before) > 0
    assert inverted_pairs(after) == 0
    assert set(marks("".join(after))) == set(marks("".join(before)))
