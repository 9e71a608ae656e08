"""Agents that search several times: the model reads each character once, in order."""

import contextlib
import copy
import json
import re
from itertools import count, pairwise

import pytest
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    trim_messages,
)
from langchain_core.tools import tool
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter
from langgraph.checkpoint.memory import InMemorySaver

from langchain_oprag import (
    EvidenceMiddleware,
    OffsetSentenceSplitter,
    OrderPreservingRetriever,
    cited,
)
from oprag import place_of
from oprag.errors import InvalidOptionError
from oprag.tokens import resolve_token_counter
from tests.kit import fresh_interpreter
from tests.kit.shown_text import ShownText
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


@needs_1x
@pytest.mark.parametrize("mode", ["invoke", "astream"])
@pytest.mark.parametrize("turns", [[1] * 10, [5, 5]], ids=["in turn", "parallel"])
@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("ordered", [False, True], ids=["plain", "ordered"])
async def test_each_character_is_sent_once_in_order_and_under_numbers_that_hold(
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
    assert grows(model.calls)
    tokens = resolve_token_counter("approximate")
    assert tokens(model.sent) < 0.8 * tokens(plain.sent)  # labels stay
    state = built.get_state(THREAD).values
    count_read, whole = check_numbers(state, check(*model.calls))
    assert count_read == whole > 10
    assert len(json.dumps(state["oprag_numbers"])) < 60 * count_read


@needs_1x
def test_threads_that_are_resumed_and_forked_go_on_with_what_they_show():
    search, saver, ids = searching("langchain"), InMemorySaver(), count()
    first, second, third = (scripted(2, 1, ids=ids) for _ in range(3))
    agent(first, search=search, checkpointer=saver).invoke(QUESTION, THREAD)
    built = agent(second, search=search, checkpointer=saver)
    before = built.get_state(THREAD)
    resumed = built.invoke(QUESTION, THREAD)
    other = agent(third, search=search, checkpointer=saver)
    forked = other.invoke(QUESTION, before.config)

    for state, model in ((resumed, second), (forked, third)):
        calls = [*first.calls, *model.calls]
        assert grows(calls)
        check_numbers(state, check(*calls))
        assert [*cited(state)] > [*cited(before.values)]
    assert "see above" in second.sent


def clearing():
    from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware

    edits = [ClearToolUsesEdit(trigger=2_500, keep=2)]
    return ContextEditingMiddleware(edits=edits)


def summarising():
    from langchain.agents.middleware import SummarizationMiddleware

    summary = RecordingChatModel(replies=[AIMessage("They read rules.")] * 20)
    return SummarizationMiddleware(
        summary, trigger=("messages", 8), keep=("messages", 4)
    )


def trimming():
    from langchain.agents.middleware import wrap_model_call

    def last(request, handler):
        kept = trim_messages(
            request.messages, max_tokens=6, token_counter=len, start_on="ai"
        )
        return handler(request.override(messages=kept))

    return wrap_model_call(last)


@needs_1x
@pytest.mark.parametrize("forgetting", [clearing, summarising, trimming])
def test_what_was_forgotten_is_shown_again_and_no_number_is_given_twice(forgetting):
    model = scripted(*[1] * 12)
    middleware = [forgetting(), EvidenceMiddleware()]
    built = agent(model, search=searching("langchain"), middleware=middleware)

    state = built.invoke(QUESTION, {"recursion_limit": 200})

    summarised = forgetting is summarising
    shown = check(*model.calls)
    count_read, whole = check_numbers(state, shown, forgotten=summarised)
    assert (count_read > whole > 0) if summarised else (count_read == whole > 10)


def message(*documents, content=None, **fields):
    texts = [
        d["page_content"] if isinstance(d, dict) else d.page_content for d in documents
    ]
    content = "\n\n".join(texts) if content is None else content
    return ToolMessage(content, tool_call_id="1", artifact=[*documents], **fields)


def shown(*messages):
    given = copy.deepcopy(messages)
    applied = EvidenceMiddleware().apply(messages)
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
        *((SHORT, f"{head}30 days") for head in ("The answer is ", "Not ")),
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


def as_read(content):
    """A content with the line breaks and signs that quoted texts stand for."""
    if not isinstance(content, str):
        return "\n".join(each["text"] for each in content)
    for written, sign in (
        ("\\n", "\n"),
        ('\\"', '"'),
        ("\\u00e4", "ä"),
        ("\\u2026", "…"),
    ):
        content = content.replace(written, sign)
    return content


def own_words(content, found):
    """Words that are neither of a document nor of a mark."""
    for text in sorted((each.page_content.strip() for each in found), key=len)[::-1]:
        content = content.replace(text, " ")
    content = re.sub(
        r"\[\d+\] a, characters \d+-\d+\n|\[see above: .*?\]\]", "", content
    )
    return re.findall(r"\w+|[{}:,']", content.replace("[…]", ""))


def assert_same_form(content, read):
    """JSON is JSON still."""
    with contextlib.suppress(ValueError):
        assert type(json.loads(content)) is type(json.loads(read))


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

    content = written(found)
    given = message(*found, content=content)
    applied = EvidenceMiddleware().apply([given, given, message(*found)])

    assert cited(applied).keys() == {1, 2}
    first, second, third = (as_read(each.content) for each in applied)
    for n, (place, text) in enumerate([("0-84", QUOTES), ("500-507", " Late.")], 1):
        assert f"[{n}] a, characters {place}\n{text}" in first
    assert first.index("[1] a") < first.index("[…]") < first.index("[2] a")
    assert {*re.findall(r"\[see above: .*?\]\]", second)} == {
        "[see above: [1]]",
        "[see above: [2]]",
    }
    assert third.strip() == "[see above: [1], [2]]"
    for each in (first, second):
        assert own_words(each, found) == own_words(as_read(content), found)
    if isinstance(content, str) and content[0] in "[{":
        assert_same_form(content, applied[0].content)


def test_messages_of_a_graph_of_your_own_say_what_their_numbers_mean():
    tool = searching("langchain")
    calls = [{"name": "search", "args": {"query": f"{n}"}, "id": f"{n}"} for n in "ab"]
    found = [tool.invoke({**call, "type": "tool_call"}) for call in calls]
    messages = [HumanMessage("?"), *found]
    applied = EvidenceMiddleware().apply(messages)

    found = cited(applied)

    assert {n: each.page_content for n, each in found.items()} == {
        n: text for n, (_, text) in check(applied).numbers.items()
    }
    for raw in (messages, {"messages": messages}):
        with pytest.raises(InvalidOptionError, match="begin with 1"):
            cited(raw)
    assert cited([HumanMessage("?")]) == {}


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


def heard(*lists):
    """What one middleware makes of conversations, and one that is new each time."""
    kept = EvidenceMiddleware()
    for messages in lists:
        fresh = EvidenceMiddleware().apply(messages)
        again = kept.apply(messages)
        assert [m.model_dump() for m in again] == [m.model_dump() for m in fresh]


def searched(*starts):
    return [
        message(chunk(start), chunk(start + 1), id=f"{n}")
        for n, start in enumerate(starts)
    ]


def test_what_is_kept_of_a_conversation_is_what_would_be_read_again():
    long = searched(0, 1, 5, 0, 3)
    other = [*long[:2], *searched(7, 2)]
    heard(long[:1], long[:3], long, other, long[2:], long, other[1:], [], long[:4])


def test_a_message_that_was_changed_is_read_again():
    kept, messages = EvidenceMiddleware(), searched(0, 1)
    kept.apply(messages)
    messages[0].content = "[cleared]"
    assert kept.apply(messages)[1].content.startswith("[1] book.txt, characters 18-")

    messages = searched(0, 1)
    kept.apply(messages)
    messages[0].artifact[0].page_content = "something else"
    assert kept.apply(messages)[0] is messages[0]


def test_the_work_for_a_model_call_is_that_for_what_is_new():
    counted = []

    def count_tokens(text):
        counted.append(len(text))
        return len(text)

    middleware = EvidenceMiddleware(token_budget=10_000, token_counter=count_tokens)
    messages, work = [], []
    for start in range(0, 80, 2):
        messages.append(message(chunk(start), chunk(start + 1)))
        middleware.apply(messages)
        work.append(sum(counted))
        counted.clear()
    assert max(work[1:]) < 1.2 * min(work[1:])


def test_an_answer_with_its_sources_has_no_number_and_hides_none():
    answer = ToolMessage("It says x.", tool_call_id="1", artifact=[chunk(3)])

    applied = EvidenceMiddleware().apply([answer, message(chunk(0))])

    assert [*cited(applied)] == [1]
