"""Agents that search two documents, and checks of their prompts and numbers."""

import json
from itertools import count, pairwise

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from langchain_oprag import (
    EvidenceMiddleware,
    OffsetSentenceSplitter,
    OrderPreservingRetriever,
    cited,
)
from oprag import place_of
from tests.kit.shown_text import ShownText
from tests.langchain.compat import create_agent
from tests.langchain.corpus import EMBEDDING
from tests.langchain.recording import RecordingChatModel

SOURCES = {
    name: "\n\n".join(
        f"Section {number} of {name}. "
        + " ".join(
            f"Rule {number}.{n} of {name} is number {number * n}." for n in range(9)
        )
        for number in range(12)
    )
    for name in ("lease.txt", "rules.txt")
}
WHOLE = [Document(text, metadata={"source": name}) for name, text in SOURCES.items()]
SPLITTERS = {
    "langchain": RecursiveCharacterTextSplitter(
        chunk_size=400, chunk_overlap=120, add_start_index=True
    ),
    "ours": OffsetSentenceSplitter(chunk_size=60, tokenizer="approximate"),
}
QUESTION = {"messages": [HumanMessage("What are the rules?")]}
THREAD = {"configurable": {"thread_id": "1"}, "recursion_limit": 60}


def searching(splitter, *, ordered=False):
    """A tool as the tutorials write it: what comes depends on the query's hash."""
    store = InMemoryVectorStore(EMBEDDING)
    store.add_documents(SPLITTERS[splitter].split_documents(WHOLE))
    found = store.as_retriever(search_kwargs={"k": 5})
    if ordered:
        found = OrderPreservingRetriever(vectorstore=store, k=5, merge=True)

    @tool(response_format="content_and_artifact")
    def search(query: str) -> tuple[str, list[Document]]:
        """Search the rules."""
        documents = found.invoke(query)
        return "\n\n".join(
            f"Source: {each.metadata['source']}\nContent: {each.page_content}"
            for each in documents
        ), documents

    return search


def scripted(*turns, ids=None):
    """A model that makes so many searches in each turn, and then answers."""
    ids = ids or count()
    replies = [
        AIMessage(
            "",
            tool_calls=[
                {
                    "name": "search",
                    "args": {"query": f"query {number}"},
                    "id": f"{number}",
                }
                for number in (next(ids) for _ in range(searches))
            ],
        )
        for searches in turns
    ]
    return RecordingChatModel(replies=[*replies, AIMessage("answer")])


def agent(model, *, search, middleware=None, **options):
    middleware = [EvidenceMiddleware()] if middleware is None else middleware
    return create_agent(model, tools=[search], middleware=middleware, **options)


def places_found(artifact):
    places = set()
    for each in artifact:
        given = each if isinstance(each, dict) else each.model_dump()
        name = given["metadata"]["source"]
        whole, text = SOURCES[name], given["page_content"]
        place, stored = place_of(given), given["metadata"]
        start = stored.get("char_start", stored.get("start_index"))
        for first, last in place.spans if place else [(start, start + len(text))]:
            assert whole[first:last] in text
            places |= {(name, n) for n in range(first, last)}
    return places


def check(*prompts):
    """What prompts show: each all that was found, once and in order."""
    shown = ShownText(SOURCES)
    for prompt in prompts:
        read = [m for m in prompt if isinstance(m, ToolMessage) and m.artifact]
        places = {*shown.read(*(each.content for each in read))}
        found = {place for each in read for place in places_found(each.artifact)}
        # White space that a splitter took away is inside a place, or not.
        assert all(SOURCES[name][n].isspace() for name, n in found ^ places)
    return shown


def check_numbers(state, shown, *, forgotten=False):
    """That numbers mean what was read; how many were read, and have their text."""
    numbers = json.loads(json.dumps(state["oprag_numbers"]))
    found, whole = cited({**state, "oprag_numbers": numbers}), 0
    assert [*found] == [*range(1, len(found) + 1)]
    for number, (name, text) in shown.numbers.items():
        place = place_of(found[number])
        spans = "\n\n".join(SOURCES[name][a:b] for a, b in place.spans)
        assert (place.document_name, spans) == (name, text)
        assert found[number].page_content in ({text, ""} if forgotten else {text})
        whole += found[number].page_content == text
    return len(shown.numbers), whole


def contents(prompt):
    return [(message.type, message.content) for message in prompt]


def grows(calls):
    """Whether each prompt begins as the one before it."""
    return all(
        contents(after)[: len(before)] == contents(before)
        for before, after in pairwise(calls)
    )
