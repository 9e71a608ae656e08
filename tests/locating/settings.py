"""Splitters of both frameworks with options, ready to cut a text or its disguise."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from langchain_text_splitters import (
    CharacterTextSplitter,
    MarkdownHeaderTextSplitter,
    RecursiveCharacterTextSplitter,
)
from langchain_text_splitters.base import Tokenizer, split_text_on_tokens
from llama_index.core import Document
from llama_index.core.node_parser import (
    HierarchicalNodeParser,
    MarkdownNodeParser,
    SentenceSplitter,
    SentenceWindowNodeParser,
    get_leaf_nodes,
)
from llama_index.core.node_parser.text.utils import split_by_sentence_tokenizer
from llama_index.core.utils import get_tokenizer

from tests.locating.disguise import Disguise, Tokens

PHRASES = ",.;。？！"
HEADERS = [("#", "1"), ("##", "2"), ("###", "3")]


class Setting(NamedTuple):
    name: str
    split: Callable[[Disguise], list[str]]
    """Cuts the copy, in order. `Bare(text)` gives the chunks that users get."""
    keep: str = ""
    """The characters it looks at, besides white space."""


def tokens_of(disguise: Disguise) -> Callable[[str], list[int]]:
    return lambda text: get_tokenizer()(disguise.reveal(text))


def made(name: str, make: Callable[[Disguise], Any], keep: str = "") -> Setting:
    return Setting(name, lambda it: list(make(it).split_text(it.copy)), keep)


def recursive(
    size: int, overlap: int, **options: Any
) -> RecursiveCharacterTextSplitter:
    return RecursiveCharacterTextSplitter(
        chunk_size=size, chunk_overlap=overlap, **options
    )


def split_on_tokens(it: Disguise) -> list[str]:
    """What LangChain's `TokenTextSplitter` does."""
    tokens = Tokens(it, get_tokenizer().func.__self__)
    tokenizer = Tokenizer(4, 16, tokens.decode, tokens.encode)
    return split_text_on_tokens(text=it.copy, tokenizer=tokenizer)


def headers_then(second: Any, it: Disguise) -> list[str]:
    first = MarkdownHeaderTextSplitter(HEADERS, strip_headers=second is None)
    parts = first.split_text(it.copy)
    return [
        part.page_content
        for part in (second.split_documents(parts) if second else parts)
    ]


def twice(it: Disguise) -> list[str]:
    coarse, fine = recursive(2000, 200), recursive(300, 50)
    return [c for part in coarse.split_text(it.copy) for c in fine.split_text(part)]


def split_sentences(text: str) -> list[str]:
    """LlamaIndex's own sentences, and what it leaves out before the first."""
    parts = split_by_sentence_tokenizer()(text)
    lost = len(text) - sum(map(len, parts))
    return [text[:lost], *parts] if lost else parts


def sentences(size: int, overlap: int, it: Disguise) -> SentenceSplitter:
    return SentenceSplitter(
        chunk_size=size,
        chunk_overlap=overlap,
        tokenizer=tokens_of(it),
        chunking_tokenizer_fn=it.cut(split_sentences),
    )


def windows(it: Disguise) -> list[str]:
    parser = SentenceWindowNodeParser.from_defaults(
        sentence_splitter=it.cut(split_sentences)
    )
    return [node.text for node in parser([Document(text=it.copy)])]


def markdown_then_sentences(it: Disguise) -> list[str]:
    parts = MarkdownNodeParser()([Document(text=it.copy)])
    return [node.text for node in sentences(128, 20, it)(parts)]


def leaves(it: Disguise) -> list[str]:
    parsers = {str(size): sentences(size, 20, it) for size in (512, 128, 64)}
    parser = HierarchicalNodeParser.from_defaults(
        node_parser_ids=[*parsers], node_parser_map=parsers
    )
    return [node.text for node in get_leaf_nodes(parser([Document(text=it.copy)]))]


TWICE = Setting("Recursive 2000/200, then 300/50", twice)
"""The first overlaps: in a text that repeats itself the order may be open."""
SETTINGS = [
    made("Recursive 200/50", lambda _: recursive(200, 50)),
    made(
        "Recursive 500/100, separators kept",
        lambda _: recursive(500, 100, keep_separator="end", strip_whitespace=False),
    ),
    made(
        "Character 200/50",
        lambda _: CharacterTextSplitter("\n", chunk_size=200, chunk_overlap=50),
    ),
    Setting("Token 16/4", split_on_tokens),
    Setting("MarkdownHeader", partial(headers_then, None), "#`~"),
    Setting(
        "MarkdownHeader, Recursive", partial(headers_then, recursive(300, 60)), "#`~"
    ),
    made("Sentence 128/20", partial(sentences, 128, 20), PHRASES),
    Setting("SentenceWindow", windows),
    Setting("Markdown, Sentence", markdown_then_sentences, "#`" + PHRASES),
    Setting("Hierarchical", leaves, PHRASES),
    TWICE,
]
