"""Mails (.eml): their headers, texts and attachments."""

from __future__ import annotations

import email
import email.policy
import mimetypes
import re
from collections.abc import Callable, Iterator, Sequence
from email.message import EmailMessage
from email.utils import collapse_rfc2231_value
from itertools import islice
from pathlib import PurePath
from typing import Any, NamedTuple

from oprag.errors import MissingDependencyError
from oprag.files.bodies import Body
from oprag.files.html import shown_text
from oprag.files.text import (
    BAD,
    WESTERN,
    NoTextError,
    decode,
    decode_or_guess,
    name_guess,
)
from oprag.tokens import encodable

_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_DEEPEST = 5
"""Levels of mails inside mails that are read, at most."""
_STUB = 4
"""A plain text this many times shorter than the HTML only stands in for it."""
_QUOTES = re.compile(r"(>*) ?(.*)")
_SIGNATURE = "-- "
_CODED = re.compile(rb"=\?[^?\s]+\?[bq]\?[^?\s]*\?=", re.IGNORECASE)
"""Words of a header that name their encoding, such as `=?utf-8?q?M=C3=BCller?=`."""
_FOR_PROGRAMS = (
    *("application/pgp-signature", "application/pkcs7-signature"),
    *("application/x-pkcs7-signature", "application/pgp-encrypted"),
)
_OF_PAGE = re.compile(r"image/|audio/|video/|font/|text/css|.*(?:javascript|font)")
"""Kinds of parts that a page shows, or that make it look as it does."""


class _Attached(NamedTuple):
    name: str
    content: bytes
    is_mail: bool


class _Parts(NamedTuple):
    """The texts and the attachments of a mail, in its order."""

    texts: list[str]
    attached: list[_Attached]


def read_mail(
    data: bytes, read: Callable[[str, bytes], list[Body]], depth: int = 0
) -> list[Body]:
    """Read a mail and its attachments.

    Args:
        data: The mail.
        read: Reads an attachment, given its name and its bytes.
        depth: The number of mails that this one is inside.

    Raises:
        NoTextError: There is no text in it.
    """
    message = email.message_from_bytes(data, policy=email.policy.default)
    assert isinstance(message, EmailMessage)  # noqa: S101 -- as the policy has it
    head = [f"{name}: {_header(message, name)}" for name in _HEADERS if message[name]]
    parts = _Parts([], [])
    _collect(message, parts)
    text = "\n\n".join(filter(None, ["\n".join(head), *parts.texts]))
    bodies = [Body(encodable(text).replace("\0", "\ufffd"), "message")]
    left: list[str] = []
    deep: list[str] = []
    for each in parts.attached:
        is_mail = each.is_mail or each.name.lower().endswith(".eml")
        if is_mail and depth >= _DEEPEST:
            deep.append(each.name)
            continue
        try:
            if is_mail:
                found = read_mail(each.content, read, depth + 1)
            else:
                found = read(each.name, each.content)
            bodies += [_name_body(each.name, body) for body in found]
        except (NoTextError, MissingDependencyError):
            left.append(each.name)
    guesses = filter(None, map(_name_guess, message.walk()))
    notices = [*islice(guesses, 1), *_name_unread(len(parts.attached), left, deep)]
    bodies[0] = bodies[0]._replace(notice="; ".join(notices))
    return bodies


def _name_unread(count: int, left: Sequence[str], deep: Sequence[str]) -> Iterator[str]:
    """Say which of so many attachments hold no text, and which are too deep."""
    if deep:
        inside = f"mails inside more than {_DEEPEST} others are not read"
        yield f"{inside} ({', '.join(deep)})"
    if left:
        holds = "holds" if len(left) == 1 else "hold"
        yield f"{len(left)} of {count} attachments {holds} no text ({', '.join(left)})"


def _header(message: EmailMessage, name: str) -> str:
    """Return a header; bytes beyond ASCII in it are in the encoding of the text."""
    value = str(message[name])
    if BAD not in value:
        return value
    raw = {key.lower(): written for key, written in reversed([*message.raw_items()])}
    charsets = (part.get_content_charset() for part in message.walk())
    data = " ".join(raw[name.lower()].split()).encode("utf-8", "surrogateescape")
    charset = next(filter(None, charsets), None)
    guess = name_guess(_CODED.sub(b"", data), charset)
    try:
        text = decode(data, WESTERN if guess else charset)
    except NoTextError:
        return value
    return str(email.policy.default.header_factory(name, text))


def _name_body(attachment: str, body: Body) -> Body:
    where = f'attachment "{attachment}"'
    name = f"{where}, {body.name}" if body.name else where
    notice = f"{where}: {body.notice}" if body.notice else ""
    return body._replace(name=name, notice=notice)


def _collect(part: Any, parts: _Parts) -> None:
    """Add the texts and the attachments of a part."""
    kind = part.get_content_type()
    name = PurePath(part.get_filename() or "").name
    is_text = kind.startswith("text/") and not name and not part.is_attachment()
    number = len(parts.attached) + 1
    if kind == "message/rfc822":
        inner: Any = part.get_payload(0)
        name = name or f"mail {number}.eml"
        parts.attached.append(_Attached(name, bytes(inner), is_mail=True))
    elif part.is_multipart():
        _collect_inner(part, parts)
    elif is_text or part.get_content_maintype() == "multipart":  # a broken one
        parts.texts.append(_text(part))
    elif kind not in _FOR_PROGRAMS:
        content: Any = part.get_payload(decode=True) or b""
        name = name or f"attachment {number}{mimetypes.guess_extension(kind) or ''}"
        parts.attached.append(_Attached(name, content, is_mail=False))


def _collect_inner(part: Any, parts: _Parts) -> None:
    """Add the texts and the attachments of the parts inside a part."""
    kind = part.get_content_type()
    if part.get_content_maintype() == "message":
        # Only headers are in it: why a mail was not delivered.
        parts.texts.extend(str(block).strip() for block in part.get_payload())
    elif kind == "multipart/alternative":
        _collect_best([*part.iter_parts()], parts)
    elif kind == "multipart/related":
        _collect_related([*part.iter_parts()], parts)
    else:
        for inner in part.iter_parts():
            _collect(inner, parts)


def _collect_best(choices: Sequence[Any], parts: _Parts) -> None:
    """Add one of several forms of a text: the first, unless it says much less."""
    found = []
    for choice in choices:
        if choice.get_content_type() != "text/calendar":
            found.append(_Parts([], []))
            _collect(choice, found[-1])
    longest = max((_length(each) for each in found), default=0)
    best = next((each for each in found if _STUB * _length(each) >= longest), None)
    if best is not None:
        parts.texts.extend(best.texts)
    for each in found:
        parts.attached.extend(each.attached)


def _collect_related(inner: Sequence[Any], parts: _Parts) -> None:
    """Add a text and its attachments; what is shown in it is none."""
    for number, part in enumerate(inner):
        if number == 0 or not _is_shown(part):
            _collect(part, parts)


def _is_shown(part: Any) -> bool:
    """Tell whether a part is a picture, a style or a frame of a page beside it."""
    if part.get_content_disposition() == "attachment":
        return False
    is_frame = part.get_content_maintype() == "text" and not part.get_filename()
    return is_frame or _OF_PAGE.match(part.get_content_type()) is not None


def _length(parts: _Parts) -> int:
    return sum(len("".join(text.split())) for text in parts.texts)


def _name_guess(part: Any) -> str:
    data = part.get_payload(decode=True)
    is_text = part.get_content_maintype() == "text" and isinstance(data, bytes)
    return name_guess(data, part.get_content_charset()) if is_text else ""


def _text(part: Any) -> str:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return str(part.get_payload()).strip()
    try:
        text = decode_or_guess(data, part.get_content_charset())
    except NoTextError:
        text = data.decode("utf-8", "replace")
    if part.get_content_type() == "text/html":
        return shown_text(encodable(text), document=True).body
    text = text.replace("\r\n", "\n")
    if _parameter(part, "format") == "flowed":
        drops_blank = _parameter(part, "delsp") == "yes"
        text = _join_flowed(text, drops_blank=drops_blank)
    return text.strip()


def _parameter(part: Any, name: str) -> str:
    """Return a parameter of the kind of a part, which may name its encoding."""
    return collapse_rfc2231_value(part.get_param(name, "")).lower()


def _join_flowed(text: str, *, drops_blank: bool) -> str:
    """Join the lines that a mail program broke (RFC 3676).

    Args:
        text: The text; a line that goes on in the next one ends with a blank.
        drops_blank: Whether this blank is no part of the text.
    """
    lines: list[str] = []
    open_quotes: str | None = None
    for line in text.split("\n"):
        found = _QUOTES.fullmatch(line)
        assert found is not None  # noqa: S101 -- it matches any line
        quotes, words = found.groups()
        if words and quotes == open_quotes and words != _SIGNATURE:
            lines[-1] += words
        else:
            lines.append(f"{quotes} {words}" if quotes else words)
        goes_on = words.endswith(" ") and words != _SIGNATURE
        open_quotes = quotes if goes_on else None
        if goes_on and drops_blank:
            lines[-1] = lines[-1][:-1]
    return "\n".join(lines)
