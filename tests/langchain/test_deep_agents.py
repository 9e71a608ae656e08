"""LangChain's tutorial "RAG with Deep Agents", before and after the changed line."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import tool
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from langchain_oprag import OrderPreservingVectorStore
from tests.kit.marked_text import TEXT, inverted_pairs, marks
from tests.langchain.corpus import EMBEDDING
from tests.langchain.recording import RecordingChatModel

QUESTION = "What does the lease bind?"
deepagents = pytest.importorskip(
    "deepagents", reason="it is in the group test-newest only"
)
INPUT = {"messages": [{"role": "user", "content": QUESTION}]}


class ScriptedModel(RecordingChatModel):
    """Answers what its script says, and remembers what it was sent."""

    script: Callable[[list[BaseMessage]], AIMessage]

    def reply(self, messages: list[BaseMessage]) -> AIMessage:
        self.calls.append(messages)
        return self.script(messages)


def calling(name: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": name}])


SEARCH, ANSWER = calling("retrieve", query=QUESTION), AIMessage("An answer.")


@pytest.fixture
def store() -> InMemoryVectorStore:
    """Their splitter, with overlap; vectors that say nothing of the order."""
    separators = ["\n\n", " ["]
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=250, chunk_overlap=70, separators=separators, add_start_index=True
    )
    chunks = splitter.split_documents([Document(TEXT, metadata={"source": "lease.md"})])
    found = InMemoryVectorStore(EMBEDDING)
    found.add_documents(chunks)
    return found


def deep_agent(store: Any, model: Any) -> Any:
    """A file for each chunk, and a sub-agent for each file."""
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


@pytest.mark.parametrize("mode", ["invoke", "astream"])
async def test_one_changed_line_puts_what_the_model_reads_in_order(mode, store):
    before = await prompts(store, mode)
    after = await prompts(OrderPreservingVectorStore(store), mode)

    assert inverted_pairs(before) > 0
    assert inverted_pairs(after) == 0
    assert set(marks(after[-1])) == set(marks(before[-1]))


async def prompts(store: Any, mode: str) -> list[str]:
    """Run the application; what its model was sent, call by call."""
    model = ScriptedModel(script=delegating)
    app = deep_agent(store, model)
    if mode == "invoke":
        app.invoke(INPUT)
    else:
        assert [each async for each in app.astream(INPUT, stream_mode="messages")]
    return ["\n".join(message.text for message in call) for call in model.calls]
