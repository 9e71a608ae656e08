"""Subtitles of real people: arrows in their text, joined files."""

from oprag.files import read_file

SRT = """\
1
00:00:01,000 --> 00:00:02,000
A --> B is a step.
More.

\ufeff1
00:00:03,000 --> 00:00:04,000
End.
"""


def test_an_arrow_without_times_is_text_and_joined_files_leave_no_mark(tmp_path):
    (tmp_path / "a.srt").write_text(SRT, "utf-8")

    (film,) = read_file(tmp_path / "a.srt")

    assert film.text == "A --> B is a step.\nMore.\nEnd."
    assert [each.time for each in film.landmarks] == [(1, 2), (3, 4)]
