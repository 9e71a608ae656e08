"""Secrets are found wherever a client holds them, and leave every text."""

from __future__ import annotations

import base64
import html
import itertools
import json
from types import SimpleNamespace
from unittest.mock import MagicMock
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_openai import ChatOpenAI
from llama_index.llms.openai_like import OpenAILike

from oprag.calls import ReplyFilter, said_by, secrets_of
from oprag.calls.secrets import without_secrets
from tests.effort import cases

KEY = "sk-a-key-of-the-user"


@pytest.fixture(autouse=True)
def no_keys_of_this_machine(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)


def chat_openai(**options) -> ChatOpenAI:
    return ChatOpenAI(**{"model": "m", "api_key": KEY, **options})


@pytest.mark.parametrize(
    "client",
    [
        chat_openai(),
        chat_openai().bind(stop=["."]),
        chat_openai(api_key="none").with_fallbacks([chat_openai()]),
        chat_openai(api_key="none", default_headers={"X-Team": KEY}),
        chat_openai(api_key="none", default_headers={"authorization": f"Bearer {KEY}"}),
        chat_openai(api_key="none", default_query={"v": KEY}),
        chat_openai(api_key="none", model_kwargs={"extra_headers": {"x-auth": KEY}}),
        chat_openai(api_key="none", base_url=f"http://anna:{KEY}@127.0.0.1/v1"),
        chat_openai(api_key="none", openai_proxy=f"http://anna:{KEY}@127.0.0.1"),
        OpenAILike(model="m", api_key=KEY),
        OpenAILike(model="m", api_key="none", default_headers={"api-key": KEY}),
        OpenAILike(model="m", api_base=f"http://127.0.0.1/v1?code={KEY}"),
        SimpleNamespace(request=SimpleNamespace(headers={"X-API-Token": KEY})),
        {"configurable": [{"password": KEY}]},
    ],
)
def test_a_client_is_looked_through_for_its_secrets(client):
    assert KEY in secrets_of(client)


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "HF_TOKEN", "PGPASSWORD", "APP_SECRET", "DB_PASS"]
)
def test_the_environment_is_too(monkeypatch, name):
    monkeypatch.setenv(name, KEY)

    assert KEY in secrets_of()


def test_an_address_holds_them_as_it_writes_them_and_as_they_are(monkeypatch):
    monkeypatch.setenv(
        "OPENAI_BASE_URL", "http://anna:ses%40me@host/v1?token=a%20b%20c1"
    )

    found = secrets_of()

    assert {"ses@me", "ses%40me", "a b c1", "a%20b%20c1"} <= set(found)
    assert base64.b64encode(b"anna:ses@me").decode() in found


@pytest.mark.parametrize(
    "write",
    [
        lambda key: json.dumps(key)[1:-1],
        lambda key: json.dumps(key, ensure_ascii=False)[1:-1],
        lambda key: json.dumps(key)[1:-1].replace("/", "\\/"),
        lambda key: repr(key)[1:-1],
        html.escape,
        lambda key: html.escape(key, quote=False),
        quote,
        lambda key: quote(key, safe=""),
        quote_plus,
        lambda key: base64.b64encode(key.encode()).decode(),
    ],
)
@pytest.mark.parametrize("key", ['k"ey\\12/é<&34', "abc/def+ghi=1234", "it's a key"])
def test_a_key_is_known_however_a_server_writes_it(key, write):
    said = f"The key {write(key)} is wrong."
    secrets = secrets_of(SimpleNamespace(api_key=key))

    assert without_secrets(said, secrets) == "The key *** is wrong."
    shown = ReplyFilter(secrets)
    assert "".join(map(shown.feed, said)) + shown.finish() == "The key *** is wrong."


def test_a_short_key_makes_no_secret_of_what_it_is_written_as():
    assert not {"&quot;", "bm9uZQ=="} & {
        *secrets_of({"api_key": '"'}),
        *secrets_of({"api_key": "none"}),
    }


def test_what_is_short_or_no_secret_is_not_taken_for_one(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_MODEL", "a-model-of-openai")
    client = SimpleNamespace(model="a-model", max_tokens=4096, api_key="EMPTY")

    assert not {"none", "a-model-of-openai", "a-model", "EMPTY"} & set(
        secrets_of(client)
    )


class Odd:
    """Whatever is asked of it, it does not give it."""

    def __getattr__(self, name):
        raise RuntimeError(name)


def test_no_object_and_no_variable_makes_it_fail(monkeypatch):
    monkeypatch.setenv("ODD_TOKEN", "abc\udc80def1")
    monkeypatch.setenv("DATABASE_URL", "postgres://a:\udc80b@h/?sslmode=require&x=a%1")
    monkeypatch.setenv("OTHER_URL", "http://[::1?b")
    client = SimpleNamespace(
        odd=Odd(), mock=MagicMock(), same=[KEY, b"x"], kind=Odd, api_key=KEY
    )

    found = secrets_of(client)

    assert {KEY, "abc\udc80def1"} <= set(found)
    assert "require" not in found


def test_an_object_that_holds_itself_is_looked_through_once():
    client = SimpleNamespace(api_key=KEY)
    client.itself = client

    assert KEY in secrets_of(client)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Wrong key sk-1234abcd5678.", "Wrong key ***."),
        ("Wrong key sk-ab**********yz.", "Wrong key ***."),
        ("header Authorization: Bearer abc.def1", "header Authorization: Bearer ***"),
        ("Basic YW5uYTpzZXNhbWU= is wrong", "Basic *** is wrong"),
        ("http://anna:sesame@host/v1 is down", "http://***@host/v1 is down"),
        ("http://anna:p@ss@host/v1 is down", "http://***@host/v1 is down"),
        (
            "GET https://host/v1?api-key=abc&v=1 failed",
            "GET https://host/v1?*** failed",
        ),
        ("hf_abcdefgh1234567 is no token", "*** is no token"),
        ("call hf_hub_download first", "call hf_hub_download first"),
        ("a task-oriented model", "a task-oriented model"),
        ("Bearer authentication is needed.", "Bearer authentication is needed."),
    ],
)
def test_in_an_error_what_looks_like_a_secret_is_one(said, told):
    assert without_secrets(said, ()) == told


def test_what_an_error_says_is_told_without_what_was_sent(monkeypatch):
    request = SimpleNamespace(headers={"X-Goog-Api-Key": "key-of-another"})
    cause = ValueError("first")
    cause.request = request
    error = RuntimeError(f"{KEY} or key-of-another\nis wrong")
    error.__cause__ = cause
    cause.__cause__ = error  # and no end

    assert said_by(error, [KEY]) == "*** or *** is wrong."


@pytest.mark.parametrize("word", ["ollama", "not-needed", "lm studio", "placeholder"])
def test_a_placeholder_for_a_key_stays_in_replies(word):
    assert ReplyFilter([word]).whole(f"Use {word} here.") == f"Use {word} here."
    assert without_secrets(f"Use {word} here.", [word]) == "Use *** here."


def test_what_only_looks_like_a_key_stays_in_replies():
    text = "Set Authorization: Bearer sk-your-own-key-1 for http://a:b@host/?key=1."

    assert ReplyFilter([KEY]).whole(text) == text


LETTERS = st.sampled_from("aé1-\ud83d\ude00")
SECRETS = st.lists(
    st.text(LETTERS, min_size=6, max_size=9).map("1{}".format), max_size=3
)


@st.composite
def cut_replies(draw):
    secrets = draw(SECRETS)
    parts = st.text(LETTERS, max_size=5)
    if secrets:
        parts |= st.sampled_from(secrets)
        parts |= st.sampled_from(secrets).flatmap(
            lambda s: st.integers(0, len(s)).map(lambda n: s[:n])
        )
    text = "".join(draw(st.lists(parts, max_size=8)))
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=10)))
    ends = [0, *cuts, len(text)]
    return secrets, text, [text[a:b] for a, b in itertools.pairwise(ends)]


@given(cut_replies())
@settings(max_examples=cases(500))
def test_however_a_reply_is_cut_no_secret_is_shown_and_all_can_be_written(reply):
    secrets, text, pieces = reply
    known = [ReplyFilter().whole(secret) for secret in secrets]
    shown = ReplyFilter(known)
    streamed = "".join(map(shown.feed, pieces)) + shown.finish()

    assert streamed == ReplyFilter(known).whole(text)
    assert not [secret for secret in known if secret in streamed]
    streamed.encode("utf-8")
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if not any(secret in joined for secret in known):
        assert streamed == joined


def test_a_stream_is_held_back_only_where_a_secret_may_have_begun():
    shown = ReplyFilter([KEY])

    assert [shown.feed(p) for p in ("The k", "ey is s", "k-a-key", "-board.")] == [
        *("The k", "ey is ", "", "sk-a-key-board.")
    ]
