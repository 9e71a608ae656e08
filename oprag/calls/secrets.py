"""Take keys and passwords out of the text that oprag prints or writes."""

from __future__ import annotations

import os
import re

_NAMES = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
"""Endings of environment variables that hold secrets."""
_SHORTEST = 8
"""Characters of the shortest secret: a local server gets `none` as its key."""
_PASSWORD = re.compile(r"://[^/\s:@]*:([^/\s@]+)@")
_FORMS = {
    r"(://)[^/\s\"'<>@]+@": r"\1***@",
    r"(?i)([?&][\w-]*(?:key|token|secret)[\w-]*=)[^&\s\"'<>)]+": r"\1***",
    r"(?i)(Authorization\W+(?:Bearer|Basic)) +[^\s\"',;<>]+": r"\1 ***",
    r"\b(Bearer|Basic) +(?=\S*[\d=_])[^\s\"',;<>]{8,}": r"\1 ***",
    r"\bsk-[\w*-]{8,}": "***",
}
"""Logins and keys in addresses, authorizations of requests, keys of providers."""
_given: set[str] = set()


def keep_secret(text: str) -> None:
    """Count a key as a secret too, or the password in an address."""
    _given.update(_PASSWORD.findall(text) if "://" in text else [text])


def hide_secrets(text: str, *, by_form: bool = True) -> str:
    """Return a text with `***` in the place of secrets.

    Secrets are values of at least 8 characters: those of environment variables whose
    names end in `_KEY`, `_TOKEN`, `_SECRET` or `_PASSWORD`, passwords in the addresses
    of other variables, and the secrets given to `keep_secret`. In messages, text with
    the form of a secret goes too (`by_form`): a login or a key in an address, a token
    after `Bearer`. An answer to a question may have that form and tell no secret.
    """
    secrets = {*_given}
    for name, value in os.environ.items():
        named = name.upper().endswith(_NAMES)
        secrets.update([value] if named else _PASSWORD.findall(value))
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, "***")
    for form, shown in _FORMS.items() if by_form else ():
        text = re.sub(form, shown, text)
    return text
