"""The offline reader: which sentence, which option, when it declines; always the same.

Vectors count words, so that nearness can be worked out by hand: a sentence of m words
that shares s of them with a question of n words is at s / sqrt(m n), where no word
comes twice.
"""

from __future__ import annotations

import asyncio
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.embeddings import Embeddings

from oprag.cli.embedding_models import load_embedding_model, packaged_weights
from oprag.splitting import punkt_sentence_spans
from oprag_eval.data import Question
from oprag_eval.model_texts import (
    gist_call,
    look_up_call,
    page_break_call,
    summary_call,
)
from oprag_eval.models import Call
from oprag_eval.readers.offline import OfflineReader, sentences_of
from oprag_eval.requests import answer_call, read_reply
from oprag_eval.vectors import Vectors
from tests.evaluation.small import HARBOUR, MILL

CONTEXT = "The lamp was lit.\nIt was cold.\n\nThe wheel was oak. Anna Holm was keeper."


class EachWord(Embeddings):
    """A place for every word of these tests, so that no two words are near."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        vector = [0.0] * 256
        for word in re.findall(r"\w+", text.lower()):
            vector[self._places.setdefault(word, len(self._places))] += 1.0
        return vector


def words(text: str) -> int:
    return len(text.split())


def reader(**options) -> OfflineReader:
    vectors = Vectors(EachWord(), name="words")
    return OfflineReader(vectors, token_counter=words, **options)


def ask(call: Call, **options) -> str:
    return asyncio.run(reader(**options).complete(call)).text


def question(text: str, *options: str) -> Question:
    return Question("q", ("d",), text, options=options)


def test_the_nearest_sentence_answers():
    # Shares "the", "was" and "lamp": 3 / sqrt(4 * 4); the wheel only 2 of 4.
    assert ask(answer_call(question("When was the lamp"), CONTEXT)) == (
        "The lamp was lit."
    )


def test_it_declines_where_nothing_is_near():
    reply = ask(answer_call(question("Who is Peter"), CONTEXT))

    assert not read_reply(reply).answered
    assert not read_reply(ask(answer_call(question("Who"), ""))).answered


@pytest.mark.parametrize(("threshold", "answers"), [(0.70, True), (0.80, False)])
def test_the_threshold_decides(threshold, answers):
    # As above: 3 / sqrt(16) = 0.75.
    call = answer_call(question("When was the lamp"), CONTEXT)

    reply = ask(call, threshold=threshold)

    assert read_reply(reply).answered is answers


def test_the_option_that_is_nearest_to_some_sentence_is_chosen():
    asked = question("The wheel was", "iron", "oak", "brass")

    # "The wheel was oak" is a sentence: 1. With another option 3 / sqrt(16).
    assert ask(answer_call(asked, CONTEXT)) == "B"
    assert not read_reply(ask(answer_call(asked, "Nothing."))).answered


def test_a_choice_is_declined_where_there_is_nothing_to_read():
    asked = question("The wheel was", "iron", "oak", "brass")

    assert not read_reply(ask(answer_call(asked, ""))).answered


def test_an_option_is_numbered_where_brackets_are_asked_for():
    asked = question("The wheel was", "iron", "oak", "brass")

    assert ask(answer_call(asked, CONTEXT, "brackets")) == "[[2]]"
    declined = ask(answer_call(asked, "Nothing.", "brackets"))
    assert not read_reply(declined, asked, "brackets").answered


def test_of_equal_options_the_first_is_chosen():
    assert ask(answer_call(question("The wheel was", "oak", "oak"), CONTEXT)) == "A"


def test_a_long_answer_is_the_three_nearest_as_they_stand():
    facts = {"question": "lamp wheel keeper was", "context": CONTEXT}
    call = Call("long_answer", "prompt", facts)

    # At 2 / sqrt(16) each; "It was cold." shares one word.
    assert ask(call, threshold=0.4) == (
        "The lamp was lit. The wheel was oak. Anna Holm was keeper."
    )


def test_a_short_answer_comes_from_the_long_one_and_a_refusal_stays_one():
    facts = {"question": "Who was keeper", "long_answer": "It rained. Holm was keeper."}

    assert ask(Call("short_answer", "prompt", facts)) == "Holm was keeper."
    refused = {**facts, "long_answer": "unanswerable"}
    assert ask(Call("short_answer", "prompt", refused)) == "unanswerable"


@pytest.mark.parametrize("most", [1, 8, 20, 60])
def test_a_summary_is_of_sentences_of_the_text_in_its_order_and_no_longer(most):
    summary = ask(summary_call(HARBOUR, most))

    assert 0 < words(summary) <= most
    sentences = [HARBOUR[start:end] for start, end in punkt_sentence_spans(HARBOUR)]
    if most > 8:
        parts = [summary[start:end] for start, end in punkt_sentence_spans(summary)]
        places = [sentences.index(part) for part in dict.fromkeys(parts)]
        assert places == sorted(places)


def test_a_gist_is_a_quarter_of_its_page_and_more_than_nothing():
    assert 0 < words(ask(gist_call(MILL))) <= words(MILL) // 4
    assert ask(gist_call("A mill.")) == "A mill."


def test_a_page_ends_at_the_last_place_that_is_offered():
    assert ask(page_break_call(["a.", "b.", "c.", "d."], [2, 3], "")) == "<2>"


def test_the_page_with_the_nearest_gist_is_looked_up():
    call = look_up_call("When was the lamp lit?", (), ["A mill.", "The lamp."], 6)

    assert ask(call) == "[2]"


def test_a_reply_is_no_longer_than_is_allowed():
    call = answer_call(question("When was the lamp"), CONTEXT)
    short = Call(call.kind, call.prompt, call.facts, max_output_tokens=2)

    assert words(ask(short)) <= 2


def test_tokens_are_counted_and_said_to_be():
    call = answer_call(question("When was the lamp"), CONTEXT)
    usage = asyncio.run(reader().complete(call)).usage

    assert usage.input_tokens == words(call.prompt)
    assert (usage.output_tokens, usage.estimated) == (4, True)


@given(st.lists(st.sampled_from([HARBOUR, MILL, CONTEXT, "A. B.", ""]), max_size=6))
def test_what_it_read_before_makes_no_difference(texts):
    one = reader()
    for text in texts:
        call = answer_call(question("What was the wheel made of"), text)
        again = asyncio.run(one.complete(call)).text
        assert again == ask(call)


def test_a_sentence_is_embedded_once(tmp_path):
    class Counting(EachWord):
        texts = 0

        def embed_documents(self, texts):
            Counting.texts += len(texts)
            return super().embed_documents(texts)

    # Thrice the same six sentences, and one more.
    for _ in range(2):
        vectors = Vectors(Counting(), name="words", folder=tmp_path)
        found = sentences_of(HARBOUR, vectors)
        assert len(found.texts) == len(found.matrix) == 19
        assert Counting.texts == 7
        vectors.close()


def test_sentences_of_no_text_are_none():
    found = sentences_of(" \n\n --- \n", Vectors(EachWord(), name="words"))

    assert found.texts == ()
    assert found.matrix.size == 0


@pytest.mark.slow
def test_with_the_real_model_it_finds_what_shares_no_word():
    embeddings = load_embedding_model(packaged=packaged_weights())
    vectors = Vectors(embeddings, name="minilm")
    one = OfflineReader(vectors, token_counter=words, threshold=0.3)
    call = answer_call(question("At what time of year did the port start?"), HARBOUR)

    assert asyncio.run(one.complete(call)).text == "The harbour opened in May."
    assert np.allclose(np.linalg.norm(vectors.of_texts(["Some text."]), axis=1), 1)
