"""LongRAG: which units are read, and how the answer is taken from them."""

import pytest

from oprag.errors import InvalidOptionError
from oprag_eval.catalogue import make_system
from oprag_eval.data import Dataset, Document, Question
from tests.evaluation.small import HARBOUR, MILL, Replies, attempt, words

LONG = HARBOUR * 20
"""Over 1,000 words, so that it takes two calls."""


def attempt_of(dataset: Dataset, settings: str = ""):
    model = Replies(lambda call: f"from the {call.kind}")
    return attempt(f"longrag{settings}", model, dataset), model.calls


def of_documents(question: str = "Who was Anna Holm?", options=(), **texts) -> Dataset:
    documents = {name: Document(name, "", text) for name, text in texts.items()}
    asked = Question("q", tuple(texts), question, ("keeper",), options)
    return Dataset("set", (asked,), documents)


def test_a_long_context_takes_two_calls_and_the_second_sees_no_context():
    found, (long, short) = attempt_of(of_documents(long=LONG))

    assert (long.kind, short.kind) == ("long_answer", "short_answer")
    assert long.facts["context"] == LONG
    assert short.facts["long_answer"] == "from the long_answer"
    assert LONG not in short.prompt
    assert short.prompt.count("Short answer:") == 9  # eight examples
    assert found.prediction == "from the short_answer"
    assert found.usage["answer"].input_tokens == sum(
        words(call.prompt) for call in (long, short)
    )


def test_a_short_context_takes_one_call():
    found, (call,) = attempt_of(of_documents(short=HARBOUR))

    assert call.kind == "answer"
    assert found.prediction == "from the answer"


def test_the_best_units_are_read_in_document_order():
    # Units of 50 words: of three parts, k=2 are those with the best chunks.
    found, (call,) = attempt_of(
        of_documents("When was the lamp lit?", a=HARBOUR),
        ":k=2,max_tokens=50,chunk_size=10",
    )
    starts = [piece.start for piece in found.pieces]

    assert len(starts) == 2
    assert starts == sorted(starts)
    assert "the lamp was lit" in call.facts["context"]
    assert all(words(HARBOUR[piece.start : piece.end]) <= 50 for piece in found.pieces)


def test_whole_documents_that_are_linked_are_one_unit():
    linked = {"a.md": "See [the mill](b.md). " + HARBOUR, "b.md": MILL, "c.md": MILL}
    found, _ = attempt_of(of_documents(**linked), ":k=1")

    assert {piece.document for piece in found.pieces} == {"a.md", "b.md"}


def test_without_links_every_document_is_a_unit():
    linked = {"a.md": "See [the mill](b.md). " + HARBOUR, "b.md": MILL, "c.md": MILL}
    found, _ = attempt_of(of_documents(**linked), ":k=1,links=none")

    (piece,) = found.pieces
    assert (piece.start, piece.end) == (0, len(linked[piece.document]))
    with pytest.raises(InvalidOptionError, match="loses every document"):
        make_system("longrag:links=none,compat=official")


def test_where_the_official_grouping_loses_everything_nothing_is_asked():
    found, calls = attempt_of(of_documents(only=HARBOUR), ":compat=official")

    assert calls == []
    assert not found.prediction
    assert found.pieces == ()
