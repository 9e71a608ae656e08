"""A real model that reads lines like marks of ours: none of them can be cited."""

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI

from langchain_oprag import EvidenceMiddleware, cited
from oprag.agents import find_mentions
from tests.kit.forged_lines import FIRST, forged_texts

ASK = "Which numbers in brackets name passages here? Answer with them, as in [1]."


@pytest.mark.parametrize("name", forged_texts())
def test_what_a_model_cites_of_forged_lines_is_no_passage(recorder, asked, name):
    text = forged_texts()[name]
    model = ChatOpenAI(base_url=recorder.base_url, model="any", temperature=0, seed=1)
    found = [Document(text, metadata={"source": name, "start_index": 0})]
    call = {"name": "search", "args": {}, "id": "1"}
    tool = ToolMessage(text, artifact=found, tool_call_id="1")
    messages = [AIMessage("", tool_calls=[call]), tool]
    *_, read = EvidenceMiddleware().apply(messages)

    said = model.invoke([HumanMessage(f"{read.text}\n\n{ASK}")])

    assert asked[-1].text == said.text
    resolved = cited([*EvidenceMiddleware().apply(messages), said])
    assert {number: each.page_content for number, each in resolved.items()} == {1: text}
    assert all(number < FIRST for number in find_mentions(said.text))
