"""The page "Build a RAG agent": an agent with a tool, and chains in middleware."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool, StructuredTool, tool
from langchain_core.vectorstores import VectorStore


def serialized(documents: Iterable[Document]) -> str:
    return "\n\n".join(
        f"Source: {document.metadata}\nContent: {document.page_content}"
        for document in documents
    )


def agent(model: BaseChatModel, retrieve: BaseTool) -> Any:
    from langchain.agents import create_agent

    return create_agent(model, [retrieve], system_prompt="Search before you answer.")


def agent_that_finds(find: Callable[[str], Sequence[Document]]) -> Any:
    """An agent with the page's tool around a search."""

    @tool(response_format="content_and_artifact")
    def retrieve(query: str):
        """Look something up in the lease."""
        documents = find(query)
        return serialized(documents), documents

    return lambda model: agent(model, retrieve)


def rag_agent(store: VectorStore) -> Any:
    return agent_that_finds(lambda query: store.similarity_search(query, k=4))


def rag_agent_with_an_awaited_tool(store: VectorStore) -> Any:
    def retrieve(query: str):
        documents = store.similarity_search(query, k=4)
        return serialized(documents), documents

    async def aretrieve(query: str):
        documents = await store.asimilarity_search(query, k=4)
        return serialized(documents), documents

    both = StructuredTool.from_function(
        retrieve,
        coroutine=aretrieve,
        description="Looks something up in the lease.",
        response_format="content_and_artifact",
    )
    return lambda model: agent(model, both)


def rag_chain(store: VectorStore) -> Any:
    from langchain.agents import create_agent
    from langchain.agents.middleware import dynamic_prompt

    @dynamic_prompt
    def with_context(request: Any) -> str:
        documents = store.similarity_search(request.state["messages"][-1].text)
        texts = "\n\n".join(document.page_content for document in documents)
        return f"Answer from this context:\n\n{texts}"

    return lambda model: create_agent(model, tools=[], middleware=[with_context])


def rag_chain_that_keeps_its_sources(store: VectorStore) -> Any:
    from langchain.agents import AgentState, create_agent
    from langchain.agents.middleware import AgentMiddleware

    class WithContext(AgentState):
        context: list[Document]

    class Retrieve(AgentMiddleware):
        state_schema = WithContext

        def before_model(self, state, runtime):
            asked = state["messages"][-1]
            documents = store.similarity_search(asked.text)
            texts = "\n\n".join(document.page_content for document in documents)
            content = f"{asked.text}\n\nContext:\n{texts}"
            message = asked.model_copy(update={"content": content})
            return {"messages": [message], "context": documents}

    return lambda model: create_agent(model, tools=[], middleware=[Retrieve()])
