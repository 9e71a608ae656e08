"""Subtitles of real people: arrows in their text, joined files."""

import pytest

from oprag.files import landmarks_of, read_file

SRT = """\
1
00:00:01,000 --> 00:00:02,000
A --> B is a step.
At 1:02 --> 1:03.

\ufeff1
00:00:03,000 --> 00:00:04,000
End.
"""


def test_an_arrow_without_times_is_text_and_joined_files_leave_no_mark(tmp_path):
    (tmp_path / "a.srt").write_text(SRT, "utf-8")

    (film,) = read_file(tmp_path / "a.srt")

    assert film.text == "A --> B is a step.\nAt 1:02 --> 1:03.\nEnd."
    assert [each.time for each in film.landmarks] == [(1, 2), (3, 4)]


@pytest.mark.parametrize(
    ("name", "line", "time"),
    [
        ("a.vtt", "00:03 --> 00:04", (3, 4)),
        ("a.srt", "00:00:03 --> 00:00:04", (3, 4)),
        ("a.srt", "00:00:03,0000 --> 00:00:04,5000", (3, 4.5)),
        ("a.srt", "0:0:3.5-->0:0:4.25  X1:40 X2:60", (3.5, 4.25)),
        ("a.srt", "00:03:500 --> 00:04:000", (3.5, 4)),
        ("a.srt", "00:00:03:12 --> 00:00:04:24", (3, 4)),
        ("a.vtt", "1:02:03.004 --> 101:00:00.000 line:0", (3723.004, 363600)),
    ],
)
def test_times_are_read_however_they_are_written(name, line, time, tmp_path):
    lines = ("WEBVTT", "", "00:01.000 --> 00:02.000", "one", "", line, "two")
    (tmp_path / name).write_text("\n".join(lines[(name == "a.srt") * 2 :]), "utf-8")

    (film,) = read_file(tmp_path / name)

    assert film.text == "one\ntwo"
    assert [each.time for each in film.landmarks] == [(1, 2), time]


def test_subtitles_may_begin_like_notes(tmp_path):
    said = "NOTED. Rent is due.\nREGIONAL trains.\nSTYLE"
    notes = "NOTE one\ntwo\n\nSTYLE\n::cue {}"
    (tmp_path / "a.vtt").write_text(
        f"WEBVTT\n\n{notes}\n\n00:01 --> 00:02\n{said}\n\n{notes}\n"
    )

    assert read_file(tmp_path / "a.vtt")[0].text == said


def test_a_number_that_is_said_is_no_number_of_a_subtitle(tmp_path):
    times = [f"00:0{minute}:00,000 --> 00:0{minute}:01,000" for minute in range(3)]
    said = ["How many?", "42", "End"]
    pairs = zip(times, said, strict=True)
    lines = [line for pair in pairs for line in pair]
    (tmp_path / "a.srt").write_text("\n".join(lines))
    (tmp_path / "a.vtt").write_text("\n".join(["WEBVTT", "", *lines]))

    for name in ("a.srt", "a.vtt"):
        assert read_file(tmp_path / name)[0].text.splitlines() == said


def test_subtitles_that_overlap_are_said_from_the_first_second_to_the_last(tmp_path):
    said = ("00:20 --> 00:40\nLong.", "00:22 --> 00:24\nShort.", "00:05 --> 00:06\nA.")
    (tmp_path / "a.vtt").write_text("\n\n".join(["WEBVTT", *said]))

    (film,) = read_file(tmp_path / "a.vtt")

    times = [landmarks_of(film.landmarks, 0, end) for end in (8, len(film.text))]
    assert times == [
        {"start_time": 20, "end_time": 40},
        {"start_time": 5, "end_time": 40},
    ]
