"""Messages of tools as a model reads them: text once, all other words as they were."""

import contextlib
import copy
import json
import re

import pytest
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage

from langchain_oprag import EvidenceMiddleware, cited
from oprag.errors import InvalidOptionError
from tests.kit import fresh_interpreter
from tests.langchain.compat import needs_1x
from tests.langchain.corpus import chunk
from tests.langchain.searching_agents import check, searching


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
