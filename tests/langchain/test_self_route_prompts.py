"""What the model is told: the prompts, the conversation, the prefix."""

import itertools

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder

from oprag.errors import InvalidOptionError
from tests.langchain.routes import (
    BOOK,
    QUESTION,
    REFUSAL,
    RETRIEVED,
    WAYS,
    ask,
    chain_of,
    sentence,
    text_in,
)
from tests.support.openai_server import scripted_server

__all__ = ["scripted_server"]

CONVERSATION = [HumanMessage("Who built the bridge?"), AIMessage("Ann.")]


@pytest.mark.parametrize("structured", [False, True])
@pytest.mark.parametrize("history", [[], CONVERSATION])
async def test_two_questions_on_one_document_share_their_prefix(
    scripted_server, history, structured
):
    def decline_the_first(request):
        answerable = "Line 55 " in request.prompt
        if structured:
            return f'{{"answerable": {str(answerable).lower()}, "answer": "Ann."}}'
        return "Ann." if answerable else REFUSAL

    server = scripted_server(decline_the_first)
    long_book = " ".join([BOOK] * 20)
    found = [sentence(number) for number in (30, 5, 31)]
    chain = chain_of(
        server,
        found=found,
        documents={"book.txt": long_book},
        structured_output=structured,
    )

    await ask(chain)
    chain.retriever.documents = [sentence(7)]
    await ask(chain, {"input": "Who was Ann?", "chat_history": history})

    _, one, _, two = server.requests
    assert text_in(one) == text_in(two) == long_book
    pairs = zip(one.prompt, two.prompt, strict=False)
    shared = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    assert shared >= 0.95 * max(len(one.prompt), len(two.prompt))
    bodies = [
        {key: value for key, value in request.body.items() if key != "messages"}
        for request in (one, two)
    ]
    assert bodies[0] == bodies[1]


async def test_the_text_comes_first_and_one_message_carries_all(scripted_server):
    server = scripted_server(["In 1912."])

    await ask(chain_of(server))

    (message,) = server.requests[0].messages
    assert message["role"] == "user"
    assert message["content"].rstrip().endswith(f"Question: {QUESTION}\nAnswer:")


@pytest.mark.parametrize(
    "history",
    [
        CONVERSATION,
        [("human", "Who built the bridge?"), ("ai", "Ann.")],
        [
            {"role": "user", "content": "Who built the bridge?"},
            {"role": "assistant", "content": "Ann."},
        ],
    ],
)
async def test_a_conversation_is_told_behind_the_text(scripted_server, history):
    server = scripted_server(["In 1912."])

    await ask(chain_of(server), {"input": "When?", "chat_history": history})

    prompt = server.requests[0].prompt
    told = "User: Who built the bridge?\nAssistant: Ann.\nUser: When?\nAnswer:"
    assert prompt.endswith(told)
    assert prompt.index("</text>") < prompt.index("Who built the bridge?")


async def test_an_empty_conversation_changes_nothing(scripted_server):
    server = scripted_server(["In 1912."] * 2)
    chain = chain_of(server)

    await ask(chain)
    await ask(chain, {"input": QUESTION, "chat_history": []})

    assert server.requests[0].prompt == server.requests[1].prompt


async def test_prompts_can_be_replaced_for_all_rungs_and_for_one(scripted_server):
    server = scripted_server([REFUSAL, "In 1912."])
    prompts = {
        "qa": "ALL {context} | {question} | or write unanswerable",
        "full.qa": "FULL {context} | {question}",
    }

    await ask(chain_of(server, prompts=prompts))

    first, second = (request.prompt for request in server.requests)
    assert first.startswith("ALL ")
    assert first.endswith(f" | {QUESTION} | or write unanswerable")
    assert second == f"FULL Document: book.txt\n\n{BOOK} | {QUESTION}"


async def test_a_prompt_template_says_who_says_what(scripted_server):
    server = scripted_server(["In 1912."])
    template = ChatPromptTemplate.from_messages(
        [
            ("system", "Text: {context}\nIf it is not there, write unanswerable."),
            MessagesPlaceholder("chat_history", optional=True),
            ("human", "{question}"),
        ]
    )

    await ask(
        chain_of(server, prompts={"qa": template}),
        {"input": "When?", "chat_history": CONVERSATION},
    )

    messages = server.requests[0].messages
    assert [message["role"] for message in messages] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    assert [m["content"] for m in messages[1:]] == [
        "Who built the bridge?",
        "Ann.",
        "When?",
    ]


async def test_a_template_without_a_place_for_it_gets_the_conversation_as_text(
    scripted_server,
):
    server = scripted_server(["In 1912."])
    template = ChatPromptTemplate.from_template("{context} {question} unanswerable")

    await ask(
        chain_of(server, prompts={"qa": template}),
        {"input": "When?", "chat_history": CONVERSATION},
    )

    assert "Assistant: Ann.\nUser: When?" in server.requests[0].prompt


@pytest.mark.parametrize(
    ("prompts", "fault"),
    [
        ({"qa": "{context} unanswerable"}, r"lacks \{question\}"),
        ({"qa": "{question} unanswerable"}, r"lacks \{context\}"),
        ({"choice": "{context} {question} unanswerable"}, "no 'choice'"),
        ({"qa": "{context} {question} {more} unanswerable"}, r"\{more\}"),
        ({"qa": "{context} {question}"}, "'unanswerable'"),
        ({"retrieved.qa": "{context} {question}"}, "'unanswerable'"),
        ({"fool.qa": "{context} {question} unanswerable"}, r"no 'fool\.qa'"),
        ({"qa": 7}, "format string or a prompt template"),
        (
            {"qa": ChatPromptTemplate.from_template("{context} unanswerable")},
            r"lacks \{question\}",
        ),
        (
            {"qa": ChatPromptTemplate.from_template("{context} {question} {more}")},
            "more",
        ),
        (
            {"qa": ChatPromptTemplate.from_template("{context} {question}")},
            "'unanswerable'",
        ),
    ],
)
def test_a_prompt_that_cannot_serve_is_refused_at_construction(
    scripted_server, prompts, fault
):
    with pytest.raises(ValueError, match=fault):
        chain_of(scripted_server([]), prompts=prompts)


@pytest.mark.parametrize(
    "prompts",
    [
        {"full.qa": "{context} {question}"},
        {"full.qa": ChatPromptTemplate.from_template("{context} {question}")},
        {},
    ],
)
def test_the_last_prompt_need_not_let_the_model_decline(scripted_server, prompts):
    chain = chain_of(scripted_server([]), prompts=prompts)

    assert chain.prompts == prompts


def test_with_structured_output_no_prompt_need(scripted_server):
    chain_of(
        scripted_server([]),
        prompts={"qa": "{context} {question}"},
        structured_output=True,
    )


async def test_a_prompt_assigned_later_is_checked_as_well(scripted_server):
    chain = chain_of(scripted_server([]))

    with pytest.raises(ValueError, match=r"lacks \{question\}"):
        chain.prompts = {"qa": "{context} unanswerable"}


@pytest.mark.parametrize("way", WAYS)
async def test_options_in_the_input_are_refused_with_what_to_write(
    scripted_server, way
):
    given = {"input": QUESTION, "options": ["In 1911.", "In 1912."]}
    with pytest.raises(
        InvalidOptionError, match=r"below the question, as .*format_opt"
    ):
        await ask(chain_of(scripted_server([])), given, way)


async def test_braces_in_the_text_stay_as_they_are(scripted_server):
    server = scripted_server(["In 1912."])
    found = [RETRIEVED[0].model_copy(update={"page_content": "a {b} {{c}} {0}"})]

    await ask(chain_of(server, found=found), "What is {d}?")

    assert text_in(server.requests[0]) == "a {b} {{c}} {0}"
    assert "What is {d}?" in server.requests[0].prompt
