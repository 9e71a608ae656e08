"""What a server that speaks Ollama's protocol answers: see `openai_server`."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.kit.words import word_vector, words


def embeddings(body: Mapping[str, Any]) -> dict[str, Any]:
    """Give the body of `POST /api/embed`: words in common make texts alike."""
    given = body["input"]
    texts = [given] if isinstance(given, str) else given
    return {"model": body.get("model"), "embeddings": [*map(word_vector, texts)]}


def chat_lines(body: Mapping[str, Any], prompt: str, reply: str) -> Iterator[str]:
    """Give the lines of `POST /api/chat`: a piece each if streamed, else all in one."""
    head = {"model": body.get("model"), "created_at": "1970-01-01T00:00:00Z"}
    counts = {"prompt_eval_count": words(prompt), "eval_count": words(reply)}
    end = {"done": True, "done_reason": "stop", **counts}
    if not body.get("stream"):
        yield json.dumps({**head, "message": _message(reply), **end})
        return
    for piece in reply.splitlines(keepends=True):
        yield json.dumps({**head, "message": _message(piece), "done": False})
    yield json.dumps({**head, "message": _message(""), **end})


def _message(content: str) -> dict[str, str]:
    return {"role": "assistant", "content": content}
