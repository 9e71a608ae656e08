"""Chat models that are slow, talk long, or count their tokens."""

from __future__ import annotations

from langchain_openai import ChatOpenAI

from oprag.cli.chat_models import load_chat_model


def test_openai_is_asked_to_report_its_tokens(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    loaded = load_chat_model("openai:gpt-4o-mini")

    assert isinstance(loaded, ChatOpenAI)
    assert loaded.stream_usage is True


def test_the_documented_address_wins_over_the_old_one(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_API_BASE", "http://old.example/v1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")

    loaded = load_chat_model("openai:m")

    assert loaded.openai_api_base == "http://127.0.0.1:9/v1"
