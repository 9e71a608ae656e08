"""The facts of a chunk that its text and metadata show."""

from oprag import order_context
from oprag.context import write_place


def test_a_window_around_a_sentence_does_not_say_where_it_begins():
    place = {"source": "s", "start_index": 40, "original_text": "a sentence"}

    (passage,) = order_context(["before, a sentence"], [place])
    (again,) = order_context(["before, a sentence"], [write_place(passage, place)])
    assert passage.citation == again.citation == "s"
    assert order_context(["a sentence"], [place])[0].spans == ((40, 50),)
    for nothing in (None, ""):
        (sentence,) = order_context(
            ["a sentence"], [place | {"original_text": nothing}]
        )
        assert sentence.spans == ((40, 50),)


def test_a_window_that_its_document_has_twice_may_have_a_list_for_a_parent():
    place = {"source": "s", "doc_id": ["p"], "start_index": 3, "original_text": "one."}
    keys = {"document_key": "source", "documents": {"s": "No one. No one."}}

    assert order_context(["No one."], [place], **keys)[0].citation == "s"
