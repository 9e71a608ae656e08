"""Mails of real people: parts in parts, HTML alone, odd encodings and attachments."""

import base64
from email.message import EmailMessage
from pathlib import Path

import pytest

from oprag.files import read_file
from tests.files.mixed_files import pdf

_PLAIN, _HTML = "text/plain", "text/html"


def part(kind: str, content: str, more: str = "") -> str:
    return f"--b\nContent-Type: {kind}\n{more}\n{content}\n"


def mail(kind: str, *parts: str) -> bytes:
    head = f'Subject: Rent\nMIME-Version: 1.0\nContent-Type: {kind}; boundary="b"\n'
    return f"{head}\n{''.join(parts)}--b--\n".encode()


def read(path: Path, content: bytes) -> list[tuple[str, str]]:
    path.write_bytes(content)
    texts = [(each.part_name, each.text) for each in read_file(path)]
    return [(name, text.removeprefix("Subject: Rent\n\n")) for name, text in texts]


LONG = "<p>" + "The rent is due in May. " * 20 + "</p>"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (
            mail("multipart/mixed", part(_PLAIN, "One"), part(_HTML, "<p>Two</p>")),
            "One\n\nTwo",
        ),
        (
            mail("multipart/alternative", part(_PLAIN, ""), part(_HTML, "<p>Two</p>")),
            "Two",
        ),
        (
            mail("multipart/alternative", part(_PLAIN, "One"), part(_HTML, "<p>1</p>")),
            "One",
        ),
        (
            mail("multipart/alternative", part(_PLAIN, "No HTML?"), part(_HTML, LONG)),
            ("The rent is due in May. " * 20).strip(),
        ),
        (
            mail(
                "multipart/signed",
                part(_PLAIN, "One"),
                part("application/pgp-signature; name=a.asc", "-----BEGIN"),
            ),
            "One",
        ),
        (b"Subject: Rent\nContent-Type: multipart/mixed; boundary=b\n\nOne\n", "One"),
        (
            b"Subject: Rent\nContent-Type: text/plain; charset=x-none\n\nCaf\xe9 one\n",
            "Caf\ufffd one",
        ),
        (
            b"Subject: Rent\nContent-Type: text/plain; charset=utf-8\n\nOne caf\xc3",
            "One caf\ufffd",
        ),
    ],
)
def test_all_that_was_written_is_read_once(content, text, tmp_path):
    assert read(tmp_path / "a.eml", content) == [("message", text)]


def test_attachments_without_a_name_and_mails_that_are_one_are_read(tmp_path):
    notes = part(_PLAIN, "Note", "Content-Disposition: attachment\n")
    report = part("message/rfc822", "Subject: Inner\n\nInner text")
    status = part("message/delivery-status", "Reporting-MTA: dns; x\n")
    given = mail("multipart/report", part(_PLAIN, "One"), notes, status, report)
    alone = (
        b"Subject: Rent\nContent-Type: text/csv\n"
        b"Content-Disposition: attachment; filename=a.csv\n\nYear,Coal\n1900,12\n"
    )

    assert read(tmp_path / "a.eml", given) == [
        ("message", "One\n\nReporting-MTA: dns; x"),
        ('attachment "attachment 1.txt"', "Note"),
        ('attachment "mail 2.eml", message', "Subject: Inner\n\nInner text"),
    ]
    assert read(tmp_path / "b.eml", alone)[1] == (
        'attachment "a.csv"',
        "Year,Coal\n1900,12\n",
    )


@pytest.mark.parametrize(
    ("more", "lines"),
    [
        ("=flowed", "Due on the first of May. \n\n  One\n> We \n-- \nAnn"),
        ("=flowed; delsp=yes", "Due on thefirst of May.\n\n  One\n> We\n-- \nAnn"),
        ("*=''flowed", "Due on the first of May. \n\n  One\n> We \n-- \nAnn"),
    ],
)
def test_lines_that_a_mail_program_broke_are_whole(more, lines, tmp_path):
    head = f"Subject: Rent\nContent-Type: text/plain; format{more}\n\n"
    text = "Due on the \nfirst of May. \n\n   One\n>We \n-- \nAnn\n"

    assert read(tmp_path / "a.eml", f"{head}{text}".encode()) == [("message", lines)]


@pytest.mark.parametrize("codec", ["iso-8859-1", "koi8-r", "utf-8"])
def test_bytes_in_a_header_are_in_the_encoding_of_the_text(codec, tmp_path):
    word = "Аренда" if codec == "koi8-r" else "Größe"
    written = f"Subject: {word}\nContent-Type: text/plain; charset={codec}\n\nOne\n"

    ((_, text),) = read(tmp_path / "a.eml", written.encode(codec))

    assert text == f"Subject: {word}\n\nOne"


@pytest.mark.parametrize(
    ("written", "name"),
    [
        (b"=?utf-8?q?M=FCller?=", "M\ufffdller"),
        (b"J\xf6rg =?utf-8?q?M=C3=BCller?=", "J\xf6rg M\xfcller"),
    ],
)
def test_words_in_a_header_that_name_an_encoding_are_in_it(written, name, tmp_path):
    content = b"Subject: Rent\nFrom: %s <a@example.org>\n\nOne\n" % written

    ((_, text),) = read(tmp_path / "a.eml", content)

    assert text.splitlines()[0] == f"From: {name} <a@example.org>"


@pytest.mark.parametrize(
    ("kind", "more", "name"),
    [
        ("multipart/mixed", "", "attachment 1.pdf"),
        ("multipart/related", "", "attachment 1.pdf"),
        ("multipart/related", "Content-Disposition: inline; filename=a.pdf", "a.pdf"),
    ],
)
def test_a_document_is_read_wherever_it_stands_in_a_mail(kind, more, name, tmp_path):
    pdf(tmp_path / "a.pdf", ("Rent",))
    written = base64.encodebytes((tmp_path / "a.pdf").read_bytes()).decode()
    more = f"Content-Transfer-Encoding: base64\n{more}".strip() + "\n"
    content = mail(kind, part(_HTML, "One"), part("application/pdf", written, more))

    assert read(tmp_path / "a.eml", content) == [
        ("message", "One"),
        (f'attachment "{name}", page 1', "Rent"),
    ]


def test_mails_in_too_many_mails_are_named(tmp_path):
    inner = EmailMessage()
    inner.set_content("Inner\n")
    for _ in range(6):
        outer = EmailMessage()
        outer.set_content("Outer\n")
        outer.add_attachment(inner)
        inner = outer
    (tmp_path / "a.eml").write_bytes(inner.as_bytes())

    texts = read_file(tmp_path / "a.eml")

    assert [each.text for each in texts] == ["Outer"] * 6
    assert texts[0].notice.endswith(
        ": mails inside more than 5 others are not read (mail 1.eml)"
    )


def test_pictures_of_a_text_are_no_attachments(tmp_path):
    made = EmailMessage()
    made["Subject"] = "Rent"
    made.set_content("One\n")
    made.add_alternative("<p>One <img src='cid:x'></p>", subtype="html")
    made.get_payload()[1].add_related(b"\x89PNG", "image", "png", cid="<x>")

    assert read(tmp_path / "a.eml", made.as_bytes()) == [("message", "One")]
    assert read_file(tmp_path / "a.eml")[0].notice == ""
