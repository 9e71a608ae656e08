"""Sentences by trained Punkt."""

import json
from functools import lru_cache
from pydoc_data.topics import topics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oprag.errors import SentenceDataError
from oprag.optional import bundled_folder
from oprag.splitting import punkt_sentence_spans
from oprag.splitting.sentences import _load
from tests.effort import cases
from tests.fresh_interpreter import run
from tests.strategies import awkward_texts

pytest.importorskip("nltk", reason="Punkt is nltk's")

SAMPLE = (
    "Mr. Smith met Dr. Jones at 5 p.m. in Washington D.C. on Jan. 5.  He left at once!"
    '\r\n\r\n"Did he?" asked J. K. Rowling... No. 7 was late; it never came. 🙂 End'
)


@pytest.fixture
def bundled_data():
    """The folder of nltk data that llama-index-core carries."""
    folder = bundled_folder("llama_index.core", "_static", "nltk_cache")
    if folder is None:
        pytest.skip("llama-index-core is not installed; it carries the data")
    return folder


def sentences(text, **options):
    return [text[start:end] for start, end in punkt_sentence_spans(text, **options)]


def test_abbreviations_and_initials_end_no_sentence():
    assert sentences(SAMPLE) == [
        "Mr. Smith met Dr. Jones at 5 p.m. in Washington D.C. on Jan. 5.",
        "He left at once!",
        '"Did he?"',
        "asked J. K. Rowling... No.",
        "7 was late; it never came.",
        "🙂 End",
    ]


def test_the_model_is_that_of_the_language():
    assert sentences("Am 5. Mai kam er.", language="german") == ["Am 5. Mai kam er."]
    assert sentences("Am 5. Mai kam er.") == ["Am 5.", "Mai kam er."]


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
    *("5", "3.14", "A.", ".", "...", " . . .", "!", "?", "!?", "--", "-", ",", ":"),
    *(" ", "  ", "\n", "\n\n", "\r\n", "\t", "\v", "\xa0", "\x1c", "\x85", "\u3000"),
    *(
        ")",
        "(",
        '"',
        "'",
        "”",
        "“",
        "’",
        "»",
        "]",
        "*",
        "@",
        "{",
        " The",
        " he",
        "été.",
    ),
)


@settings(max_examples=cases(500))
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join) | awkward_texts)
@pytest.mark.parametrize("language", ["english", "german"])
def test_the_spans_are_those_of_nltk(language, text):
    assert punkt_sentence_spans(text, language) == nltk_spans(text, language)


@pytest.mark.slow
def test_the_spans_of_a_long_real_text_are_those_of_nltk():
    text = "\n\n".join(topics.values())

    assert punkt_sentence_spans(text) == nltk_spans(text)


@lru_cache
def nltk_model(language):
    return _load(language)


def nltk_spans(text, language="english"):
    return list(nltk_model(language).span_tokenize(text))


@pytest.mark.slow
def test_a_text_may_take_longer_than_nltk_allows_a_pattern(monkeypatch):
    redos = pytest.importorskip("nltk.redos", reason="older nltk sets no limit")
    text = "One two three. " * 100_000
    tokenizer = _load("english")
    monkeypatch.setattr(redos, "DEFAULT_TIMEOUT", 0.01)

    with pytest.raises(TimeoutError):
        list(tokenizer.span_tokenize(text))
    assert len(punkt_sentence_spans(text)) == 100_000


@pytest.mark.parametrize("language", ["klingon", "../english", ""])
def test_a_language_without_a_model_is_an_error_with_the_ways_out(language):
    with pytest.raises(
        SentenceDataError, match=r"punkt_tab.*sentence_spans="
    ) as caught:
        punkt_sentence_spans("One. Two.", language=language)

    assert caught.value.language == language


SPANS = f"""
import json, sys
from oprag.splitting.sentences import _load, punkt_sentence_spans
spans = [punkt_sentence_spans({SAMPLE!r} * 3, language) for language in
         ("english", "german", "turkish", "malayalam")]
print(json.dumps(spans))
assert "llama_index.core" not in sys.modules
"""


@pytest.mark.slow
def test_the_bundled_models_are_read_as_nltk_reads_them(bundled_data):
    by_us = run(SPANS)
    by_nltk = run(SPANS, without=["llama_index"], NLTK_DATA=str(bundled_data))

    assert json.loads(by_us) == json.loads(by_nltk)
    assert len(json.loads(by_us)[0]) >= 3 * 6 - 2


@pytest.mark.slow
def test_without_any_model_the_error_names_the_ways_out(tmp_path):
    code = """
from oprag.errors import SentenceDataError
from oprag.splitting.sentences import _load, punkt_sentence_spans
try:
    punkt_sentence_spans("One. Two.")
except SentenceDataError as error:
    print(error)
"""
    message = run(code, without=["llama_index"], HOME=str(tmp_path))
    if not message:
        pytest.skip("the models are installed where nltk finds them for everyone")

    for way in ("nltk.download", "llama-index-core", "sentence_spans="):
        assert way in message


def test_without_nltk_the_error_names_the_extra():
    code = """
from oprag.errors import MissingDependencyError
from oprag.splitting.sentences import _load, punkt_sentence_spans
try:
    punkt_sentence_spans("One. Two.")
except MissingDependencyError as error:
    print(error.package, error.extra)
"""
    assert run(code, without=["nltk"]).split() == ["nltk", "langchain"]
