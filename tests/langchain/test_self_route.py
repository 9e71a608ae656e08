"""Self-Route in LangChain: every way of asking, through the real client."""

import contextlib
import itertools

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import ConfigurableField

from langchain_oprag import OrderPreservingRetriever
from oprag import place_of
from oprag.errors import InvalidOptionError
from oprag.metadata import text_hash
from tests.kit.openai_server import Reply, ScriptedServer
from tests.kit.words import words
from tests.langchain.compat import needs_1x
from tests.langchain.corpus import RecordingStore
from tests.langchain.recording import RecordingChatModel
from tests.langchain.routes import (
    BOOK,
    QUESTION,
    REFUSAL,
    RETRIEVED,
    SENTENCES,
    ask,
    chain_of,
    chat_model,
    deltas,
    sentence,
    text_in,
)


@pytest.fixture
def scripted_server():
    with contextlib.ExitStack() as started:
        yield lambda script: started.enter_context(ScriptedServer(script))


CONVERSATION = [HumanMessage("Who built the bridge?"), AIMessage("Ann.")]


async def test_what_was_read_is_given_back(scripted_server):
    server = scripted_server(["In 1912.", REFUSAL, "In 1912."])
    chain = chain_of(server)

    result, full = await ask(chain), await ask(chain)

    # Sentences 30 and 31 touch but for a blank, so that they are read as one.
    read = f"{SENTENCES[5]}\n\n{SENTENCES[30]} {SENTENCES[31]}"
    assert text_in(server.requests[0]) == read
    assert [(d.page_content, d.id) for d in result["context"]] == [
        (d.page_content, d.id) for d in (RETRIEVED[1], RETRIEVED[0], RETRIEVED[2])
    ]
    assert [place_of(d).rank for d in result["context"]] == [1, 0, 2]
    (document,) = full["context"]
    assert document.page_content == BOOK
    assert document.metadata == {
        "source": "book.txt",
        "kind": "book",
        "doc_uri": "book.txt",
        "oprag": f"0 0-{len(BOOK)} c{text_hash(BOOK)}",
    }


PICTURE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}


@pytest.mark.parametrize("content", [" ", [PICTURE], ["What is it?", PICTURE]])
def test_a_question_is_in_words_alone(scripted_server, content):
    with pytest.raises(InvalidOptionError, match="takes a question"):
        chain_of(scripted_server([])).invoke({"messages": [HumanMessage(content)]})


class FailsOnce(RecordingStore):
    """A store whose first search fails."""

    def similarity_search(self, query, k=4, **kwargs):
        found = super().similarity_search(query, k, **kwargs)
        if len(self.asked) == 1:
            raise ConnectionError
        return found


@pytest.mark.parametrize("name", ["fields", "alternatives"])
def test_a_retry_beneath_configurable_fields_is_kept(scripted_server, name):
    store = FailsOnce([sentence(number) for number in range(9)])
    retried = OrderPreservingRetriever(vectorstore=store, k=3).with_retry(
        wait_exponential_jitter=False
    )
    retriever = {
        "fields": retried.configurable_fields(
            max_attempt_number=ConfigurableField("attempts")
        ),
        "alternatives": retried.configurable_alternatives(ConfigurableField("which")),
    }[name]

    result = chain_of(scripted_server(["In 1912."]), retriever=retriever).invoke("?")

    assert (len(store.asked), len(result["context"])) == (2, 3)


# The window.


@needs_1x
async def test_the_model_says_its_window_and_its_longest_answer(scripted_server):
    server = scripted_server([REFUSAL, "In 1912."])
    window = {"profile": {"max_input_tokens": 300}, "max_tokens": 120}
    model = chat_model(server, **window).with_config(tags=["mine"])

    result = await ask(chain_of(server, llm=model))

    sent = words(server.requests[1].prompt)
    assert 300 - 120 - 7 - 8 < sent <= 300 - 120 - 7
    assert result["usage"]["steps"][1]["note"] == "cut to the window"


# The account.


class NamedModel(RecordingChatModel):
    """Its provider reports a longer name than the user gave."""

    model_name: str = "short"


@pytest.mark.parametrize("name", ["short", "short-2026-11-01"])
async def test_prices_name_the_model_as_the_user_or_the_provider_does(
    scripted_server, name
):
    reported = {"model_name": "short-2026-11-01"}
    model = NamedModel(replies=[AIMessage("In 1912.", response_metadata=reported)])
    chain = chain_of(scripted_server([]), llm=model.with_config(tags=["mine"]))
    chain.prices = {name: (1.0, 1.0, 1.0)}

    usage = (await ask(chain))["usage"]

    assert usage["steps"][0]["model"] == name
    assert usage["cost"] is not None


@pytest.mark.parametrize("name", ["short-lived", "shorter", None])
async def test_of_fallbacks_the_one_that_answered_has_its_price(scripted_server, name):
    free = name == "short-lived"
    reported = {"model_name": f"{name}-2026-11-01" if free else name}
    replies = [AIMessage("In 1912.", response_metadata=reported)]
    other = NamedModel(model_name="short-lived", replies=replies)
    chain = chain_of(
        scripted_server([]), llm=NamedModel(replies=[]).with_fallbacks([other])
    )
    chain.prices = {"short": (1.0, 1.0, 1.0), "short-lived": (0.0, 0.0, 0.0)}

    usage = (await ask(chain))["usage"]

    assert (usage["steps"][0]["model"], usage["cost"]) == (name, 0 if free else None)


# Prompts and conversations.


async def test_prompts_can_be_replaced_for_all_steps_and_for_one(scripted_server):
    server = scripted_server([REFUSAL, "In 1912."] * 2)
    template = ChatPromptTemplate.from_messages(
        [("system", "{context}\nElse write unanswerable."), ("human", "{question}")]
    )

    await ask(chain_of(server, prompts="{context} | {question} | or unanswerable"))
    await ask(
        chain_of(server, prompts={"retrieved": template, "full": "{context}{question}"})
    )

    first, second, third, fourth = server.requests
    assert first.prompt.endswith(f" | {QUESTION} | or unanswerable")
    assert second.prompt.endswith(f"{BOOK} | {QUESTION} | or unanswerable")
    assert [message["role"] for message in third.messages] == ["system", "user"]
    assert fourth.prompt == f"Document: book.txt\n\n{BOOK}{QUESTION}"


@pytest.mark.parametrize(
    "history", [CONVERSATION, [("human", "Who built the bridge?"), ("ai", "Ann.")]]
)
async def test_a_conversation_comes_behind_the_text(scripted_server, history):
    server = scripted_server(["In 1912."] * 2)
    chain = chain_of(server)

    await ask(chain, {"input": "When?", "chat_history": history})
    await ask(chain, "When?")

    explained, alone = (request.prompt for request in server.requests)
    said = "User: Who built the bridge?\nAssistant: Ann.\nUser: When?\nAnswer:"
    assert explained.endswith(said)
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(explained, alone))  # noqa: B905 -- the shorter ends it
    assert len([*same]) > explained.index("Question:")


@pytest.mark.parametrize("key", ["messages", "chat_history"])
async def test_what_the_system_says_comes_before_the_prompt(scripted_server, key):
    server = scripted_server(["In 1912."])
    said = [("system", "Be brief."), *CONVERSATION, HumanMessage("When?")]
    given = {key: said} if key == "messages" else {key: said[:-1], "input": "When?"}

    await ask(chain_of(server), given)

    system, _ = server.requests[0].messages
    assert system == {"content": "Be brief.", "role": "system"}


def test_the_pieces_come_in_the_order_of_the_output(scripted_server):
    server = scripted_server([REFUSAL, Reply(deltas=["In ", "19", "12."])])

    pieces = list(chain_of(server).stream(QUESTION))

    assert [list(piece) for piece in pieces] == [
        ["input"],
        ["context"],
        ["answer"],
        ["answer"],
        ["answer"],
        ["route"],
        ["usage"],
    ]
    assert deltas(pieces) == ["In ", "19", "12."]
    assert pieces[1]["context"][0].page_content == BOOK


async def test_the_retriever_the_model_and_options_are_configured(scripted_server):
    server = scripted_server(["In 1912."])
    store = RecordingStore([sentence(number) for number in range(60)])
    retriever = store.as_retriever().configurable_fields(
        search_kwargs=ConfigurableField("search_kwargs")
    )
    model = chat_model(server).configurable_fields(
        model_name=ConfigurableField("model")
    )
    chain = chain_of(server, retriever=retriever, llm=model).configurable_fields(
        order=ConfigurableField("order"), steps=ConfigurableField("steps")
    )

    config = {"search_kwargs": {"k": 7}, "model": "other", "order": "rank"}
    await ask(chain, configurable=config)

    ids = {spec.id for spec in chain.config_specs}
    assert ids == {"model", "search_kwargs", "order", "steps"}
    assert store.asked == [{"k": 7}]
    assert server.requests[0].body["model"] == "other"
    assert "[Chunk " in server.requests[0].prompt
    with pytest.raises(ValueError, match="step"):
        await ask(chain, configurable={"steps": ["nowhere"]})
