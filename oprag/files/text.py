"""Bytes as text: UTF-8, or what a page declares, and a reason where it is neither."""

from __future__ import annotations

import codecs
import re

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_NEVER_IN_TEXT = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
_WEB = {"iso8859-1": "cp1252", "ascii": "cp1252"}
"""The encodings that these names mean on pages, by the HTML standard."""


BAD = "\ufffd"
"""Stands in the place of what is no character."""
_MOST_BAD = 0.005
"""Share of bytes that may be wrong: the rest is read, with U+FFFD in their places."""


class NoTextError(ValueError):
    """The reason that bytes are no text; the message follows the name of the file.

    Args:
        message: The reason.
        nothing: Whether there is no text in them for anybody: `"empty"`, or `"binary"`
            for pictures, too; None where they could not be read.
    """

    def __init__(self, message: str, nothing: str | None = None) -> None:
        super().__init__(message)
        self.nothing = nothing


def decode(data: bytes, declared: str | None = None) -> str:
    """Read bytes as text, every character and line break as it is.

    A few bytes that are wrong do not refuse a text: U+FFFD is in their places.

    Args:
        data: The bytes. A byte order mark of UTF-8 is left out.
        declared: The encoding that the text itself names; None for UTF-8.

    Raises:
        NoTextError: They are binary, or in another encoding.
    """
    if data.startswith(_UTF_16):
        raise NoTextError("is UTF-16 text; save it as UTF-8")
    name = _codec(declared)
    if b"\0" in data and data.count(b"\0") > _MOST_BAD * len(data):
        raise NoTextError("is binary, not text", "binary")
    try:
        return data.decode(name).replace("\0", BAD)
    except UnicodeDecodeError as error:
        return _decode_most(data, name, declared, error)
    except (LookupError, ValueError) as error:  # `undefined`, `punycode`
        raise _unknown(declared) from error


def _codec(declared: str | None) -> str:
    """Return the codec of an encoding, by the name that a page gives it."""
    try:
        name = codecs.lookup(declared or "utf-8").name
    except (LookupError, ValueError) as error:  # a NUL in it
        raise _unknown(declared) from error
    return "utf-8-sig" if name == "utf-8" else _WEB.get(name, name)


def _unknown(declared: str | None) -> NoTextError:
    message = f"names an encoding that is not known, {declared!r}; save it as UTF-8"
    return NoTextError(message)


def _decode_most(
    data: bytes, codec: str, declared: str | None, error: UnicodeDecodeError
) -> str:
    """Read bytes of which some are wrong, if these are few."""
    if declared is None and _NEVER_IN_TEXT.search(data):
        raise NoTextError("is binary, not text", "binary") from error
    try:
        text = data.decode(codec, "replace").replace("\0", BAD)
    except (LookupError, ValueError) as other:  # `punycode`, `idna`
        raise _unknown(declared) from other
    if text.count(BAD) <= _MOST_BAD * len(data):
        return text
    name = codecs.lookup(declared).name if declared else "UTF-8"
    message = (
        f"is not {name} text (byte 0x{data[error.start]:02x} at {error.start}); "
        "save it as UTF-8"
    )
    raise NoTextError(message) from error


def name_bad_characters(data: bytes, text: str) -> str:
    """Say how many characters of a text are wrong; empty where none is.

    Args:
        data: What the text was read from.
        text: The text.
    """
    count = text.count(BAD) - data.count(BAD.encode())
    if count <= 0:
        return ""
    are = "character is" if count == 1 else "characters are"
    return f"{count} {are} wrong in it, and read as U+FFFD"
