"""A run on disk: its settings, and one line per answer as it comes.

A killed run loses at most the line that was being written; the answers that are there
are not asked for again. When all is asked, the file is put in the order of the plan. So
a run that was interrupted, or asked many questions at once, ends with the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

from oprag.errors import InvalidOptionError, UnreadableFileError
from oprag.files import unreadable, write_whole

_LOCK = "run.lock"


def encoded(text: str) -> bytes:
    r"""Return a text as UTF-8; a lone surrogate as `\ud800`, which JSON reads."""
    return text.encode("utf-8", "backslashreplace")


def json_line(values: Mapping[str, Any]) -> bytes:
    """Return values as one line of JSON, keys in order."""
    return encoded(json.dumps(values, ensure_ascii=False, sort_keys=True) + "\n")


class LineFile:
    """JSON lines that are added one by one, each at once and whole.

    A last line that a kill left unfinished is cut off.
    """

    def __init__(self, path: Path) -> None:
        with path.open("ab+") as file:
            file.seek(max(0, file.tell() - 1))
            if file.read() != b"\n":
                file.seek(0)
                file.truncate(file.read().rfind(b"\n") + 1)
        self._file = path.open("ab", buffering=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, values: Mapping[str, Any]) -> None:
        """Add one line whole, or nothing of it if it cannot be written."""
        line, begin = json_line(values), self._file.tell()
        written = 0
        try:
            while written < len(line):  # a disk that is full takes a part first
                written += self._file.write(line[written:])
        finally:
            if written < len(line):
                self._file.truncate(self._file.seek(begin))


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a file; none if the file is not there.

    A last line that a kill left unfinished is left out.
    """
    found = []
    written = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    for number, line in enumerate(written, 1):
        try:
            found.append(json.loads(line))
        except ValueError as error:
            reason = f"line {number} is damaged"
            message = f"{path}: {reason}. Remove it; what it says is then lost."
            raise UnreadableFileError(message, path=str(path), reason=reason) from error
    return found


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Be the only process that writes to a folder, which is made if it is missing.

    The system holds the lock: it ends with the process, however that ends.

    Raises:
        UnreadableFileError: Another process writes to it.
    """
    from filelock import FileLock, Timeout

    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / _LOCK, blocking=False):
            yield
    except Timeout as error:
        message = (
            f"Another command is writing to {folder}, and nothing was asked. Wait "
            "until it has ended and give this command again: it goes on from there."
        )
        raise UnreadableFileError(
            message, path=str(folder), reason="is in use"
        ) from error


_SETTINGS = "run.json"
ANSWERS = "answers.jsonl"
ERRORS = "errors.jsonl"
"""Questions without an answer; absent if all have one."""
_OF_A_RUN = {"data", "systems", "budgets"}
_VERSION = "format"
FORMAT = 7
"""Version of the files of a run; another one is refused."""


class AnswerKey(NamedTuple):
    """The key of an answer."""

    system: str
    budget: int | None
    """Tokens; None for a system without a budget."""
    run: int
    """The number of the run of the same question, from 0."""
    question_id: str


class RunDirectory:
    """The files of one run, in a folder that is made when the run is begun."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def is_begun(self) -> bool:
        """Whether the folder holds a run: a `run.json` with the settings of one."""
        try:
            found = json.loads((self.path / _SETTINGS).read_text("utf-8"))
        except (OSError, ValueError):
            return False
        return isinstance(found, dict) and found.keys() >= _OF_A_RUN

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Begin a run with all that decides the answers, or go on with it."""
        if not (self.path / _SETTINGS).exists():
            self.path.mkdir(parents=True, exist_ok=True)
            values = {_VERSION: FORMAT, **settings}
            self.write_text(_SETTINGS, json.dumps(values, indent=2) + "\n")
            return
        found, wanted = self.settings(), json.loads(json.dumps(settings))
        if found != wanted:
            key, was, now = _difference(found, wanted)
            message = (
                f"{self.path} holds a run with other settings: {key} was {was!r} and "
                f"now is {now!r}. Give another folder."
            )
            raise InvalidOptionError(message, option=key.partition(":")[0], value=now)

    def settings(self) -> dict[str, Any]:
        """Return the settings that the run was begun with."""
        path = self.path / _SETTINGS
        try:
            read: dict[str, Any] = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise unreadable(path, "cannot be read: there is no run") from error
        written = read.pop(_VERSION, 1) if isinstance(read, dict) else FORMAT
        if written != FORMAT:
            reason = f"is of version {written} of a run's files"
            message = (
                f"{self.path} {reason}, and this is version {FORMAT}: give another "
                "folder."
            )
            raise UnreadableFileError(message, path=str(path), reason=reason)
        return read

    def answers(self) -> list[dict[str, Any]]:
        """Return all answers so far, in the order of the file."""
        return self.lines(ANSWERS)

    def lines(self, name: str) -> list[dict[str, Any]]:
        """Return the lines of one of its files; none if the file is not there."""
        return read_lines(self.path / name)

    def write_lines(self, name: str, lines: Iterable[Mapping[str, Any]]) -> None:
        """Write one of its files anew, one JSON line each, keys in order."""
        write_whole(self.path / name, b"".join(map(json_line, lines)))

    def write_text(self, name: str, text: str) -> None:
        """Write one of its files anew; a kill leaves the old one or the new one."""
        write_whole(self.path / name, encoded(text))

    def write_errors(self, errors: Sequence[Mapping[str, Any]]) -> None:
        """Write the questions without an answer; if all have one, remove the file."""
        if errors:
            self.write_lines(ERRORS, errors)
        else:
            (self.path / ERRORS).unlink(missing_ok=True)

    def arrange(self, keys: Sequence[AnswerKey]) -> None:
        """Put the answers that are there in the order of the plan."""
        found = {key_of(answer): answer for answer in self.answers()}
        self.write_lines(ANSWERS, (found[key] for key in keys if key in found))


def key_of(answer: Mapping[str, Any]) -> AnswerKey:
    """Return the key of the answer that a line holds."""
    return AnswerKey(*(answer[field] for field in AnswerKey._fields))


def _difference(was: Any, now: Any, path: str = "") -> tuple[str, Any, Any]:
    """Name the first setting that is another, and its values."""
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        for key in sorted({*was, *now}):
            if was.get(key) != now.get(key):
                inside = f"{path}: {key}" if path else str(key)
                return _difference(was.get(key), now.get(key), inside)
    return path, was, now
