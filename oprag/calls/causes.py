"""What stands behind our errors: what clients raised, and no secret in its words.

Our own messages hold none (`said_by`). But a traceback also prints the errors that one
came of, and tracers and loggers follow `__cause__` and `__context__`: there a client's
words would stand as the server said them.
"""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from oprag.calls.client_errors import (
    errors_behind,
    kinds_of,
    said_by,
    secrets_sent,
    status_of,
)
from oprag.calls.secrets import ReplyFilter, secrets_of, without_secrets
from oprag.errors import OpragError, RedactedError


@contextmanager
def hiding_secrets(*clients: object) -> Iterator[None]:
    """Let our errors out of the block only with what can be shown behind them.

    What clients raise goes through as it is, if nothing of ours was made of it.

    Args:
        *clients: What is asked in the block, and holds keys: see `redacted`.
    """
    try:
        yield
    except OpragError as error:
        redacted(error, secrets_of(*clients))
        raise


def redacted(error: Exception, secrets: Iterable[str]) -> Exception:
    """Return an error that can be shown, with all that stands behind it.

    Args:
        error: What a client raised, or an error of ours that was made of it.
        secrets: As `secrets_of` finds them in a client. Those that were sent with the
            request of an error count too.

    Returns:
        What a client raised stays as it is where neither its words nor those of an
        error behind it hold a secret. Else a `RedactedError` stands for it, and one
        for each behind it. An error of ours is returned itself; so is done behind it.
    """
    known = {*secrets, *secrets_sent(error)}
    found: Exception = _Redacting(known).shown(error)
    return found


def carried(error: Exception) -> Exception:
    """Return an error that can be sent to another process.

    Args:
        error: What can be shown, as `redacted` returns it.

    Returns:
        The error itself, if it comes out of pickling; without what stands behind it.
        Else a `RedactedError` that stands for it, with its words.
    """
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 -- what was just made
    except Exception:  # noqa: BLE001 -- whatever a client's class does there
        return _Redacting(set()).stand_in(error)
    return error


class _Redacting:
    """Finds what can be shown of errors; of each the same, wherever it stands."""

    def __init__(self, secrets: set[str]) -> None:
        self._secrets = secrets
        self._found: dict[int, Any] = {}

    def shown(self, error: Any) -> Any:
        """What is shown in the place of an error; None where it comes of itself."""
        if id(error) in self._found:
            return self._found[id(error)]
        telling = not isinstance(error, OpragError) and any(
            map(self._tells, errors_behind(error))
        )
        self._found[id(error)] = None if telling else error
        if telling:
            self._found[id(error)] = self.stand_in(error)
        elif isinstance(error, OpragError):
            self._clear(error)
        return self._found[id(error)]

    def _clear(self, error: OpragError) -> None:
        """Change what stands behind an error of ours."""
        suppressed = error.__suppress_context__
        if error.__cause__ is not None:
            error.__cause__ = self.shown(error.__cause__)
        if error.__context__ is not None:
            error.__context__ = self.shown(error.__context__)
        error.__suppress_context__ = suppressed  # setting a cause changes it

    def _tells(self, error: BaseException) -> bool:
        """Whether what is printed of an error, without those behind it, has a secret.

        Lines of source have placeholders for keys in them, as in `ollama.chat()`.
        """
        notes = map(str, getattr(error, "__notes__", None) or ())
        words = (_said(str, error), _said(repr, error), *notes)
        return any(
            secret in text for text in words for secret in self._secrets
        ) or self._in_source(error)

    def _in_source(self, error: BaseException) -> bool:
        printed = "".join(traceback.format_tb(error.__traceback__))
        return ReplyFilter(self._secrets).whole(printed) != printed

    def stand_in(self, error: BaseException) -> RedactedError:
        """Make what stands for an error."""
        behind = error.__cause__
        if behind is None and not error.__suppress_context__:
            behind = error.__context__
        kind, code = type(error), getattr(error, "code", None)
        words = without_secrets(_said(str, error), self._secrets)
        made = RedactedError(
            f"{kind.__module__}.{kind.__qualname__}: {words}",
            kinds=tuple(kinds_of(error)),
            said=said_by(error, self._secrets),
            status_code=status_of(error),
            code=None if code is None else without_secrets(str(code), self._secrets),
        )
        made.__cause__ = None if behind is None else self.shown(behind)
        return made.with_traceback(
            None if self._in_source(error) else error.__traceback__
        )


def _said(say: Any, error: BaseException) -> str:
    try:
        return str(say(error))
    except Exception:  # noqa: BLE001 -- an error of anybody's; a traceback bears it too
        return ""
