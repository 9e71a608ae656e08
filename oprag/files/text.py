"""Bytes as text, in UTF-8 or a page's declared encoding, or the reason why not."""

from __future__ import annotations

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Marks at the beginning that say the encoding, whatever else a text says."""
_NEVER_IN_TEXT = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
_WEB = {
    "ascii": "cp1252",
    "big5": "big5hkscs",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "shift_jis": "cp932",
    "tis-620": "cp874",
    "utf-16": "utf-8-sig",
    "utf-16-be": "utf-8-sig",
    "utf-16-le": "utf-8-sig",
    "utf-8": "utf-8-sig",
}
"""The encodings that these names mean on pages, by the HTML standard."""
_LABELS = {
    "iso-8859-8-i": "iso8859_8",
    "utf8mb4": "utf-8",
    "unicode-1-1-utf-8": "utf-8",
    "windows-31j": "cp932",
    "windows-949": "cp949",
    "x-sjis": "cp932",
    "x-user-defined": "cp1252",
}
"""Names that pages use and Python does not know."""
_ASCII = bytes(range(128))
_MANY = 24
"""So many bytes beyond ASCII are never UTF-8 by chance in another encoding."""
_OF_ONE_BYTE = ("cp125", "iso8859")
"""Beginnings of the names of codecs in which any bytes are some text."""


WESTERN = "cp1252"
"""The encoding in which browsers read pages that name none, and Excel writes."""
_WESTERN = frozenset("ßàáâãäåæçèéêëìíîïñòóôõöøùúûüÿœ")
_IN_WORD = re.compile(r"(?<=[^\W\d_])[^\w\s'.,;:!?/+&@()’-](?=[^\W\d_])")
_LABEL_OF_UTF_8 = re.compile("utf-?8", re.IGNORECASE)
_TAG = re.compile(r"<[^>]*>")
_OTHER_WORD = re.compile(r"(?<!\w)[^\W\d_a-zA-Z]{3,}(?!\w)")
"""A word without any letter from a to z, as in other scripts."""


BAD = "\ufffd"
"""Stands in the place of bytes that are no character."""
_MOST_ZEROS = 0.9
"""Share of the bytes of one half that are 0 in UTF-16, at least: few programs leave out
the mark, and their texts are mostly in ASCII."""
_MOST_BAD = 0.005
"""Share of bytes that may be wrong: the rest is read, with U+FFFD in their places."""
_SHORTEST = 12
"""Bytes of a text that may hold one zero, at least."""


class NoTextError(ValueError):
    """The reason that bytes are no text; the message follows the name of the file.

    Args:
        message: The reason.
        nothing: Says that there is no text in them for anybody: `"empty"`, or
            `"binary"`, also for pictures. None if they could not be read.
    """

    def __init__(self, message: str, nothing: str | None = None) -> None:
        super().__init__(message)
        self.nothing = nothing


def decode(data: bytes, declared: str | None = None) -> str:
    """Read bytes as text, with every character and line break unchanged.

    A text with a few wrong bytes is read all the same, with U+FFFD in their places.

    Args:
        data: The bytes. A byte order mark is left out.
        declared: The encoding that the text itself names; None for UTF-8. A byte order
            mark counts more, and so does text that is UTF-8 beyond doubt.

    Raises:
        NoTextError: They are binary, or in another encoding.
    """
    marked = next((codec for mark, codec in _MARKS if data.startswith(mark)), None)
    wide = marked if marked in {"utf-16", "utf-32"} else _find_utf_16(data)
    if wide is not None:
        return _decode_wide(data, wide)
    name = marked or _codec(declared, data)
    is_sure = name.startswith(_OF_ONE_BYTE) or _has_many_beyond_ascii(data)
    if marked is None and is_sure and _is_utf_8(data):
        name = "utf-8"
    if b"\0" in data and not _is_among_letters(data):
        raise NoTextError("is binary, not text", "binary")
    try:
        return data.decode(name).replace("\0", BAD)
    except UnicodeDecodeError as error:
        return _decode_most(data, name, declared, error)
    except (LookupError, ValueError) as error:  # `undefined`, `punycode`
        raise _unknown(declared) from error


def decode_or_guess(data: bytes, declared: str | None = None) -> str:
    """Read bytes as text as `decode` does, or by `name_guess`.

    Raises:
        NoTextError: They are binary, or in another encoding.
    """
    return decode(data, WESTERN if name_guess(data, declared) else declared)


def name_guess(data: bytes, declared: str | None = None) -> str:
    """Say that the encoding of bytes is a guess; empty if it is not."""
    is_utf_8 = declared is not None and _LABEL_OF_UTF_8.fullmatch(declared.strip())
    if (declared is not None and not is_utf_8) or not is_western(data):
        return ""
    if is_utf_8 and _is_cut(data):
        return ""
    said = "is not in UTF-8 as it says" if is_utf_8 else "names no encoding"
    return f"it {said}, and is read as Windows-1252"


def is_western(data: bytes) -> bool:
    """Tell whether bytes are Western European text in Windows-1252, and not UTF-8.

    True only if there is no doubt: the letters of other scripts and of Eastern Europe
    turn into other letters in Windows-1252.
    """
    if data.isascii() or _has_utf_8(data) or _NEVER_IN_TEXT.search(data):
        return False
    try:
        text = _TAG.sub("", data.decode(WESTERN))
    except UnicodeDecodeError:
        return False
    letters = [letter for letter in text.lower() if letter.isalpha()]
    others = [letter for letter in letters if not letter.isascii()]
    return (
        2 * len(others) <= len(letters)
        and _WESTERN.issuperset(others)
        and not _IN_WORD.search(text)
        and not _OTHER_WORD.search(text)
    )


def _is_cut(data: bytes) -> bool:
    """Tell whether bytes are UTF-8 but for the beginning of a character at the end."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return False
    return True


def _has_utf_8(data: bytes) -> bool:
    """Tell whether some character beyond ASCII is right in UTF-8."""
    text = data.decode("utf-8", "ignore")
    return not text.isascii()


def _find_utf_16(data: bytes) -> str | None:
    """Return the codec of UTF-16 without a mark: nearly every other byte is 0."""
    if b"\0" not in data or len(data) % 2:
        return None
    even, odd = data[::2], data[1::2]
    for codec, letters, zeros in (("utf-16-le", even, odd), ("utf-16-be", odd, even)):
        are_zeros = zeros.count(0) >= _MOST_ZEROS * len(zeros)
        if are_zeros and not _NEVER_IN_TEXT.search(letters):
            return codec
    return None


def _decode_wide(data: bytes, codec: str) -> str:
    """Read a text whose characters have two or four bytes each."""
    text = data.decode(codec, "replace")
    if text.count(BAD) + text.count("\0") > _MOST_BAD * len(text):
        raise NoTextError("is binary, not text", "binary")
    return text.replace("\0", BAD)


def _is_among_letters(data: bytes) -> bool:
    """Tell whether zeros are mistakes in a text: few, or one in a short text."""
    count = data.count(b"\0")
    if count <= _MOST_BAD * len(data):
        return True
    others = data.replace(b"\0", b"")
    return count == 1 and len(data) >= _SHORTEST and not _NEVER_IN_TEXT.search(others)


def _has_many_beyond_ascii(data: bytes) -> bool:
    return not data.isascii() and len(data.translate(None, _ASCII)) >= _MANY


def _is_utf_8(data: bytes) -> bool:
    """Tell whether bytes are UTF-8 beyond ASCII, which others rarely are by chance."""
    try:
        return not data.isascii() and bool(data.decode())
    except UnicodeDecodeError:
        return False


def _codec(declared: str | None, data: bytes) -> str:
    """Return the codec of an encoding, by the name that a page gives it."""
    try:
        label = (declared or "utf-8").strip().lower()
        name = codecs.lookup(_LABELS.get(label, label)).name
    except (LookupError, ValueError) as error:  # a NUL in it
        if data.isascii() or _is_utf_8(data):
            return "utf-8"
        raise _unknown(declared) from error
    return _WEB.get(name, name)


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
    name = declared or "UTF-8"
    message = (
        f"is not {name} text (byte 0x{data[error.start]:02x} at {error.start}); "
        "save it as UTF-8"
    )
    raise NoTextError(message) from error


def name_bad_characters(data: bytes, text: str) -> str:
    """Say how many characters of a text are wrong; empty if none is.

    Args:
        data: The bytes that the text was read from.
        text: The text.
    """
    count = text.count(BAD) - data.count(BAD.encode())
    if count <= 0:
        return ""
    are = "character is" if count == 1 else "characters are"
    return f"{count} {are} wrong in it, and read as U+FFFD"
