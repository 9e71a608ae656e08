"""Agents that search several times: the model reads each character once, in order."""

from __future__ import annotations

import copy
import json
import re
from itertools import count, pairwise

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter
from langgraph.checkpoint.memory import InMemorySaver

from langchain_oprag import (
    EvidenceMiddleware,
    OffsetSentenceSplitter,
    OrderPreservingRetriever,
)
from oprag import place_of
from oprag.tokens import resolve_token_counter
from tests.kit import fresh_interpreter
from tests.kit.words import words
from tests.langchain.compat import create_agent, needs_1x
from tests.langchain.corpus import EMBEDDING, chunk
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


def searching(splitter, *, ordered=False, k=5):
    """A tool as the tutorials write it: what comes depends on the query's hash."""
    store = InMemoryVectorStore(EMBEDDING)
    store.add_documents(SPLITTERS[splitter].split_documents(WHOLE))
    found = store.as_retriever(search_kwargs={"k": k})
    if ordered:
        found = OrderPreservingRetriever(vectorstore=store, k=k, merge=True)

    @tool(response_format="content_and_artifact")
    def search(query: str) -> tuple[str, list[Document]]:
        """Search the rules."""
        documents = found.invoke(query)
        return "\n\n".join(
            f"Source: {each.metadata}\nContent: {each.page_content}"
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


HEAD = re.compile(r"^\[\d+\] (\S+), characters ([\d\- and]+)$", re.MULTILINE)


def places_shown(content):
    """Characters that a message shows, in its order; their text is the source's."""
    places = []
    for found in HEAD.finditer(content):
        name, spans = found[1], re.findall(r"(\d+)-(\d+)", found[2])
        spans = [(int(start), int(end)) for start, end in spans]
        text = "\n".join(SOURCES[name][start:end] for start, end in spans)
        assert content.startswith(text, found.end() + 1)
        places += [(name, n) for start, end in spans for n in range(start, end)]
    return places


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


def check(prompt):
    """The prompt of one call; how many characters it has."""
    shown, found = [], set()
    for message in prompt:
        if isinstance(message, ToolMessage) and message.artifact:
            places = places_shown(message.content)
            for _, following in (pairs := [*pairwise(places)]):
                assert following
            assert all(a < b for a, b in pairs if a[0] == b[0])
            names = [name for name, _ in places]
            assert len({*names}) == sum(a != b for a, b in pairwise(["", *names]))
            shown += places
            found |= places_found(message.artifact)
    assert len(shown) == len({*shown})
    # White space that a splitter took away is inside a place, or not.
    assert all(SOURCES[name][n].isspace() for name, n in found ^ {*shown})
    return len(shown)


def contents(prompt):
    return [(message.type, message.content) for message in prompt]


def grows(calls):
    """Whether each prompt begins as the one before it."""
    return all(
        contents(after)[: len(before)] == contents(before)
        for before, after in pairwise(calls)
    )


@needs_1x
@pytest.mark.parametrize("mode", ["invoke", "astream"])
@pytest.mark.parametrize("turns", [[1] * 10, [5, 5]], ids=["in turn", "parallel"])
@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("ordered", [False, True], ids=["plain", "ordered"])
async def test_each_character_is_sent_once_in_order_and_none_is_lost(
    ordered, splitter, turns, mode
):
    search = searching(splitter, ordered=ordered)
    plain, model = scripted(*turns), scripted(*turns)
    agent(plain, search=search, middleware=[]).invoke(QUESTION, THREAD)
    built = agent(model, search=search, checkpointer=InMemorySaver())
    if mode == "invoke":
        read = built.invoke(QUESTION, THREAD)["messages"]
        assert all("Content: " in m.content for m in read if m.type == "tool")
    else:
        assert [part async for part in built.astream(QUESTION, THREAD)]

    assert len(model.calls) == len(turns) + 1
    assert [check(prompt) > 0 for prompt in model.calls[1:]] == [True] * len(turns)
    assert grows(model.calls)
    tokens = resolve_token_counter("approximate")
    assert tokens(model.sent) < 0.5 * tokens(plain.sent)


@needs_1x
def test_a_restarted_agent_knows_what_its_thread_shows():
    search, saver, ids = searching("langchain"), InMemorySaver(), count()
    first, second = scripted(1, 1, ids=ids), scripted(2, 1, ids=ids)
    agent(first, search=search, checkpointer=saver).invoke(QUESTION, THREAD)
    agent(second, search=search, checkpointer=saver).invoke(QUESTION, THREAD)

    assert check(second.calls[-1]) > check(first.calls[-1])
    assert grows([*first.calls, *second.calls])
    assert "see above" in second.sent


@needs_1x
def test_what_was_cleared_is_shown_again():
    from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware

    edits = [ClearToolUsesEdit(trigger=2_500, keep=2)]
    middleware = [ContextEditingMiddleware(edits=edits), EvidenceMiddleware()]
    model = scripted(*[1] * 10)

    agent(model, search=searching("ours"), middleware=middleware).invoke(
        QUESTION, THREAD
    )

    last = [m.content for m in model.calls[-1] if isinstance(m, ToolMessage)]
    assert last[:8] == ["[cleared]"] * 8
    assert [check(prompt) > 0 for prompt in model.calls[1:]] == [True] * 10


def message(*documents, content=None, **fields):
    texts = [
        d["page_content"] if isinstance(d, dict) else d.page_content for d in documents
    ]
    content = "\n\n".join(texts) if content is None else content
    return ToolMessage(content, tool_call_id="1", artifact=[*documents], **fields)


def shown(*messages, **options):
    given = copy.deepcopy(messages)
    applied = EvidenceMiddleware(**options).apply(messages)
    assert messages == given
    return [each.content for each in applied]


def test_messages_are_new_objects_and_keep_all_but_what_they_show():
    given = [SystemMessage("Be brief."), message(chunk(0), id="a", name="search")]

    applied = EvidenceMiddleware().apply(given)

    assert applied[0] is given[0]
    assert applied[1] is not given[1]
    read = applied[1].model_dump(exclude={"content", "artifact"})
    assert read == given[1].model_dump(exclude={"content", "artifact"})
    assert given[1].artifact == [chunk(0)]
    assert applied[1].content == "[1] book.txt, characters 0-18\nchunk 000 says x. "


def test_what_a_checkpointer_made_of_documents_is_known():
    as_dicts = [chunk(number).model_dump() for number in (5, 1, 0)]

    read = shown(message(*as_dicts), message(chunk(1)), message(*as_dicts[1:]))

    first = (
        "[1] book.txt, characters 0-36\nchunk 000 says x. chunk 001 says x. "
        "\n\n[…]\n\n[2] book.txt, characters 90-108\nchunk 005 says x. "
    )
    assert read == [first, "[see above: [1]]", "[see above: [1]]"]


def at(text, start=0, source="terms.md"):
    return Document(text, metadata={"source": source, "start_index": start})


DUE = [at("Due:\n30 days\n"), at("Something else entirely, and longer.", 40)]
SHORT = [at("30 days", 9)]
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}}


@pytest.mark.parametrize(
    ("artifact", "content"),
    [
        *(([], "x"), (None, "x"), ({"rows": 3}, "x"), ([chunk(0), 3], "x")),
        (["chunk 000 says x."], "chunk 000 says x."),
        ([{"page_content": 3}], "x"),
        ([chunk(0)], "It says x."),
        ([chunk(0)], "[cleared]"),
        ([chunk(0)], [IMAGE]),
        ([at(" ")], " "),
        (DUE, "Invoices are due within 30 days, and a fee of 4% follows."),
        (DUE, f"It is at /results/1. It begins:\n\n{DUE[0].page_content}[1 more]"),
        (DUE, f"The first is cut short:\n\nDue:\n\n{DUE[1].page_content}"),
        ([at("Paris")], "The capital of France is Paris, and has been so since 987."),
        *((SHORT, f"{head}30 days") for head in ("The answer: ", "Not ", "No:\n")),
    ],
)
def test_messages_that_show_something_else_stay_as_they_are_and_do_not_count(
    artifact, content
):
    other = ToolMessage(content, tool_call_id="1", artifact=artifact)
    found = artifact if artifact in (DUE, SHORT) else [chunk(0)]

    applied = EvidenceMiddleware().apply([other, message(*found)])

    assert applied[0] is other
    assert applied[1].content.startswith("[1] ")
    assert "see above" not in applied[1].content


QUOTES = (
    'He said "no".\nThen "yes". It was März, and the fields lay under the snow '
    "until noon."
)


@pytest.mark.parametrize(
    "written",
    [
        lambda found: json.dumps([{"text": d.page_content} for d in found]),
        lambda found: json.dumps(
            {"hits": [d.model_dump() for d in found], "k": 2},
            ensure_ascii=False,
            indent=1,
        ),
        str,
        lambda found: "\n\n".join(
            f"Source: {d.metadata}\n{d.page_content}" for d in found
        ),
        lambda found: [{"type": "text", "text": d.page_content} for d in found],
    ],
    ids=["ascii", "indented", "repr", "heads", "blocks"],
)
def test_documents_are_shown_once_however_a_tool_wrote_them(written):
    found = [at(" Late.\n", 500, "a"), at(QUOTES, 0, "a")]

    first, second = shown(message(*found, content=written(found)), message(*found))

    places = [f"a, characters {place}" for place in ("0-84", "500-507")]
    assert first == "\n\n[…]\n\n".join(
        [f"[1] {places[0]}\n{QUOTES}", f"[2] {places[1]}\n Late.\n"]
    )
    assert second == "[see above: [1], [2]]"


def test_a_budget_holds_for_each_message_and_what_it_leaves_out_is_shown_later():
    found = [chunk(number) for number in (0, 4, 8)]
    read = shown(message(*found), message(*found), token_budget=25, token_counter=words)

    assert all(words(each) <= 25 for each in read)
    assert "chunk 008" not in read[0]
    assert "chunk 008" in read[1]
    assert "see above" in read[1]


def test_a_document_that_does_not_fit_is_passed_over_or_named():
    long = Document("many words " * 20, metadata={"source": "long.txt"})
    asked = [message(long, chunk(0)), message(long, chunk(0)), message(long)]

    read = shown(*asked, token_budget=14, token_counter=words)

    assert read == [
        "[1] book.txt, characters 0-18\nchunk 000 says x. ",
        "[too long to show: long.txt]",
        "[too long to show: long.txt]",
    ]


@needs_1x
def test_without_langchain_it_applies_and_an_agent_names_the_extra():
    said = fresh_interpreter.run(
        "from langchain_core.messages import HumanMessage\n"
        "from langchain_oprag import EvidenceMiddleware\n"
        "from oprag.errors import MissingDependencyError\n"
        "made = EvidenceMiddleware()\n"
        "print(made.apply([HumanMessage('hello')])[0].content)\n"
        "try: made.wrap_model_call(None, None)\n"
        "except MissingDependencyError as error: print(error)",
        without=["langchain"],
    )

    greeting, error = said.splitlines()
    assert greeting == "hello"
    assert "EvidenceMiddleware in an agent needs the package 'langchain'" in error
    assert 'pip install "oprag[agents]"' in error
