"""Which texts are taken for secrets, and which are not."""

import pytest

from oprag.calls import hide_secrets, keep_secret, read_error_message
from oprag.calls import secrets as module

KEY = "the-very-secret-of-anna"


@pytest.mark.parametrize("name", ["A_KEY", "HF_TOKEN", "APP_SECRET", "DB_PASSWORD"])
def test_values_of_the_environment_are_hidden_by_name(name, monkeypatch):
    monkeypatch.setenv(name, KEY)

    assert hide_secrets(f"{KEY} or {KEY} is wrong") == "*** or *** is wrong"


def test_passwords_in_addresses_of_the_environment_are_hidden(monkeypatch):
    monkeypatch.setenv("DATABASE_URL", f"postgresql://anna:{KEY}@127.0.0.1/db")

    assert hide_secrets(f"{KEY} is wrong") == "*** is wrong"


def test_an_address_without_a_password_is_no_secret(monkeypatch):
    monkeypatch.setattr(module, "_given", set())
    keep_secret("http://localhost:8000")

    assert hide_secrets("at http://localhost:8000") == "at http://localhost:8000"


@pytest.mark.parametrize("given", [KEY, f"http://anna:{KEY}@127.0.0.1"])
def test_what_was_given_is_hidden(given, monkeypatch):
    monkeypatch.setattr(module, "_given", set())
    keep_secret(given)

    assert hide_secrets(f"{KEY} is wrong") == "*** is wrong"


def test_the_longer_of_two_secrets_is_hidden_whole(monkeypatch):
    monkeypatch.setenv("A_KEY", KEY)
    monkeypatch.setenv("B_KEY", f"{KEY}-and-more")

    assert hide_secrets(f"{KEY}-and-more") == "***"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("at http://anna:no@127.0.0.1/v1", "at http://***@127.0.0.1/v1"),
        ("at http://h/v1?v=2&api_key=abc&x=1", "at http://h/v1?v=2&api_key=***&x=1"),
        ("sent Bearer abc-12345", "sent Bearer ***"),
        ("{'authorization': 'Bearer abcdef'}", "{'authorization': 'Bearer ***'}"),
        ("sk-abcdefgh12 is wrong", "*** is wrong"),
    ],
)
def test_secrets_are_known_by_their_form(text, shown):
    assert hide_secrets(text) == shown
    assert hide_secrets(text, by_form=False) == text


@pytest.mark.parametrize(
    "text", ["Use none.", "A basic three-year warranty.", "anna@example.org", "a?b=c"]
)
def test_other_texts_stay(text, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    assert hide_secrets(text) == text


def test_what_a_client_says_is_one_short_line_without_secrets(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    said = read_error_message(RuntimeError(f"{KEY}\n is wrong " + "x" * 500))

    assert said.startswith("*** is wrong x")
    assert said.endswith(" …")
    assert len(said) < 210
