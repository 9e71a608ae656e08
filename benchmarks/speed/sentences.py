"""Chunks of whole sentences."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator

from benchmarks.speed.setup import Setup
from benchmarks.speed.threads import at_once, halves, work_for_two
from benchmarks.speed.timing import Measured, race, ratio
from oprag.splitting import split_sentences
from oprag.tokens import resolve_token_counter

_SIZE = 128


def measure(setup: Setup) -> Iterator[Measured]:
    """Measure all rows of the group: texts in, chunks out; with numpy loaded."""
    importlib.import_module("numpy")
    text = setup.text
    parts = halves(text)
    times = race(
        {
            "oprag": lambda: _ours(text),
            "llamaindex": _llamaindex(text),
            "semchunk": _semchunk(text),
            "nltk": _nltk(text),
            "threads": lambda: at_once(_ours, parts),
            "two": work_for_two,
        },
        setup,
    )
    mine = times["oprag"]
    yield ratio("sentences.llamaindex", times["llamaindex"], mine)
    yield ratio("sentences.semchunk", times["semchunk"], mine)
    yield ratio(
        "sentences.semchunk.threads",
        times["semchunk"],
        times["threads"],
        threads=2,
        two=times["two"],
    )
    yield ratio("sentences.nltk", times["nltk"], mine)


def ours(setup: Setup) -> dict[str, Callable[[], object]]:
    """What oprag does, to compare one commit with another."""
    return {"chunks": lambda: _ours(setup.text)}


def _ours(text: str) -> object:
    return split_sentences(text, chunk_size=_SIZE)


def _llamaindex(text: str) -> Callable[[], object]:
    from llama_index.core.node_parser import SentenceSplitter

    splitter = SentenceSplitter(chunk_size=_SIZE, chunk_overlap=0)
    return lambda: splitter.split_text(text)


def _semchunk(text: str) -> Callable[[], object]:
    import semchunk

    encode = resolve_token_counter("cl100k_base").tokenizer.encode_ordinary
    chunker = semchunk.chunkerify(lambda part: len(encode(part)), _SIZE, memoize=False)
    return lambda: chunker(text)


def _nltk(text: str) -> Callable[[], object]:
    """LangChain's splitter on nltk, which is limited in characters; ours in tokens.

    With the sentence model that comes with LlamaIndex: nltk's own has to be
    downloaded first.
    """
    from langchain_text_splitters import NLTKTextSplitter
    from llama_index.core.utils import globals_helper

    splitter = NLTKTextSplitter(chunk_size=500, chunk_overlap=0)
    splitter._tokenizer = globals_helper.punkt_tokenizer.tokenize  # noqa: SLF001 -- no option takes it
    return lambda: splitter.split_text(text)
