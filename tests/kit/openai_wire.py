"""The JSON bodies of OpenAI's API: chat from scripted replies, embeddings by words."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

from tests.kit.scripted_replies import Failure, Reply, Request, Usage
from tests.kit.words import word_vector, words

__all__ = ["completion", "embeddings", "error_body", "events", "models"]


def _usage(request: Request, reply: Reply) -> dict[str, Any] | None:
    if not reply.reports_usage:
        return None
    thought = words(reply.reasoning)
    usage = reply.usage or Usage(
        words(request.prompt),
        words(reply.content or "") + thought,
        reply.cached_tokens,
        thought,
    )
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }


def _tool_calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {
            "index": index,
            "id": f"call-{index}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for index, call in enumerate(reply.tool_calls)
    ]


def _finish_reason(reply: Reply) -> str:
    if reply.finish_reason is not None:
        return reply.finish_reason
    return "tool_calls" if reply.tool_calls else "stop"


def error_body(failure: Failure) -> dict[str, Any]:
    error = {"message": failure.message, "code": failure.code, "type": "error"}
    return {"error": error}


def _envelope(kind: str, request: Request, choices: list[Any]) -> dict[str, Any]:
    model = request.body.get("model")
    head = {"id": "chatcmpl-scripted", "object": kind, "created": 0, "model": model}
    return {**head, "choices": choices}


def completion(request: Request, reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.content}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.tool_calls:
        message["tool_calls"] = _tool_calls(reply)
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(reply)}
    body = _envelope("chat.completion", request, [choice])
    usage = _usage(request, reply)
    return body if usage is None else {**body, "usage": usage}


def events(request: Request, reply: Reply) -> Iterator[str | float | threading.Event]:
    """Give the data of the server-sent events, with the pauses between them."""
    options = request.body.get("stream_options") or {}
    usage = _usage(request, reply) if options.get("include_usage") else None

    def chunk(delta: dict[str, Any], finish_reason: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return json.dumps(_envelope("chat.completion.chunk", request, [choice]))

    yield chunk({"role": "assistant", "content": ""})
    for word in _words(reply.reasoning):
        yield chunk({"reasoning_content": word})
    deltas = _words(reply.text or "") if reply.deltas is None else reply.deltas
    for delta in deltas:
        yield chunk({"content": delta}) if isinstance(delta, str) else delta
    for call in _tool_calls(reply):
        yield chunk({"tool_calls": [call]})
    if reply.broken or reply.unfinished:
        return
    yield chunk({}, _finish_reason(reply))
    if usage is not None:
        body = _envelope("chat.completion.chunk", request, [])
        yield json.dumps({**body, "usage": usage})
    yield "[DONE]"


def embeddings(request: Request) -> dict[str, Any]:
    """Give the body of an embedding: words in common make texts alike.

    A text may come as the numbers of its tokens, as OpenAI's own clients send it.
    """
    given = request.body["input"]
    single = isinstance(given, str) or (given and isinstance(given[0], int))
    texts = [
        text if isinstance(text, str) else " ".join(map(str, text))
        for text in ([given] if single else given)
    ]
    data = [
        {"object": "embedding", "index": index, "embedding": word_vector(text)}
        for index, text in enumerate(texts)
    ]
    used = sum(map(words, texts))
    return {
        "object": "list",
        "model": request.body.get("model"),
        "data": data,
        "usage": {"prompt_tokens": used, "total_tokens": used},
    }


def models() -> dict[str, Any]:
    model = {"id": "scripted", "object": "model", "created": 0, "owned_by": "tests"}
    return {"object": "list", "data": [model]}


def _words(text: str) -> list[str]:
    """Cut before each blank, so that the parts joined are the text."""
    first, *rest = text.split(" ")
    return [part for part in (first, *(f" {word}" for word in rest)) if part]
