"""LlamaIndex's parsers, with and without overlap, alone and in chains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llama_index.core import Document
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import (
    HierarchicalNodeParser,
    MarkdownNodeParser,
    SentenceSplitter,
    SentenceWindowNodeParser,
    TokenTextSplitter,
)
from llama_index.core.node_parser.text.utils import split_by_sentence_tokenizer

from tests.locating.disguise import Disguise
from tests.locating.settings import Setting, tokens_of

PHRASES = ",.;。？！"


def sentence_parser(disguise: Disguise, size: int, overlap: int) -> SentenceSplitter:
    return SentenceSplitter(
        chunk_size=size,
        chunk_overlap=overlap,
        tokenizer=tokens_of(disguise),
        chunking_tokenizer_fn=disguise.cut(split_sentences),
    )


def split_sentences(text: str) -> list[str]:
    """LlamaIndex's own sentences, and what it leaves out before the first."""
    parts = split_by_sentence_tokenizer()(text)
    lost = len(text) - sum(map(len, parts))
    return [text[:lost], *parts] if lost else parts


def run(disguise: Disguise, *parsers: Any) -> list[Any]:
    pipeline = IngestionPipeline(transformations=list(parsers), disable_cache=True)
    return list(pipeline.run(documents=[Document(text=disguise.copy)]))


def split_by(name: str, keep: str, make: Callable[[Disguise], Any]) -> Setting:
    """The texts alone: below 50 tokens the pipeline prints a line for every node."""

    def split(disguise: Disguise) -> list[str]:
        return list(make(disguise).split_text(disguise.copy))

    return Setting(name, split, keep)


def parsed(name: str, keep: str, *makes: Callable[[Disguise], Any]) -> Setting:
    def split(disguise: Disguise) -> list[str]:
        return [
            node.text for node in run(disguise, *(make(disguise) for make in makes))
        ]

    return Setting(name, split, keep)


def sentence(size: int, overlap: int) -> Setting:
    return (parsed if size > 50 else split_by)(
        f"Sentence {size}/{overlap}",
        PHRASES,
        lambda disguise: sentence_parser(disguise, size, overlap),
    )


def llama_tokens(size: int, overlap: int) -> Setting:
    return (parsed if size > 50 else split_by)(
        f"LlamaToken {size}/{overlap}",
        "",
        lambda disguise: TokenTextSplitter(
            chunk_size=size, chunk_overlap=overlap, tokenizer=tokens_of(disguise)
        ),
    )


def markdown_then_sentence(size: int, overlap: int) -> Setting:
    return parsed(
        f"Markdown + Sentence {size}/{overlap}",
        "#`" + PHRASES,
        lambda disguise: MarkdownNodeParser(),
        lambda disguise: sentence_parser(disguise, size, overlap),
    )


def hierarchical(sizes: list[int], level: int, overlap: int) -> Setting:
    """One level of it: 0 is the roots, the last one the leaves."""

    def split(disguise: Disguise) -> list[str]:
        names = [str(size) for size in sizes]
        parser = HierarchicalNodeParser.from_defaults(
            node_parser_ids=names,
            node_parser_map={
                str(size): sentence_parser(disguise, size, overlap) for size in sizes
            },
        )
        nodes = run(disguise, parser)
        parents = {node.node_id: node.parent_node for node in nodes}

        def depth(node_id: str) -> int:
            parent = parents[node_id]
            return 0 if parent is None else 1 + depth(parent.node_id)

        return [node.text for node in nodes if depth(node.node_id) == level]

    return Setting(f"Hierarchical {sizes} level {level} /{overlap}", split, PHRASES)


LLAMAINDEX = [
    sentence(128, 0),
    sentence(128, 20),
    sentence(32, 8),
    llama_tokens(128, 20),
    llama_tokens(32, 8),
    parsed(
        "SentenceWindow",
        "",
        lambda disguise: SentenceWindowNodeParser.from_defaults(
            sentence_splitter=disguise.cut(split_sentences)
        ),
    ),
    parsed("Markdown", "#`", lambda disguise: MarkdownNodeParser()),
    markdown_then_sentence(128, 20),
    hierarchical([512, 128, 64], 1, 20),
    hierarchical([512, 128, 64], 2, 20),
    parsed(
        "Sentence 256/0 + LlamaToken 64/0",
        PHRASES,
        lambda disguise: sentence_parser(disguise, 256, 0),
        lambda disguise: TokenTextSplitter(
            chunk_size=64, chunk_overlap=0, tokenizer=tokens_of(disguise)
        ),
    ),
]
