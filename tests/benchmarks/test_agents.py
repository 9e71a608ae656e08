"""The counts of the benchmark of agents, by hand."""

from langchain_core.documents import Document

from benchmarks.agents import Answer, row, spans_of

FOUND = [
    Document("ab", metadata={"start_index": 4}),
    Document("cde", metadata={"char_start": 0}),
]


def test_places_are_those_that_an_answer_shows_and_else_those_of_what_was_found():
    shown = (
        "[see above: a.txt, characters 0-3]\n\n[1] a.txt, characters 4-6 and 9-10\n…"
    )

    assert spans_of(shown, FOUND) == [(4, 6), (9, 10)]
    assert spans_of("[see above: a.txt, characters 0-3]", FOUND) == []
    assert spans_of("ab\n\ncde", FOUND) == [(4, 6), (0, 3)]


def test_tokens_add_up_over_the_prompts_and_characters_count_once():
    # One word is a token. The second prompt has both answers: 1 + (1 + 1).
    # Characters 4, 5 and 0, 1, 2; then 2, 3, 4: of eight two were there.
    answers = [Answer("one", [(4, 6), (0, 3)]), Answer("two", [(2, 5)])]

    assert row("agent", answers) == ("agent", 2, 3, 1 - 6 / 8, 1)
