"""LangChain's splitters, with and without overlap, alone and in chains."""

from __future__ import annotations

from typing import Any

from langchain_text_splitters import (
    CharacterTextSplitter,
    MarkdownHeaderTextSplitter,
    MarkdownTextSplitter,
    RecursiveCharacterTextSplitter,
)
from langchain_text_splitters.base import Tokenizer, split_text_on_tokens
from llama_index.core.utils import get_tokenizer

from tests.locating.disguise import Disguise, Tokens
from tests.locating.settings import Setting, tokens_of


def encoding() -> Any:
    return get_tokenizer().func.__self__


def recursive(size: int, overlap: int, **options: Any) -> Setting:
    def split(disguise: Disguise) -> list[str]:
        return RecursiveCharacterTextSplitter(
            chunk_size=size, chunk_overlap=overlap, **options
        ).split_text(disguise.copy)

    extra = "".join(f" {key}={value}" for key, value in options.items())
    return Setting(f"Recursive {size}/{overlap}{extra}", split)


def recursive_tokens(size: int, overlap: int) -> Setting:
    def split(disguise: Disguise) -> list[str]:
        tokens = tokens_of(disguise)
        return RecursiveCharacterTextSplitter(
            chunk_size=size,
            chunk_overlap=overlap,
            length_function=lambda text: len(tokens(text)),
        ).split_text(disguise.copy)

    return Setting(f"Recursive tiktoken {size}/{overlap}", split)


def character(separator: str, size: int, overlap: int) -> Setting:
    def split(disguise: Disguise) -> list[str]:
        return CharacterTextSplitter(
            separator=separator, chunk_size=size, chunk_overlap=overlap
        ).split_text(disguise.copy)

    return Setting(f"Character {separator!r} {size}/{overlap}", split)


def tokens(size: int, overlap: int) -> Setting:
    """What `TokenTextSplitter` does: `split_text_on_tokens`."""

    def split(disguise: Disguise) -> list[str]:
        tokenizer = Tokens(disguise, encoding())
        return split_text_on_tokens(
            text=disguise.copy,
            tokenizer=Tokenizer(overlap, size, tokenizer.decode, tokenizer.encode),
        )

    return Setting(f"Token {size}/{overlap}", split)


HEADERS = [("#", "1"), ("##", "2"), ("###", "3")]


def markdown_headers(strip: bool) -> Setting:
    def split(disguise: Disguise) -> list[str]:
        splitter = MarkdownHeaderTextSplitter(HEADERS, strip_headers=strip)
        return [part.page_content for part in splitter.split_text(disguise.copy)]

    return Setting(f"MarkdownHeader strip={strip}", split, "#`~")


def markdown_then_recursive(size: int, overlap: int) -> Setting:
    def split(disguise: Disguise) -> list[str]:
        first = MarkdownHeaderTextSplitter(HEADERS, strip_headers=False)
        second = RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=overlap)
        parts = second.split_documents(first.split_text(disguise.copy))
        return [part.page_content for part in parts]

    return Setting(f"MarkdownHeader + Recursive {size}/{overlap}", split, "#`~")


def markdown(size: int, overlap: int) -> Setting:
    def split(disguise: Disguise) -> list[str]:
        splitter = MarkdownTextSplitter(chunk_size=size, chunk_overlap=overlap)
        return splitter.split_text(disguise.copy)

    return Setting(f"MarkdownText {size}/{overlap}", split, "#`*-_")


def recursive_twice(first: tuple[int, int], second: tuple[int, int]) -> Setting:
    def split(disguise: Disguise) -> list[str]:
        coarse = RecursiveCharacterTextSplitter(
            chunk_size=first[0], chunk_overlap=first[1]
        )
        fine = RecursiveCharacterTextSplitter(
            chunk_size=second[0], chunk_overlap=second[1]
        )
        return [
            part
            for chunk in coarse.split_text(disguise.copy)
            for part in fine.split_text(chunk)
        ]

    return Setting(f"Recursive {first} + {second}", split)


LANGCHAIN = [
    recursive(1000, 200),
    recursive(200, 50),
    recursive(500, 50, keep_separator=False),
    recursive(500, 100, keep_separator="end", strip_whitespace=False),
    recursive_tokens(128, 0),
    recursive_tokens(128, 20),
    character("\n", 200, 0),
    character("\n", 200, 50),
    character("\n\n", 1000, 200),
    tokens(128, 20),
    tokens(16, 4),
    markdown_headers(strip=False),
    markdown_headers(strip=True),
    markdown_then_recursive(300, 60),
    markdown(300, 60),
    recursive_twice((2000, 200), (300, 50)),
    recursive_twice((1000, 200), (100, 0)),
]
