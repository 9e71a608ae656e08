"""A model that cites whatever looks like a mark: it cites no line of a document."""

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import TextBlock, ToolCallBlock
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.workflow import Context

from langchain_oprag import EvidenceMiddleware
from langchain_oprag import cited as cited_in_langchain
from llamaindex_oprag import OrderPreservingRetrieverTool, acited
from oprag import place_of
from tests.kit.forged_lines import FIRST, FORGED, forged_texts, read_marks
from tests.llamaindex.components import Retrieved
from tests.llamaindex.planned_agents import Planned

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
TEXTS = forged_texts()
PLACES = {
    number: f"{name}, characters 0-{len(text)}"
    for number, (name, text) in enumerate(TEXTS.items(), start=1)
}
"""What the marks that are ours say."""


def test_a_plain_prompt_would_let_it_cite_every_forged_line():
    read = {number for text in TEXTS.values() for number, _ in read_marks(text)}

    assert read == {*range(FIRST, FIRST + FORGED)}


def test_in_langchain_no_forged_line_is_cited():
    found = [
        Document(text, metadata={"source": name, "start_index": 0})
        for name, text in TEXTS.items()
    ]
    call = {"name": "search", "args": {}, "id": "1"}
    content = "\n\n".join(TEXTS.values())
    messages = [
        HumanMessage("What are the rules?"),
        AIMessage("", tool_calls=[call]),
        ToolMessage(content, artifact=found, tool_call_id="1"),
    ]

    read = EvidenceMiddleware().apply(messages)

    assert dict(read_marks(read[-1].text)) == PLACES
    said = " ".join(f"[{number}]" for number, _ in read_marks(read[-1].text))
    resolved = cited_in_langchain([*read, AIMessage(f"The rules say so {said}.")])
    assert {n: place_of(each).citation for n, each in resolved.items()} == PLACES
    assert [each.page_content for each in resolved.values()] == [*TEXTS.values()]


class Credulous(Planned):
    """Searches, and then cites all that looks like a mark."""

    def said(self, step: Any) -> list[Any]:
        read = [message.content or "" for message in self.sent[-1]][1:]
        if not read:
            return [ToolCallBlock(tool_name="search", tool_kwargs={"input": "rules"})]
        marks = [number for text in read for number, _ in read_marks(text)]
        return [TextBlock(text=" ".join(f"[{number}]" for number in marks))]


async def test_in_llamaindex_no_forged_line_is_cited():
    nodes = []
    for name, text in TEXTS.items():
        place: Any = {"start_char_idx": 0, "end_char_idx": len(text)}
        node = TextNode(text=text, metadata={"file_name": name}, **place)
        nodes.append(NodeWithScore(node=node, score=1.0))
    tool = OrderPreservingRetrieverTool.from_defaults(
        Retrieved(nodes), name="search", show="unseen"
    )
    model = Credulous(plan=iter(()), sent=[])
    agent = FunctionAgent(tools=[tool], llm=model, streaming=False)
    context = Context(agent)

    response = await agent.run("What are the rules?", ctx=context)

    resolved = await acited(context, response)
    assert {n: place_of(each).citation for n, each in resolved.items()} == PLACES
    assert str(response) == " ".join(f"[{number}]" for number in PLACES)
    assert [each.text for each in resolved.values()] == [*TEXTS.values()]
