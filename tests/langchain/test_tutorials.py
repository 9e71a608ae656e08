"""LangChain's tutorials of 2026, before and after the one line that changes.

Pages: "Build a RAG agent" and "RAG with Deep Agents", in words of our own, with a
scripted model. The order is read off the prompts that the model was sent. Chains and
graphs are among the places of `docs/apps.md`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from langchain_oprag import (
    EvidenceMiddleware,
    OrderPreservingVectorStore,
    create_retrieval_tool,
)
from oprag.errors import PositionError
from tests.kit.marked_text import MARK, TEXT, inverted_pairs, marks
from tests.langchain.compat import needs_1x
from tests.langchain.corpus import EMBEDDING, starts
from tests.langchain.recording import RecordingChatModel

QUESTION = "What does the lease bind?"
OTHER_QUESTION = "Which rules bind whoever signs?"
INPUT = {"messages": [{"role": "user", "content": QUESTION}]}
NO_DEEPAGENTS = "deepagents is in the group test-newest only"


class ScriptedModel(RecordingChatModel):
    """Answers what its script says, and remembers what it was sent."""

    script: Callable[[list[BaseMessage]], AIMessage]

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        self.calls.append(messages)
        return ChatResult(generations=[ChatGeneration(message=self.script(messages))])


def calling(name: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": name}])


SEARCH, ANSWER = calling("retrieve", query=QUESTION), AIMessage("An answer.")


def searching(messages: list[BaseMessage]) -> AIMessage:
    """Search, and answer when the tool has answered."""
    return ANSWER if messages[-1].type == "tool" else SEARCH


@pytest.fixture
def store() -> InMemoryVectorStore:
    """Their splitter, with overlap; vectors that say nothing of the order."""
    separators = ["\n\n", " ["]
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=250, chunk_overlap=70, separators=separators, add_start_index=True
    )
    chunks = splitter.split_documents([Document(TEXT, metadata={"source": "lease.md"})])
    for chunk in chunks:
        chunk.metadata["third"] = chunk.metadata["start_index"] * 3 // len(TEXT)
    found = InMemoryVectorStore(EMBEDDING)
    found.add_documents(chunks)
    return found


# Applications: of a store and a model


def agent(store: Any, model: Any) -> Any:
    """An agent with the page's tool around a search."""
    from langchain.agents import create_agent

    @tool(response_format="content_and_artifact")
    def retrieve(query: str):
        """Look something up in the lease."""
        found = store.similarity_search(query, k=4)
        written = (f"Source: {d.metadata}\nContent: {d.page_content}" for d in found)
        return "\n\n".join(written), found

    return create_agent(model, [retrieve], system_prompt="Search before you answer.")


def deep_agent(store: Any, model: Any) -> Any:
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
    return deepagents.create_deep_agent(
        model, tools=[retrieve], backend=backend, subagents=[analyst]
    )


def delegating(messages: list[BaseMessage]) -> AIMessage:
    """Search, give each file to a sub-agent, and answer from what they say."""
    last = messages[-1]
    paths = re.findall(r"/retrieved/\S+", last.text)
    if isinstance(last, HumanMessage):
        return calling("read_file", file_path=paths[0]) if paths else SEARCH
    if last.name == "read_file":
        return AIMessage(last.text)
    given = [{"description": path, "subagent_type": "analyst"} for path in paths]
    tasks = [
        {"name": "task", "id": each["description"], "args": each} for each in given
    ]
    return AIMessage("", tool_calls=tasks) if tasks else ANSWER


BUILT: dict[str, tuple[Any, Any]] = {
    "agent": (agent, searching),
    "Deep Agents": (deep_agent, delegating),
}


@needs_1x
@pytest.mark.parametrize("mode", ["invoke", "astream"])
@pytest.mark.parametrize("name", BUILT)
async def test_one_changed_line_puts_what_the_model_reads_in_order(name, mode, store):
    build, script = BUILT[name]
    ordered = OrderPreservingVectorStore(store)

    before = await prompts(lambda m: build(store, m), script, mode)
    after = await prompts(lambda m: build(ordered, m), script, mode)

    assert inverted_pairs(before) > 0
    assert inverted_pairs(after) == 0
    assert set(marks(after[-1])) == set(marks(before[-1]))


async def prompts(build: Any, script: Any, mode: str) -> list[str]:
    """Run an application; what its model was sent, call by call."""
    model = ScriptedModel(script=script)
    app = build(model)
    if mode == "invoke":
        app.invoke(INPUT)
    else:
        assert [each async for each in app.astream(INPUT, stream_mode="messages")]
    return ["\n".join(message.text for message in call) for call in model.calls]


def test_a_section_that_the_page_adds_to_chunks_takes_one_option_more(store):
    """Splitters that write it often count within it; here it was added afterwards."""
    chunks = store.similarity_search("", k=1_000)
    for chunk in chunks:
        chunk.metadata["section"] = f"part {chunk.metadata['third']}"
    sectioned = InMemoryVectorStore(EMBEDDING)
    sectioned.add_documents(chunks)

    with pytest.raises(PositionError):
        OrderPreservingVectorStore(sectioned).similarity_search(QUESTION)
    with_keys = OrderPreservingVectorStore(sectioned, position_keys="start_index")
    found = starts(with_keys.similarity_search(QUESTION))
    assert found == sorted(found)


def test_a_deep_agent_that_searches_twice_reads_each_sentence_once(store):
    deepagents = pytest.importorskip("deepagents", reason=NO_DEEPAGENTS)
    search = create_retrieval_tool(store, token_budget=400, name="retrieve")
    read = {}
    for middleware in ((), (EvidenceMiddleware(),)):
        queries = iter((QUESTION, OTHER_QUESTION))

        def twice(_: Any, queries: Any = queries) -> AIMessage:
            query = next(queries, None)
            return calling("retrieve", query=query) if query else ANSWER

        model = ScriptedModel(script=twice)
        deepagents.create_deep_agent(
            model, tools=[search], middleware=middleware
        ).invoke(INPUT)
        read[bool(middleware)] = MARK.findall(model.sent)

    assert len(read[False]) > len(set(read[False]))
    assert sorted(read[True]) == sorted(set(read[False]))
