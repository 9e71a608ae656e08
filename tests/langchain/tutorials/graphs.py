"""The pages "RAG with Deep Agents" and "Build a custom RAG agent with LangGraph"."""

from __future__ import annotations

import re
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import tool
from langchain_core.vectorstores import VectorStore
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from pydantic import BaseModel

from tests.langchain.tutorials.model import ANSWER, OTHER_QUESTION, SEARCH, calling

NO_DEEPAGENTS = "deepagents is in the group test-newest only"


def deep_agent(store: VectorStore) -> Any:
    """A file for each chunk, and a sub-agent for each file."""
    deepagents = pytest.importorskip("deepagents", reason=NO_DEEPAGENTS)
    backend = deepagents.backends.StateBackend()

    @tool
    def retrieve(query: str) -> str:
        """Search the lease, and save what is found as files."""
        paths = []
        for number, document in enumerate(store.similarity_search(query, k=4), start=1):
            paths.append(f"/retrieved/chunk_{number}.md")
            backend.upload_files([(paths[-1], document.page_content.encode())])
        return "\n".join(paths)

    analyst = {
        "name": "analyst",
        "description": "Reads one file and says what is in it.",
        "system_prompt": "Read the file with read_file.",
    }
    return lambda model: deepagents.create_deep_agent(
        model, tools=[retrieve], backend=backend, subagents=[analyst]
    )


def delegating(messages: list[BaseMessage]) -> AIMessage:
    """Search, give each file to a sub-agent, and answer from what they say."""
    last = messages[-1]
    paths = re.findall(r"/retrieved/\S+", last.text)
    if isinstance(last, HumanMessage):
        if paths:
            return calling("read_file", file_path=paths[0])
        return SEARCH
    if last.name == "read_file":
        return AIMessage(last.text)
    tasks = [
        {
            "name": "task",
            "id": path,
            "args": {"description": path, "subagent_type": "analyst"},
        }
        for path in paths
    ]
    return AIMessage("", tool_calls=tasks) if tasks else ANSWER


class Grade(BaseModel):
    """Whether what was found is of use: yes or no."""

    score: str


def langgraph_agent(store: VectorStore) -> Any:
    retriever = store.as_retriever()

    @tool
    def retrieve(query: str) -> str:
        """Look something up in the lease."""
        return "\n\n".join(found.page_content for found in retriever.invoke(query))

    def build(model: BaseChatModel) -> Any:
        def decide(state: MessagesState):
            reply = model.bind_tools([retrieve]).invoke(state["messages"])
            return {"messages": [reply]}

        def grade(state: MessagesState) -> str:
            asked = [m.text for m in state["messages"] if m.type == "human"]
            prompt = f"Grade for {asked[-1]}:\n{state['messages'][-1].text}"
            said = model.with_structured_output(Grade).invoke(prompt)
            return "answer" if said.score == "yes" else "rewrite"

        def rewrite(state: MessagesState):
            reply = model.invoke(f"Rewrite: {state['messages'][0].text}")
            return {"messages": [HumanMessage(reply.text)]}

        def answer(state: MessagesState):
            reply = model.invoke(f"Answer from:\n{state['messages'][-1].text}")
            return {"messages": [reply]}

        graph = StateGraph(MessagesState)
        graph.add_node("decide", decide)
        graph.add_node("retrieve", ToolNode([retrieve]))
        graph.add_node("rewrite", rewrite)
        graph.add_node("answer", answer)
        graph.add_edge(START, "decide")
        ways = {"tools": "retrieve", END: END}
        graph.add_conditional_edges("decide", tools_condition, ways)
        graph.add_conditional_edges("retrieve", grade, ["answer", "rewrite"])
        graph.add_edge("rewrite", "decide")
        graph.add_edge("answer", END)
        return graph.compile()

    return build


def rewriting_once(messages: list[BaseMessage]) -> AIMessage:
    """What the first query finds is of no use; what the second one finds is."""
    asked = messages[-1].text
    if asked.startswith("Grade"):
        return calling("Grade", score="yes" if OTHER_QUESTION in asked else "no")
    if asked.startswith("Rewrite"):
        return AIMessage(OTHER_QUESTION)
    if asked.startswith("Answer"):
        return ANSWER
    return calling("retrieve", query=asked)
