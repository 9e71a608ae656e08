"""Parts of a text that are counted by their ends, against counts of the whole part."""

import dataclasses
from functools import lru_cache

import pytest
import tiktoken
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, models, normalizers, pre_tokenizers, trainers
from tokenizers import processors as processing

from oprag.splitting import split_tokens
from oprag.tokens import encodable, resolve_token_counter, tokenize
from oprag.tokens.joints import Joints, joints_of_huggingface, joints_of_tiktoken
from tests.kit.effort import cases
from tests.kit.strategies import FRAGMENTS, counter, slices

GPT2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""  # noqa: E501 -- as it is in their files
R50K = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""  # noqa: E501 -- as it is in their files
CL100K = r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""  # noqa: E501 -- as it is in their files
LLAMA3 = r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""  # noqa: E501 -- as it is in their files
QWEN = LLAMA3.replace("{1,3}", "")
TIKTOKEN = {"gpt2": GPT2, "r50k": R50K, "cl100k": CL100K, "llama3": LLAMA3}
MERGES = b" t,th, th,he, the, w,or, wor,ld,in,ing, a,er,\n\n,  ,lo,e ,d ,.\n,'s".split(
    b","
)
TEXTS = [f"{a}{b}" for a in FRAGMENTS if a != "\ud800" for b in ("a", " the", ", x")]


def encoding(pattern: str) -> tiktoken.Encoding:
    ranks = {bytes([byte]): byte for byte in range(256)}
    for merged in MERGES:
        ranks.setdefault(merged, len(ranks))
    return tiktoken.Encoding(
        "own", pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
    )


def byte_level(cutting=None, normalizer=None, *, trims=False, dropout=None, **how):
    made = tokenizers.Tokenizer(models.BPE(dropout=dropout))
    own = pre_tokenizers.ByteLevel(add_prefix_space=False, **how)
    made.pre_tokenizer = own
    if cutting is not None:
        made.pre_tokenizer = pre_tokenizers.Sequence([cutting, own])
    if trims:
        made.post_processor = processing.ByteLevel(trim_offsets=True)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(initial_alphabet=alphabet, vocab_size=420)
    return trained(made, trainer, normalizer)


def trained(made, trainer, normalizer=None):
    trainer.show_progress = False
    if normalizer is not None:
        made.normalizer = normalizer
    made.train_from_iterator(TEXTS, trainer)
    return made


def isolated(pattern: str):
    return pre_tokenizers.Split(Regex(pattern), "isolated")


def unigram():
    blanks = normalizers.Replace(Regex(" {2,}"), " ")
    made = tokenizers.Tokenizer(models.Unigram())
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=300, unk_token="<unk>", special_tokens=["<unk>"]
    )
    return trained(made, trainer, normalizers.Sequence([normalizers.NFKC(), blanks]))


def metaspace(scheme: str):
    made = tokenizers.Tokenizer(models.BPE(unk_token="?"))
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme)
    return trained(made, trainers.BpeTrainer(vocab_size=400, special_tokens=["?"]))


def wordpiece(cutting, normalizer=None):
    made = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.pre_tokenizer = cutting
    special = ["[UNK]", "[SEP]"]
    trainer = trainers.WordPieceTrainer(vocab_size=300, special_tokens=special)
    return trained(made, trainer, normalizer)


def with_mask(made, **how):
    made.add_special_tokens([AddedToken("[MASK]", **how)])
    return made


PROVED = {
    **{name: lambda p=p: encoding(p) for name, p in TIKTOKEN.items()},
    "cl100k_base": lambda: counter("cl100k_base").tokenizer,
    "o200k_base": lambda: counter("o200k_base").tokenizer,
    "minilm": lambda: counter("minilm").tokenizer,
    "byte level": byte_level,
    "byte level, trimmed": lambda: byte_level(trims=True),
    "byte level, NFC": lambda: byte_level(normalizer=normalizers.NFC()),
    "llama 3": lambda: byte_level(isolated(LLAMA3), use_regex=False),
    "qwen": lambda: byte_level(isolated(QWEN), normalizers.NFC(), use_regex=False),
    "qwen, trimmed": lambda: byte_level(isolated(QWEN), trims=True, use_regex=False),
    "mask": lambda: with_mask(byte_level(), lstrip=True),
    "unigram": unigram,
    **{
        f"metaspace {s}": lambda s=s: metaspace(s) for s in ("always", "first", "never")
    },
    "bert": lambda: wordpiece(
        pre_tokenizers.BertPreTokenizer(), normalizers.BertNormalizer()
    ),
    "words": lambda: wordpiece(pre_tokenizers.Whitespace(), normalizers.Lowercase()),
    "blanks": lambda: wordpiece(
        pre_tokenizers.Sequence(
            [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()]
        )
    ),
}
UNPROVED = {
    "an expression that is not known": lambda: encoding(rf"\w+ \w+|{GPT2}"),
    "no expression": lambda: byte_level(use_regex=False),
    "another expression": lambda: byte_level(isolated(r"[a-z ]+"), use_regex=False),
    "chance": lambda: byte_level(dropout=0.1),
    "a blank before each text": lambda: byte_level(normalizer=normalizers.Prepend(" ")),
    "a token that takes the blank after it": lambda: with_mask(
        byte_level(), rstrip=True
    ),
    "nothing that cuts": lambda: wordpiece(None),
}
parts = st.lists(
    st.sampled_from([*FRAGMENTS, *[" the", " water", " a", " of", ", x"] * 4, " 12"]),
    min_size=2,
    max_size=30,
)


@lru_cache
def made(name: str):
    return resolve_token_counter((PROVED.get(name) or UNPROVED[name])())


def joints(tokenizer) -> Joints:
    if isinstance(tokenizer, tiktoken.Encoding):
        return joints_of_tiktoken(tokenizer)
    return joints_of_huggingface(tokenizer)


@settings(max_examples=cases(60))
@given(parts.map("".join), st.data())
@pytest.mark.parametrize("name", PROVED)
def test_ends_and_the_tokens_between_them_are_what_a_part_counts_alone(
    name, text, data
):
    count = made(name)
    tokenized = tokenize(text, count.tokenizer)
    starts = tokenized.starts(range(tokenized.n_tokens))
    cuts = [n for n, start in enumerate(starts) if start.exact and n]
    first, last = sorted(
        data.draw(st.tuples(*[st.sampled_from([0, *cuts, len(starts)])] * 2))
    )
    places = [0, *(start.position for start in starts[1:]), len(text)]
    if first == last or places[first] >= places[last]:
        return

    ends = tokenized.ends(first, last)

    if ends is not None:
        outside = sum(
            count.count_again(each) for each in (ends.head, ends.tail) if each
        )
        alone = count.count_again(text[places[first] : places[last]])
        assert ends.n_tokens + outside == alone


@settings(max_examples=cases(60))
@given(parts.map("".join), st.data())
@pytest.mark.parametrize("name", PROVED)
def test_a_part_from_any_character_to_any_other_is_counted_by_its_ends(
    name, text, data
):
    count = made(name)
    text = encodable(text)
    tokenized = tokenize(text, count.tokenizer)
    for _ in range(3):
        places = st.integers(0, len(text))
        start, end = sorted(data.draw(st.tuples(places, places)))

        ends = tokenized.part_ends(start, end) if start < end else None

        if ends is not None:
            outside = [
                count.count_again(each) for each in (ends.head, ends.tail) if each
            ]
            assert ends.n_tokens + sum(outside) == count.count_again(text[start:end])


@pytest.mark.parametrize("name", PROVED)
def test_windows_of_prose_are_counted_by_their_ends(name):
    text = "The water of the river was cold, and the boat was late again. " * 40
    count = made(name)
    counted = []
    tokenized = tokenize(text, count.tokenizer)
    ends = tokenized.ends(10, tokenized.n_tokens - 10)
    assert ends is not None
    assert len(ends.head) + len(ends.tail) < 30
    if not count.name:
        return
    watched = dataclasses.replace(
        count, count=lambda part: counted.append(len(part)) or count.count(part)
    )
    # Another function may count otherwise than the tokenizer: it counts the whole.
    split_tokens(text, chunk_size=64, tokenizer=watched)
    assert sum(counted) >= len(text)


@pytest.mark.parametrize("name", UNPROVED)
def test_where_nothing_is_proved_the_whole_part_is_counted(name):
    count = made(name)
    assert joints(count.tokenizer) is Joints.NONE
    text = "one two three four five six"
    if name != "chance":
        chunks = split_tokens(text, chunk_size=9, tokenizer=count)
        assert [count(each) for each in slices(text, chunks)] == [
            chunk.token_count for chunk in chunks
        ]


def test_a_tokenizer_that_is_written_in_python_is_not_judged():
    class Halves:
        def pre_tokenize(self, pretok):
            pretok.split(lambda _, part: [part[:3], part[3:]])

    made = byte_level()
    made.pre_tokenizer = pre_tokenizers.PreTokenizer.custom(Halves())
    assert joints_of_huggingface(made) is Joints.NONE
