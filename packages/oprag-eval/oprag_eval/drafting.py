"""Questions drafted by a chat model, each with the passage that answers it."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from oprag.calls import TokenUsage
from oprag.chunk import Span
from oprag.splitting import split_sentences
from oprag.tokens import resolve_token_counter
from oprag_eval.data import Document
from oprag_eval.data.gold import find_passage
from oprag_eval.models import Call, Model
from oprag_eval.workers import map_concurrently

_PROMPT = """\
Below is a part of the document {title}. Write one question that a reader of the whole \
collection might ask and that this part answers. The question has to be clear without \
the part: name what it is about. The answer is as short as possible. The quote is the \
shortest run of the part, copied word for word, that proves the answer and holds it.

Reply with JSON alone: {{"question": "…", "answer": "…", "quote": "…"}}

Part:

{part}"""
_PART = 300
"""Tokens of a part."""
_REPLY = 400
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)


class _Reply(BaseModel):
    question: str
    answer: str
    quote: str


class _Part(NamedTuple):
    document: Document
    span: Span


@dataclass(frozen=True)
class Drafts:
    """Questions that were drafted."""

    rows: tuple[Mapping[str, Any], ...]
    """As lines of a file of questions: `question_id`, `document`, `question`,
    `answers`, `passages` and `evidence`."""
    dropped: tuple[str, ...]
    """Why others were left out, one reason each."""
    usage: TokenUsage


async def draft_questions(
    documents: Mapping[str, Document],
    model: Model,
    wanted: int,
    *,
    seed: int = 42,
    at_once: int = 4,
    advanced: Callable[[int, int], None] = lambda _done, _all: None,
) -> Drafts:
    """Have a model write questions on parts that are spread over the documents.

    Each names the passage that answers it, as the model quotes it. A question is left
    out if its quote is not in the part word for word, or does not hold the answer.

    Args:
        documents: The documents by id.
        model: The model that writes them.
        wanted: Questions, at most; fewer if there are not as many parts.
        seed: Decides which parts are chosen.
        at_once: Calls at a time.
        advanced: Called with the number of replies, and of all.

    Returns:
        The questions, in the order of the documents.
    """
    parts = choose_parts(documents, wanted, seed)
    done: list[TokenUsage] = []

    async def write(part: _Part) -> Mapping[str, Any] | str:
        text = part.document.text[part.span.start : part.span.end]
        prompt = _PROMPT.format(title=part.document.doc_id, part=text)
        call = Call("answer", prompt, max_output_tokens=_REPLY)
        completion = await model.complete(call)
        done.append(completion.usage)
        advanced(len(done), len(parts))
        return _row(completion.text, part)

    made = await map_concurrently(write, parts, at_once=at_once)
    rows = [row for row in made if not isinstance(row, str)]
    numbered = tuple({"question_id": f"q{n}", **row} for n, row in enumerate(rows, 1))
    dropped = tuple(row for row in made if isinstance(row, str))
    return Drafts(numbered, dropped, sum(done, TokenUsage()))


def choose_parts(
    documents: Mapping[str, Document], wanted: int, seed: int
) -> list[_Part]:
    """Choose parts of whole sentences at even distances, from a drawn one on."""
    counter = resolve_token_counter(None)
    parts = [
        _Part(document, Span(start, end))
        for document in documents.values()
        for start, end, _ in split_sentences(
            document.text, chunk_size=_PART, tokenizer=counter
        )
    ]
    count = min(wanted, len(parts))
    if not count:
        return []
    first = random.Random(seed).random()  # noqa: S311 -- no secret
    return [parts[int((n + first) * len(parts) / count)] for n in range(count)]


def _row(reply: str, part: _Part) -> Mapping[str, Any] | str:
    """Read a reply, or return as a text why it is left out."""
    found = _OBJECT.search(reply)
    try:
        said = _Reply.model_validate(json.loads(found[0] if found else ""))
    except (ValueError, ValidationError):
        return "the reply was no JSON with question, answer and quote"
    document, span = part
    text = document.text[span.start : span.end]
    places = find_passage(said.quote, {"": Document("", "", text)})
    if not places:
        return "the quote was not in the part, word for word"
    if not said.answer.strip() or said.answer.casefold() not in said.quote.casefold():
        return "the quote did not hold the answer"
    start, end = places[0].span.start + span.start, places[0].span.end + span.start
    return {
        "question": said.question,
        "document": document.doc_id,
        "answers": [said.answer],
        "passages": [document.text[start:end]],
        "evidence": [[start, end]],
    }


def count_reasons(reasons: Sequence[str]) -> list[str]:
    """Count equal reasons, the most frequent first."""
    counted = {reason: reasons.count(reason) for reason in reasons}
    ordered = sorted(counted, key=lambda reason: -counted[reason])
    return [f"{counted[reason]:,}: {reason}" for reason in ordered]
