"""Token windows through tiktoken."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator

from benchmarks.speed.setup import Setup
from benchmarks.speed.threads import at_once, halves, work_for_two
from benchmarks.speed.timing import Measured, Times, race, ratio
from oprag.splitting import split_tokens
from oprag.tokens import resolve_token_counter

_ENCODING = "cl100k_base"
_SIZE = 128


def measure(setup: Setup) -> Iterator[Measured]:
    """Measure all rows of the group, with numpy loaded, as every store loads it."""
    importlib.import_module("numpy")
    text = setup.text
    times = against_encode(text, setup)
    yield ratio("windows.bare", times["peer"], times["oprag"])
    yield from _in_threads(setup)
    ours = _our_documents(text)
    for key, peer, mine in (
        ("windows.langchain.token", _token_splitter(text), ours),
        ("windows.langchain.recursive", _recursive(text), ours),
        ("windows.llamaindex", _llamaindex(text), lambda: split_tokens(text)),
        ("windows.chonkie", _chonkie(text), lambda: split_tokens(text)),
    ):
        times = race({"peer": peer, "oprag": mine}, setup)
        yield ratio(key, times["peer"], times["oprag"])


def ours(setup: Setup) -> dict[str, Callable[[], object]]:
    """What oprag does, to compare one commit with another."""
    return {
        "chunks": lambda: split_tokens(setup.text, chunk_size=_SIZE),
        "documents": _our_documents(setup.text),
    }


def against_encode(text: str, setup: Setup) -> dict[str, Times]:
    """Time the windows against the bare encoding of the text."""
    counter = resolve_token_counter(_ENCODING)
    encode = counter.tokenizer.encode
    functions: dict[str, Callable[[], object]] = {
        "peer": lambda: encode(text, disallowed_special=()),
        "oprag": lambda: split_tokens(text, chunk_size=_SIZE, tokenizer=counter),
    }
    return race(functions, setup)


def _in_threads(setup: Setup) -> Iterator[Measured]:
    parts = halves(setup.text)
    counter = resolve_token_counter(_ENCODING)
    functions: dict[str, Callable[[], object]] = {
        "peer": lambda: counter.tokenizer.encode(setup.text, disallowed_special=()),
        "oprag": lambda: at_once(split_tokens, parts),
        "two": work_for_two,
    }
    peer, mine, two = race(functions, setup).values()
    yield ratio("windows.bare.threads", peer, mine, threads=2, two=two)


def _our_documents(text: str) -> Callable[[], object]:
    from langchain_oprag import OffsetTokenSplitter

    splitter = OffsetTokenSplitter(
        chunk_size=_SIZE, tokenizer=_ENCODING, add_start_index=True
    )
    return lambda: splitter.create_documents([text], [{"source": "a.txt"}])


def _token_splitter(text: str) -> Callable[[], object]:
    from langchain_text_splitters import TokenTextSplitter

    splitter = TokenTextSplitter(
        encoding_name=_ENCODING,
        chunk_size=_SIZE,
        chunk_overlap=0,
        add_start_index=True,
        disallowed_special=(),
    )
    return lambda: splitter.create_documents([text], [{"source": "a.txt"}])


def _recursive(text: str) -> Callable[[], object]:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter.from_tiktoken_encoder(
        _ENCODING,
        chunk_size=_SIZE,
        chunk_overlap=0,
        add_start_index=True,
        disallowed_special=(),
    )
    return lambda: splitter.create_documents([text], [{"source": "a.txt"}])


def _llamaindex(text: str) -> Callable[[], object]:
    from llama_index.core.node_parser import TokenTextSplitter

    splitter = TokenTextSplitter(chunk_size=_SIZE, chunk_overlap=0)
    return lambda: splitter.split_text(text)


def _chonkie(text: str) -> Callable[[], object]:
    from chonkie import TokenChunker

    encoding = resolve_token_counter(_ENCODING).tokenizer
    chunker = TokenChunker(encoding, chunk_size=_SIZE, chunk_overlap=0)
    return lambda: chunker.chunk(text)
