"""A system of somebody else's: a function, a retriever, or a query engine.

It is asked unchanged, and its result is read: texts, documents of LangChain, nodes
of LlamaIndex, passages of oprag, or a response with its sources and an answer.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from oprag.calls import TokenUsage
from oprag.errors import InvalidOptionError, invalid_option
from oprag_eval.bench import Bench
from oprag_eval.data import Document, Question
from oprag_eval.requests import read, read_reply
from oprag_eval.system import Attempt, Context, Piece, System

_SEPARATOR = "\n\n"
_METHODS = ("invoke", "retrieve", "query")
"""How LangChain's runnables, LlamaIndex's retrievers and query engines are asked."""
_PASSAGES = (
    "retrieved_contexts",
    "passages",
    "context",
    "source_documents",
    "documents",
)
_ANSWERS = ("response", "answer", "result")
"""Keys of a mapping that is a result."""
_TEXTS = ("page_content", "text", "content")
"""Names under which a passage has its text."""


class Received(NamedTuple):
    """The result of somebody else's system for a question."""

    passages: list[tuple[str, Mapping[str, Any]]]
    """Their texts and metadata, in the order they came."""
    answer: str | None = None
    """Its own answer; None if it only retrieves."""


@dataclass(frozen=True, kw_only=True)
class OwnSystem(System):
    """Asks a function or a component; texts are found again in the documents.

    It decides where it searches, and gets the question alone. A sync function is
    asked in a thread.
    """

    name: str
    ask: Callable[[str], Any]
    """Takes a question, and gives the result or an awaitable of it."""

    budgeted = False
    """It decides how much is read."""

    def settings(self) -> dict[str, Any]:
        """Return its name; nothing else is known of it."""
        return {"own": self.name}

    async def attempt(
        self,
        question: Question,
        budget: int | None,  # noqa: ARG002 -- it has none
        bench: Bench,
    ) -> Attempt:
        """Ask, place the passages, and have them answered if there is no answer."""
        found = receive(self.name, await self._asked(question.question))
        pieces, texts = place(found, bench.dataset.documents)
        text = _SEPARATOR.join(text for text, _ in found.passages)
        context = Context(text, pieces)
        if found.answer is None:
            made = await read(question, context, bench)
            return Attempt(**{**vars(made), "texts": texts})
        tokens = bench.counter(text)
        said = bench.counter(found.answer)
        return Attempt(
            prediction=read_reply(found.answer, question, bench.answer_style),
            reply=found.answer,
            pieces=pieces,
            context_tokens=tokens,
            usage={"answer": TokenUsage(tokens, said, estimated=True)},
            texts=texts,
            self_answered=True,
        )

    async def _asked(self, question: str) -> Any:
        if inspect.iscoroutinefunction(self.ask):
            return await self.ask(question)
        found = await asyncio.to_thread(self.ask, question)
        return await found if inspect.isawaitable(found) else found


def load_own(target: str) -> OwnSystem:
    """Import `module:name` and make a system of it.

    Modules are looked for in the current folder too, as servers do it.

    Raises:
        InvalidOptionError: There is no such module or name, or it cannot be asked.
    """
    return own_system(load_object("--system", target), target)


def load_object(option: str, target: str) -> Any:
    """Import `module:name`; an error names the `option`."""
    module, colon, name = target.partition(":")
    takes = "It takes MODULE:NAME, such as my_module:retriever."
    if not (module and colon and name):
        raise invalid_option(option, target, takes)
    if (here := os.getcwd()) not in sys.path:  # noqa: PTH109 -- as `sys.path` has it
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        message = f"{option} {target!r} cannot be imported: {error}. {takes}"
        raise InvalidOptionError(message, option=option, value=target) from error
    return found


def own_system(component: Any, name: str = "") -> OwnSystem:
    """Make a system of a function, a retriever or a query engine.

    Args:
        component: Its results are read by `receive`.
        name: The name of its row. Empty: its own.

    Raises:
        InvalidOptionError: It cannot be asked.
    """
    called = name or str(getattr(component, "__name__", type(component).__name__))
    for method in _METHODS:
        if callable(ask := getattr(component, method, None)):
            return OwnSystem(name=called, ask=ask)
    if callable(component) and not isinstance(component, type):
        return OwnSystem(name=called, ask=component)
    takes = (
        "It takes a function of a question, a retriever of LangChain or LlamaIndex, or "
        "a query engine."
    )
    raise invalid_option("--system", component, takes)


def receive(name: str, given: Any) -> Received:
    """Read the result of a system.

    Raises:
        InvalidOptionError: It is nothing that holds passages.
    """
    if isinstance(given, Mapping):
        listed = next((given[key] for key in _PASSAGES if key in given), None)
        answer = next((given[key] for key in _ANSWERS if key in given), None)
        if listed is not None:
            said = None if answer is None else str(answer)
            return Received(receive(name, listed).passages, said)
    elif (nodes := getattr(given, "source_nodes", None)) is not None:
        answer = getattr(given, "response", None)
        said = str(given if answer is None else answer)
        return Received([_passage(name, node) for node in nodes], said)
    elif isinstance(given, Sequence) and not isinstance(given, str):
        return Received([_passage(name, each) for each in given])
    raise _unreadable(name, given)


def _passage(name: str, given: Any) -> tuple[str, Mapping[str, Any]]:
    node = getattr(given, "node", given)  # LlamaIndex's NodeWithScore
    if isinstance(node, str):
        return node, {}
    if isinstance(node, Mapping):
        held: Mapping[str, Any] = node
    else:
        held = {key: getattr(node, key, None) for key in (*_TEXTS, "metadata")}
    text = next((held[key] for key in _TEXTS if isinstance(held.get(key), str)), None)
    if text is None:
        raise _unreadable(name, given)
    metadata = held.get("metadata")
    return text, metadata if isinstance(metadata, Mapping) else {}


def _unreadable(name: str, given: Any) -> InvalidOptionError:
    message = (
        f"{name} gave {type(given).__name__}, and no passages. It takes a list of "
        "texts, documents or nodes, a response with source_nodes, or a mapping with "
        f"{_PASSAGES[0]!r} and {_ANSWERS[0]!r}."
    )
    return InvalidOptionError(message, option="system", value=type(given).__name__)


def place(
    found: Received, documents: Mapping[str, Document]
) -> tuple[tuple[Piece, ...], tuple[str, ...]]:
    """Find passages again in the documents, word for word.

    Returns:
        A piece for each passage, in order, and the texts of those that stand nowhere,
        or in several places without metadata that name the document.
    """
    pieces, texts = [], []
    for text, metadata in found.passages:
        piece = _located(text.strip(), [*_named(metadata, documents)], documents)
        if piece is None:
            texts.append(text)
            piece = Piece("", note="text")
        pieces.append(piece)
    return tuple(pieces), tuple(texts)


def _named(
    metadata: Mapping[str, Any], documents: Mapping[str, Document]
) -> Iterator[str]:
    """Name the documents that some value of the metadata names."""
    values = {
        str(value) for value in metadata.values() if isinstance(value, str | Path)
    }
    files = {Path(value).name for value in values}
    for doc_id in documents:
        if doc_id in values or Path(doc_id).name in files:
            yield doc_id


def _located(
    text: str, named: Sequence[str], documents: Mapping[str, Document]
) -> Piece | None:
    holding = [
        doc_id
        for doc_id in (named or documents)
        if text and text in documents[doc_id].text
    ]
    if len(holding) != 1:
        return None
    start = documents[holding[0]].text.index(text)
    return Piece(holding[0], start, start + len(text))
