"""The rows of the table and what each is to reach."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Bound(NamedTuple):
    """One row, and its bound."""

    key: str
    work: str
    against: str
    limit: float | None
    """None for rows that are only shown."""
    unit: Literal[
        "×", "× as long", "MB/s", "ms", "%", "slope", "MB", "characters", "files"
    ] = "×"
    """`×`: how many times as long the peer takes. `× as long`: how many times as long
    as the peer oprag takes."""
    threads: int = 1

    @property
    def at_least(self) -> bool:
        """Whether more is better."""
        return self.unit in {"×", "MB/s"}

    def reached(self, value: float | None) -> bool | None:
        """Whether a value reaches the bound; None without a bound or a value."""
        if self.limit is None or value is None:
            return None
        return value >= self.limit if self.at_least else value <= self.limit


_TIKTOKEN = "token windows of 128, tiktoken"
_HF = "token windows of 128, Hugging Face tokenizer"
_SENTENCES = "whole-sentence chunks of up to 128"
_FIND = "locating the chunks of a recursive splitter"
_400 = "400 chunks in and out"
_DOCUMENTS = "400 times `Document()`"
_NODES = "400 times `NodeWithScore()` of a `TextNode()`"
_CHROMA = "the Chroma query that fetched them"
_SPLITTING = "making them: LangChain `RecursiveCharacterTextSplitter`"
_SIZE = "size of the text"
_GROWTH = f"{_SIZE} (1: linear)"
_QUERY = "a query with a token budget"
_RUN = "the files of ours that run"

_HITS = "hits in 10 documents of 10,000 chunks"
_READ = "their neighbours read by ids"
_QUERY_ALONE = "Chroma's bare query"
_BOTH = f"Chroma's bare query, and {_READ}"
_LONG: Literal["× as long"] = "× as long"

BOUNDS = (
    Bound("windows.bare", _TIKTOKEN, "bare `encode`", 0.8),
    Bound(
        "windows.bare.threads",
        f"{_TIKTOKEN}, two texts at once",
        "bare `encode`, one thread",
        None,
        threads=2,
    ),
    Bound(
        "windows.langchain.token",
        f"{_TIKTOKEN}, Documents",
        "LangChain `TokenTextSplitter`, with offsets",
        0.9,
    ),
    Bound(
        "windows.langchain.recursive",
        f"{_TIKTOKEN}, Documents",
        "LangChain `from_tiktoken_encoder`, with offsets",
        1.2,
    ),
    Bound("windows.llamaindex", _TIKTOKEN, "LlamaIndex `TokenTextSplitter`", 11),
    Bound("windows.chonkie", _TIKTOKEN, "chonkie `TokenChunker`", 1),
    Bound("huggingface.encode", _HF, "one `encode` and the same windows", 0.45),
    Bound(
        "huggingface.encode.threads",
        _HF,
        "one `encode` and the same windows",
        0.5,
        threads=2,
    ),
    Bound(
        "huggingface.langchain",
        f"{_HF}, Documents",
        "LangChain `from_huggingface_tokenizer`, with offsets",
        1.2,
    ),
    Bound(
        "huggingface.langchain.threads",
        f"{_HF}, Documents",
        "LangChain `from_huggingface_tokenizer`, with offsets",
        1.2,
        threads=2,
    ),
    Bound("sentences.llamaindex", _SENTENCES, "LlamaIndex `SentenceSplitter`", 2),
    Bound("sentences.semchunk", _SENTENCES, "semchunk, `memoize=False`", 1.5),
    Bound(
        "sentences.semchunk.threads",
        f"{_SENTENCES}, two texts at once",
        "semchunk, `memoize=False`, one thread",
        0.8,
        threads=2,
    ),
    Bound("sentences.nltk", _SENTENCES, "LangChain `NLTKTextSplitter`", 1),
    Bound("locating.exact", f"{_FIND}, 1,000/200", _SPLITTING, 0.18),
    Bound("locating.short", f"{_FIND}, 500/50", _SPLITTING, None),
    Bound(
        "locating.whitespace",
        f"{_FIND}, 1,000/200, all white space made one blank",
        _SPLITTING,
        0.15,
    ),
    Bound("locating.speed", f"{_FIND}, 1,000/200", _SIZE, None, "MB/s"),
    Bound("locating.growth.prose", f"{_FIND}, prose", _GROWTH, 1.5, "slope"),
    Bound("locating.growth.line", f"{_FIND}, one repeated line", _GROWTH, 1.5, "slope"),
    Bound("locating.growth.altered", f"{_FIND}, 10 % altered", _GROWTH, 1.5, "slope"),
    *(
        Bound(f"{framework}.{kind}.{against}", work, peer, limit, unit)
        for framework, name, bare, many in (
            ("langchain", "LangChain", _DOCUMENTS, 21),
            ("llamaindex", "LlamaIndex", _NODES, 17),
        )
        for kind, what in (("passed", "passed through"), ("merged", "half merged"))
        for work in (f"{_400}, {name}, {what}",)
        for against, peer, limit, unit in (
            ("objects", bare, many, "× as long"),
            ("query", _CHROMA, None, "%"),
        )
    ),
    Bound("langchain.bare", _DOCUMENTS, "time", None, "ms"),
    Bound("llamaindex.bare", _NODES, "time", None, "ms"),
    Bound(
        "llamaindex.shown",
        f"{_400}, LlamaIndex, passed through, with a path that the model is shown",
        _NODES,
        None,
        "× as long",
    ),
    Bound(
        "langchain.uncounted",
        f"{_400}, LangChain, no stored counts, 10,000 tokens",
        _DOCUMENTS,
        None,
        "× as long",
    ),
    Bound(
        "langchain.growth",
        "100,000 chunks in and out",
        "1,000 chunks",
        300,
        "× as long",
    ),
    Bound("files.langchain", f"{_QUERY}, LangChain", _RUN, 26, "files"),
    Bound("files.llamaindex", f"{_QUERY}, LlamaIndex", _RUN, 28, "files"),
    Bound(
        "neighbours.memory",
        "1,000 nodes and two neighbours on each side, in order",
        "LlamaIndex `PrevNextNodePostprocessor`",
        6,
    ),
    Bound(
        "neighbours.docstore",
        "the same with a docstore",
        "LlamaIndex `PrevNextNodePostprocessor`",
        5,
    ),
    Bound(
        "rebuilding",
        "rebuilding a text of 20,000 chunks",
        "fetching them from Chroma",
        12,
        "%",
    ),
    Bound(
        "rebuilding.overlap",
        "the same with overlaps of a quarter",
        "fetching them from Chroma",
        12,
        "%",
    ),
    *(
        Bound(f"widening.{hits}.{key}", f"{hits} {work}", peer, limit, "× as long")
        for hits in (10, 40)
        for key, work, peer, limit in (
            ("calls", f"{_HITS}, {_READ}, without oprag", _QUERY_ALONE, None),
            ("1", f"{_HITS}, widened by 1", _QUERY_ALONE, None),
            ("1.calls", f"{_HITS}, widened by 1", _BOTH, 1.8),
        )
    ),
    Bound("widening.40.2", f"40 {_HITS}, widened by 2", _QUERY_ALONE, None, _LONG),
    Bound(
        "widening.40.fill",
        f"40 {_HITS}, widened to fill 10,000 tokens",
        _QUERY_ALONE,
        None,
        _LONG,
    ),
    Bound("importing.core", "`import oprag`", "the bare interpreter", 8, "× as long"),
    Bound("importing.core.time", "`import oprag`", "time", None, "ms"),
    Bound(
        "importing.langchain",
        "`import langchain_oprag`",
        "`import langchain_core.retrievers`",
        1.3,
        "× as long",
    ),
    Bound(
        "importing.llamaindex",
        "`import llamaindex_oprag`",
        "`import llama_index.core`",
        1.1,
        "× as long",
    ),
    Bound(
        "memory.chroma",
        "indexing into Chroma: memory grown in the second half",
        "the size of that half",
        None,
        "%",
    ),
)
"""All rows in the order of the table."""
