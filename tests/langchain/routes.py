"""A short book, a retriever over it, real chat models, and every way to ask a chain."""

import functools
import operator
import re
from collections.abc import Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from langchain_oprag import SelfRouteChain
from tests.kit.openai_server import ScriptedServer
from tests.kit.words import words
from tests.langchain.corpus import ListRetriever

QUESTION = "When was the bridge built?"
REFUSAL = "Unanswerable. The text does not say so."
LENGTH = 60
SENTENCES = [f"Line {number} tells of the river." for number in range(LENGTH)]
SENTENCES[40] = "The bridge was built in 1912 by Ann."
BOOK = " ".join(SENTENCES)
"""60 sentences, one of them to the point; one text without line breaks."""

WAYS = ("invoke", "ainvoke", "stream", "astream", "batch", "abatch")


def sentence(number: int, source: str = "book.txt") -> Document:
    """One sentence of the book as a chunk."""
    start = BOOK.index(SENTENCES[number])
    return Document(
        SENTENCES[number],
        metadata={"source": source, "start_index": start, "kind": "book"},
    )


RETRIEVED = [sentence(30), sentence(5), sentence(31)]
"""Best first; the answer is not among them."""


def chat_model(server: ScriptedServer, **options: Any) -> ChatOpenAI:
    """The real client."""
    settings = {"stream_usage": True, "max_retries": 0, "model": "cheap", **options}
    return ChatOpenAI(base_url=server.base_url, api_key=SecretStr("none"), **settings)


def chain_of(
    server: ScriptedServer, *, found: Sequence[Document] = RETRIEVED, **options: Any
) -> SelfRouteChain:
    """The chain as most applications build it."""
    settings: dict[str, Any] = {
        "llm": chat_model(server),
        "retriever": ListRetriever(documents=list(found)),
        "documents": {"book.txt": BOOK, "other.txt": "Another book."},
        "token_counter": words,
    }
    return SelfRouteChain(**{**settings, **options})


async def ask(
    chain: Any, question: Any = QUESTION, way: str = "invoke", **config: Any
) -> dict[str, Any]:
    """Ask in one of the ways; the sum of the pieces for a stream."""
    settings: Any = config or None
    if way == "stream":
        return summed(list(chain.stream(question, settings)))
    if way == "astream":
        return summed([piece async for piece in chain.astream(question, settings)])
    if way == "batch":
        return chain.batch([question], settings)[0]
    if way == "abatch":
        return (await chain.abatch([question], settings))[0]
    if way == "ainvoke":
        return await chain.ainvoke(question, settings)
    return chain.invoke(question, settings)


def summed(pieces: Sequence[Any]) -> dict[str, Any]:
    return dict(functools.reduce(operator.add, pieces))


def deltas(pieces: Sequence[dict[str, Any]]) -> list[str]:
    """The pieces of the answer."""
    return [piece["answer"] for piece in pieces if "answer" in piece]


def text_in(request: Any) -> str:
    """The context that a request carried, as the built-in prompt fences it.

    Names of full documents are left out.
    """
    text = request.prompt.split("<text>\n", 1)[1].rsplit("\n</text>", 1)[0]
    return re.sub(r"^Document: .*\n\n", "", text, flags=re.MULTILINE)
