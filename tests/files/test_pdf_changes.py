"""Changes to the text of a page."""

from oprag.files.pdf_changes import Change, apply_changes


def test_each_character_keeps_its_number_and_new_ones_have_their_own():
    changes = [
        Change(5, 5, "!", [14]),
        Change(0, 0, "<", [10]),
        Change(0, 0, "[", [10]),
        Change(2, 4, "L", [12]),
    ]

    text, numbers = apply_changes("hello", range(10, 15), changes)

    assert (text, numbers) == ("<[heLo!", [10, 10, 10, 11, 12, 14, 14])
