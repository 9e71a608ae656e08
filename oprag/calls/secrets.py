"""Keys and passwords: where a client holds them, and texts without them."""

from __future__ import annotations

import base64
import html
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from types import FunctionType, MethodType, ModuleType
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

HIDDEN = "***"
"""What stands in the place of a secret."""
_SHORTEST = 6
"""Characters of the shortest text that is taken for a key; `none` is no secret."""
_NAMED = re.compile(
    r"(key|token|secret|passw(or)?d|[_-](pass|pat)|authorization|auth|cookie)$",
    re.IGNORECASE,
)
"""How attributes, headers, parameters and variables are called that hold secrets."""
_ADDRESS = re.compile(r"[\w+.-]+://\S{1,2000}")
_GIVEN = re.compile(r"(default|extra|custom)_(headers|query)$")
"""How clients call what is to be sent with each request: most often a secret."""
_PLACEHOLDER = re.compile(r"(?!sk-)[^\W\d]+([-_ ][^\W\d]+)?")
"""One word or two: what servers without keys are given, as `ollama` or `not-needed`."""
_SHAPES = (
    (re.compile(r"//[^/\s\"'<>]*@"), f"//{HIDDEN}@"),
    (re.compile(r"(://[^\s?\"'<>]*\?)[^\s\"'<>)]+"), rf"\1{HIDDEN}"),
    (re.compile(r"\b(Bearer|Basic) +(?=\S*[\d=_-])[^\s\"',;<>]{6,}"), rf"\1 {HIDDEN}"),
    (re.compile(r"\bsk-[\w*-]{8,}"), HIDDEN),
    (re.compile(r"\b(pk|rk|gsk|hf|ghp|xai|pplx)[-_](?=[^\W\d]*\d)[\w*-]{8,}"), HIDDEN),
)
"""What is a secret by its form: name and password in an address, its parameters, what
a request is authorised by, and the keys of well-known providers."""
_DEEPEST = 5
_MOST = 5_000
"""Objects that are looked through for secrets."""
_HIGH = ("\ud800", "\udbff")
"""The first and the last half of a surrogate pair that another has to follow."""


def secrets_of(*holders: object) -> tuple[str, ...]:
    """Find the secrets that clients hold, and those of the environment.

    They are known by the type of their field (pydantic's `SecretStr`), by the name of
    the attribute, header, parameter or variable, and by their place in an address.

    Args:
        *holders: Clients, requests, or anything that has them inside. They are looked
            through by their attributes; nothing is called.

    Returns:
        Each once, as it is, and as JSON, Python, HTML, addresses, base64 and a header
        of basic authorisation write it; the longest first.
    """
    found: set[str] = set()
    held = chain.from_iterable(_held("", holder, _DEEPEST, {}) for holder in holders)
    for text in chain(held, *(_of_text(name, v) for name, v in os.environ.items())):
        found |= {text, unquote(text)}
    long = (text for text in found if len(text) >= _SHORTEST)
    written = {*chain.from_iterable(map(_written, long))}
    return tuple(sorted(written, key=lambda text: (-len(text), text)))


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return what a client or a server says, without secrets.

    Args:
        text: Error messages and the like, in which what looks like a key is one.
        secrets: As `secrets_of` gives them. They, and what is a secret by its form,
            are told as `***`.
    """
    for secret in sorted(set(secrets), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    for shape, told in _SHAPES:
        text = shape.sub(told, text)
    return text


class ReplyFilter:
    """Makes a model's reply text that can be shown, sent on and written to a file.

    Secrets are told as `***`: a server may put what it was sent into its reply. What
    only looks like one stays, for documents may be about keys; so do placeholders of
    one or two words. Halves of surrogate pairs are put together, and those that are
    alone, which no encoding has, become U+FFFD.

    Args:
        secrets: As `secrets_of` gives them.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = {each for each in secrets if not _PLACEHOLDER.fullmatch(each)}
        self._secrets = sorted(known, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, self._secrets)) or "(?!)")
        self._held = self._half = ""

    def feed(self, piece: str) -> str:
        """Take the next piece; return what cannot be part of a secret any more."""
        piece = self._half + piece
        whole = len(piece) - (_HIGH[0] <= piece[-1:] <= _HIGH[1])
        self._half = piece[whole:]
        return self._shown(self._held + well_formed(piece[:whole]))

    def finish(self) -> str:
        """End the reply; return what was held back."""
        held = self._held + well_formed(self._half)
        self._held = self._half = ""
        return self._known.sub(HIDDEN, held)

    def whole(self, text: str) -> str:
        """Return a whole text as it can be shown."""
        return self.feed(text) + self.finish()

    def _shown(self, text: str) -> str:
        """Take out the first secrets that stand in a text, and hold back its end."""
        shown: list[str] = []
        place = 0
        while True:
            match = self._known.search(text, place)
            begun = self._begun(text, place, match.start() if match else len(text))
            if match is None or begun is not None:
                self._held = "" if begun is None else text[begun:]
                return "".join([*shown, text[place:begun]])
            shown += [text[place : match.start()], HIDDEN]
            place = match.end()

    def _begun(self, text: str, first: int, last: int) -> int | None:
        """Where the beginning of a secret, with which the text ends, may begin."""
        longest = len(self._secrets[0]) if self._secrets else 0
        for place in range(
            max(first, len(text) + 1 - longest), min(last + 1, len(text))
        ):
            end = text[place:]
            if any(len(s) > len(end) and s.startswith(end) for s in self._secrets):
                return place
        return None


def well_formed(text: str) -> str:
    """Return a text that every encoding has, as `ReplyFilter` makes it."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _written(text: str) -> Iterator[str]:
    """A secret in every writing in which a server may repeat it."""
    escaped = json.dumps(text)[1:-1]
    yield from (text, escaped, escaped.replace("/", r"\/"), repr(text)[1:-1])
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield from (html.escape(text), html.escape(text, quote=False))
    yield from (quote(text, safe=safe, errors="replace") for safe in ("", "/"))
    yield quote_plus(text, errors="replace")
    yield base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")


def _held(name: str, value: Any, depth: int, seen: dict[int, object]) -> Iterator[str]:
    """Secrets inside an object that has this name where it is kept."""
    if isinstance(value, str):
        yield from _of_text(name, value)
        return
    if isinstance(value, bytes):
        yield from _of_text(name, value.decode("utf-8", "replace"))
        return
    if depth < 0 or id(value) in seen or len(seen) > _MOST:
        return
    seen[id(value)] = value  # kept, so that no other object gets its id
    try:
        inside = list(_inside(name, value))
    except Exception:  # noqa: BLE001 -- an object of anybody's may raise what it likes
        return
    for inner, held in inside:
        named = "secret" if _GIVEN.search(name) else inner
        yield from _held(named, held, depth - 1, seen)


def _inside(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """What an object holds, by name."""
    if isinstance(value, (type, ModuleType, FunctionType, MethodType)):
        return
    if isinstance(value, (list, tuple)):
        yield from (("", held) for held in value)
        return
    if hasattr(type(value), "get_secret_value"):
        yield "secret", value.get_secret_value()
    elif name.endswith(("url", "base", "endpoint", "proxy")):
        yield name, str(value)
    places = ("__dict__", "__pydantic_private__", "__pydantic_extra__")
    for held in (value, *(getattr(value, place, None) for place in places)):
        if isinstance(held, Mapping):
            yield from ((str(inner), found) for inner, found in held.items())


def _of_text(name: str, text: str) -> Iterator[str]:
    """The secrets in a text of this name: all of it, or parts of an address."""
    if _NAMED.search(name):
        yield from (text, *text.split()[-1:])  # a header's without the scheme
    elif _ADDRESS.fullmatch(text):
        yield from _of_address(text)


def _of_address(address: str) -> Iterator[str]:
    try:
        parts = urlsplit(address)
    except ValueError:  # it only looks like an address
        return
    if "@" in parts.netloc:
        user = parts.netloc.rpartition("@")[0]
        yield user.partition(":")[2] or user
        yield base64.b64encode(unquote(user).encode("utf-8", "replace")).decode("ascii")
    for name, value in parse_qsl(parts.query):
        if _NAMED.search(name) or not _PLACEHOLDER.fullmatch(value):
            yield value
