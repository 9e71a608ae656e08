"""Mails (.eml): who wrote what to whom, and what is attached."""

from __future__ import annotations

import email
import email.policy
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from pathlib import PurePath
from typing import Any

from oprag.errors import MissingDependencyError
from oprag.files.bodies import Body
from oprag.files.html import shown_text
from oprag.files.text import NoTextError, decode
from oprag.tokens import encodable

_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_DEEPEST = 5
"""Mails inside mails that are read."""


def read_mail(
    data: bytes, read: Callable[[str, bytes], list[Body]], depth: int = 0
) -> list[Body]:
    """Read a mail, and what is attached to it.

    Args:
        data: The mail.
        read: Reads an attachment of a name.
        depth: In how many mails this one is.

    Raises:
        NoTextError: There is no text in it.
    """
    message = email.message_from_bytes(data, policy=email.policy.default)
    assert isinstance(message, EmailMessage)  # noqa: S101 -- as the policy has it
    head = [f"{name}: {message[name]}" for name in _HEADERS if message[name]]
    body = message.get_body(("plain", "html"))
    text = "\n\n".join(filter(None, ["\n".join(head), _text(body)]))
    bodies = [Body(encodable(text).replace("\0", "\ufffd"), "message")]
    left: list[str] = []
    attached = [*_attachments(message, body)]
    for name, content in attached:
        try:
            if name.lower().endswith(".eml"):
                found = read_mail(content, read, depth + 1) if depth < _DEEPEST else []
            else:
                found = read(name, content)
            bodies += [_attached(name, each) for each in found]
        except (NoTextError, MissingDependencyError):
            left.append(name)
    if left:
        holds = "holds" if len(left) == 1 else "hold"
        count = f"{len(left)} of {len(attached)} attachments"
        notice = f"{count} {holds} no text ({', '.join(left)})"
        bodies[0] = bodies[0]._replace(notice=notice)
    return bodies


def _attached(name: str, body: Body) -> Body:
    where = f'attachment "{name}"'
    return body._replace(name=", ".join(filter(None, (where, body.name))))


def _attachments(message: EmailMessage, body: Any) -> Iterator[tuple[str, bytes]]:
    """Return name and content of what is attached; pictures of the text are not."""
    for number, part in enumerate(message.iter_attachments(), 1):
        if part is body:
            continue
        name = PurePath(part.get_filename() or "").name
        if part.get_content_type() == "message/rfc822":
            inner: Any = part.get_payload(0)
            yield name or f"mail {number}.eml", bytes(inner)
        elif part.is_multipart():
            continue
        elif name:
            content: Any = part.get_payload(decode=True)
            yield name, content or b""


def _text(part: Any) -> str:
    if part is None:
        return ""
    data = part.get_payload(decode=True) or b""
    try:
        text = decode(data, part.get_content_charset())
    except NoTextError:
        text = data.decode("utf-8", "replace")
    if part.get_content_type() == "text/html":
        return shown_text(encodable(text), document=True).body
    return text.strip()
