"""Bytes as text: UTF-8, or what a page declares, and a reason where it is neither."""

from __future__ import annotations

import codecs
import re

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_NEVER_IN_TEXT = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
_WEB = {"iso8859-1": "cp1252", "ascii": "cp1252"}
"""The encodings that these names mean on pages, by the HTML standard."""


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

    Args:
        data: The bytes. A byte order mark of UTF-8 is left out.
        declared: The encoding that the text itself names; None for UTF-8.

    Raises:
        NoTextError: They are binary, or in another encoding.
    """
    if data.startswith(_UTF_16):
        raise NoTextError("is UTF-16 text; save it as UTF-8")
    if b"\0" in data:
        raise NoTextError("is binary, not text", "binary")
    try:
        name = codecs.lookup(declared or "utf-8").name
        return data.decode("utf-8-sig" if name == "utf-8" else _WEB.get(name, name))
    except UnicodeDecodeError as error:
        if declared is None and _NEVER_IN_TEXT.search(data):
            raise NoTextError("is binary, not text", "binary") from error
        name = declared or "UTF-8"
        message = (
            f"is not {name} text (byte 0x{data[error.start]:02x} at {error.start}); "
            "save it as UTF-8"
        )
        raise NoTextError(message) from error
    except (LookupError, ValueError) as error:  # `undefined`, `punycode`, a NUL
        message = f"names an encoding that is not known, {declared!r}; save it as UTF-8"
        raise NoTextError(message) from error
