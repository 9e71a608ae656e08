"""Whole documents, and what becomes of them in a small window."""

from oprag_eval.requests import answer_call
from tests.evaluation.small import HARBOUR, Replies, attempt, set_of_four

WINDOW = 220
RESERVED = 40


def read(window: int | None = WINDOW):
    model = Replies()
    options = {"question": 1, "window": window, "max_reply": RESERVED}
    return attempt("full-document", model, **options), model.calls[0]


def test_without_a_known_window_everything_is_read():
    found, call = read(window=None)

    assert call.facts["context"] == HARBOUR
    assert found.whole is True
    (piece,) = found.pieces
    assert (piece.document, piece.start, piece.end) == ("harbour", 0, len(HARBOUR))
    assert found.usage["answer"].input_tokens == len(call.prompt.split())


def test_a_document_over_the_window_is_cut_to_it():
    empty = len(answer_call(set_of_four().questions[1], "").prompt.split())
    assert empty + len(HARBOUR.split()) + RESERVED > WINDOW
    found, call = read()

    assert len(call.prompt.split()) + RESERVED <= WINDOW
    assert found.context_tokens > 20
    assert found.whole is False
    starts = [piece.start for piece in found.pieces]
    assert starts == sorted(starts)


def test_by_default_the_middle_is_cut_out_as_in_the_papers():
    _, call = read()
    context = call.facts["context"]
    head, tail = context[:40], context[-40:]

    assert HARBOUR.startswith(head)
    assert HARBOUR.endswith(tail)
    assert context not in HARBOUR
