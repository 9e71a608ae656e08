"""Sentences by trained Punkt, with nltk's own as the oracle."""

import inspect
import json
import sys
from functools import lru_cache
from pathlib import Path
from pydoc_data.topics import topics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oprag.chunk import SENTENCE_TERMINATORS
from oprag.errors import TokenizerError
from oprag.optional import find_bundled_folder
from oprag.splitting import punkt_sentence_spans
from oprag.splitting import sentences as sentences_module
from tests.kit.effort import cases
from tests.kit.fresh_interpreter import run
from tests.kit.strategies import awkward_texts

SAMPLE = (
    "Mr. Smith met Dr. Jones at 5 p.m. in Washington D.C. on Jan. 5.  He left at once!"
    '\r\n\r\n"Did he?" asked J. K. Rowling... No. 7 was late; it never came. 🙂 End'
)
DATA = str(find_bundled_folder("llama_index.core", "_static", "nltk_cache"))
"""The folder of nltk data that llama-index-core carries."""


def sentences(text, **options):
    return [text[start:end] for start, end in punkt_sentence_spans(text, **options)]


@pytest.mark.parametrize(
    "text",
    [
        "他去了。“为什么？”没有人知道！",  # Chinese
        "彼は去った。「なぜ？」誰も知らない。",  # Japanese
        "그는 떠났다. 왜? 아무도 모른다.",  # Korean
        "वह चला गया। क्यों? कोई नहीं जानता।",  # Hindi
        "সে চলে গেল। কেন? কেউ জানে না।",  # Bengali
        "ذهب بعيدا. لماذا؟ لا أحد يعلم.",  # Arabic
        "او رفت. چرا؟ هیچ کس نمی داند.",  # Persian
        "وہ چلا گیا۔ کیوں؟ کوئی نہیں جانتا۔",  # Urdu
        "እሱ ሄደ። ለምን? ማንም አያውቅም።",  # Amharic
    ],
)
def test_three_sentences_of_nine_languages_are_three(text):
    assert len(sentences(text)) == 3


@pytest.mark.parametrize("text", ["", " ", "\n\n\t"])
def test_white_space_holds_no_sentence(text):
    assert punkt_sentence_spans(text) == []


@given(awkward_texts)
def test_spans_ascend_and_leave_out_nothing_but_white_space(text):
    spans = punkt_sentence_spans(text)

    places = [0, *(place for span in spans for place in span), len(text)]
    assert places == sorted(places)
    gaps = zip(places[::2], places[1::2], strict=True)
    assert not "".join(text[start:end] for start, end in gaps).strip()


FRAGMENTS = (
    *("Mr.", "Dr", "word", "Word", "U.S.", "e.g.", "J. ", "a.m.", "S. Bach", "No."),
    *("p.m", "Jr", "Inc.", "co.", "vs.", "ph.d.", "Ltd.-Co.", "x-mr.", "St. Paul"),
    *("5", "3.14", "A.", ".", "...", " . . .", "!", "?", "!?", "--", "-", ",", ":"),
    *("-5,000.", "٣.", "²", "Ⓐ.", "\u0301.", "_.", "\u200d.", "’s", "##number##"),
    *(" ", "  ", "\n", "\n\n", "\r\n", "\t", "\v", "\f", "\xa0", "\x1c", "\x1f"),
    *("\x85", "\u2009", "\u2028", "\u3000", "\u200b", "\ufeff", ";", "&", "`", "}"),
    *(")", "(", '"', "'", "”", "“", "’", "‘", "»", "«", "]", "[", "*", "@", "{", "#"),
    *(" The", " he", " But", " if", " Since", " i ", "rj", "international", "été."),
    *("дом.", "Дом", "И. ", "中文", "ΑΒ. ", "İ.", "ß.", "🙂"),
)

hard_texts = st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join)


@settings(max_examples=cases(150))
@given(hard_texts | awkward_texts)
@pytest.mark.parametrize("language", ["english", "german"])
def test_the_spans_are_those_of_nltk(language, text):
    text = text.translate(dict.fromkeys(map(ord, SENTENCE_TERMINATORS)))

    assert punkt_sentence_spans(text, language) == nltk_spans(text, language)


@pytest.mark.once
@pytest.mark.parametrize("language", ["english", "german"])
def test_the_spans_of_long_real_texts_are_those_of_nltk(language):
    source = inspect.getsource(inspect)
    text = "\n\n".join([*topics.values(), source])

    assert punkt_sentence_spans(text, language) == nltk_spans(text, language)


@lru_cache
def nltk_model(language):
    # Here, because most processes of the tests need no nltk, which is large.
    import nltk.data
    from nltk.tokenize import punkt

    if DATA not in nltk.data.path:  # nltk reads nothing elsewhere
        nltk.data.path.append(DATA)
    return punkt.PunktTokenizer(language)


def nltk_spans(text, language="english"):
    return list(nltk_model(language).span_tokenize(text))


def test_the_english_model_is_nltks_to_the_byte():
    ours = Path(sentences_module.__file__).with_name("punkt_english")
    theirs = Path(DATA, "tokenizers", "punkt_tab", "english")
    names = {path.name for path in ours.iterdir()}

    assert names == {path.name for path in theirs.iterdir()} | {"NOTICE"}
    for path in theirs.iterdir():
        assert (ours / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("language", ["klingon", "../english", "", 5, ["english"]])
def test_a_language_without_a_model_is_an_error_with_the_ways_out(language):
    with pytest.raises(
        TokenizerError, match=r"nltk\.download.*llama-index-core.*sentence_spans="
    ) as caught:
        punkt_sentence_spans("One. Two.", language=language)

    assert caught.value.tokenizer == str(language)


SPANS = """
import json, sys
from oprag.errors import TokenizerError
from oprag.splitting import punkt_sentence_spans
spans = {{}}
for language in {languages}:
    try:
        spans[language] = punkt_sentence_spans({text!r}, language)
    except TokenizerError:
        pass
print(json.dumps(spans))
assert sys.modules.get("nltk") is sys.modules.get("llama_index.core") is None
"""
OTHERS = ["english", "german", "turkish", "malayalam"]


def test_english_needs_no_other_package(tmp_path):
    code = SPANS.format(languages=["english"], text=SAMPLE * 3)
    without = ["nltk", "llama_index", "regex", "tiktoken", "langchain_core"]
    found = run(code, without=without, HOME=str(tmp_path), NLTK_DATA="")

    assert json.loads(found) == {"english": as_json(nltk_spans(SAMPLE * 3))}


@pytest.mark.once
def test_other_models_are_found_in_llama_index_and_where_nltk_looks(tmp_path):
    code = SPANS.format(languages=OTHERS, text=SAMPLE * 3)
    by_bundle = json.loads(run(code, without=["nltk"]))
    by_variable = json.loads(run(code, without=["nltk", "llama_index"], NLTK_DATA=DATA))
    (tmp_path / "nltk_data").symlink_to(DATA, target_is_directory=True)
    by_home = json.loads(run(code, without=["llama_index"], HOME=str(tmp_path)))

    assert by_bundle == by_variable == by_home
    assert by_bundle == {
        language: as_json(nltk_spans(SAMPLE * 3, language)) for language in OTHERS
    }


def test_a_folder_that_a_program_told_nltk_is_found(monkeypatch):
    text, expected = SAMPLE, nltk_spans(SAMPLE, "danish")
    monkeypatch.setattr("nltk.data.path", [DATA])
    for hidden in ("llama_index", "llama_index.core"):
        monkeypatch.setitem(sys.modules, hidden, None)

    assert punkt_sentence_spans(text, "danish") == expected


def as_json(spans):
    return [list(span) for span in spans]
