"""A run on disk: its settings, and one line per answer as it comes.

A killed run loses at most the line that was being written; what is there is not asked
again. When all is asked, the file is put in the order of the plan, so that a run that
was interrupted, or asked many questions at once, ends with the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from oprag.errors import InvalidOptionError, UnreadableFileError
from oprag.files import LineFile, encoded, json_line, write_whole
from oprag_eval.data import Document
from oprag_eval.models import Exchange
from oprag_eval.running.packed_file import PackedFile, order_packed, packed_lines

_SETTINGS = "run.json"
_ANSWERS = "answers.jsonl"
_ERRORS = "errors.jsonl"
_TIMINGS = "timings.jsonl"
_READ = "read.jsonl.gz"
_MADE = "made.jsonl.gz"
_OF_A_RUN = {"data", "systems", "budgets"}
_CHANGED = {
    "questions": "the questions changed",
    "questions_sha256": "the questions changed",
    "documents": "the documents changed",
    "documents_sha256": "the documents changed",
}
"""What it means that one of the facts on the data is another."""


class AnswerKey(NamedTuple):
    """Which answer it is."""

    system: str
    budget: int | None
    """Tokens; None for a system without a budget."""
    run: int
    """Which of several runs of the same question, from 0."""
    question_id: str


class RunDirectory:
    """The files of one run.

    Args:
        path: The folder; it is made when the run is begun.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def is_begun(self) -> bool:
        """Whether the folder holds a run: a `run.json` with the settings of one."""
        try:
            return self.settings().keys() >= _OF_A_RUN
        except (AttributeError, UnreadableFileError):  # no object, or not there
            return False

    @property
    def answers_path(self) -> Path:
        """Where the answers are."""
        return self.path / _ANSWERS

    @property
    def spending_path(self) -> Path:
        """The tokens of every model call."""
        return self.path / "spending.jsonl"

    @property
    def errors_path(self) -> Path:
        """What could not be answered; absent when everything was."""
        return self.path / _ERRORS

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Begin a run, or go on with the one that is there.

        Args:
            settings: Everything that decides the answers, as plain JSON values.

        Raises:
            InvalidOptionError: A run with other settings is there.
        """
        if not (self.path / _SETTINGS).exists():
            self.path.mkdir(parents=True, exist_ok=True)
            self.write_text(_SETTINGS, json.dumps(settings, indent=2) + "\n")
            return
        found = self.settings()
        wanted = json.loads(json.dumps(settings))
        different = [
            key
            for key in sorted({*found, *wanted})
            if found.get(key) != wanted.get(key)
        ]
        if different:
            # Other documents have other budgets too: the cause is said first.
            key = "data" if "data" in different else different[0]
            message = (
                f"{self.path} holds a run with other settings: "
                f"{_difference(key, found.get(key), wanted.get(key))}. Give another "
                "folder, or remove that one."
            )
            raise InvalidOptionError(message, option=key, value=wanted.get(key))

    def settings(self) -> dict[str, Any]:
        """The settings that the run was begun with.

        Raises:
            UnreadableFileError: There is no run here.
        """
        path = self.path / _SETTINGS
        try:
            read: dict[str, Any] = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            message = f"{self.path} holds no run: {_SETTINGS} cannot be read."
            raise UnreadableFileError(
                message, path=str(path), reason="cannot be read"
            ) from error
        return read

    def answers(self) -> list[dict[str, Any]]:
        """All answers so far, in the order of the file.

        Raises:
            UnreadableFileError: A line other than the last is damaged.
        """
        return self.lines(_ANSWERS)

    def open_answers(self, *, keep_read: bool = True) -> AnswerFile:
        """Open the files to add answers; a half-written last line is cut off.

        Args:
            keep_read: Whether what the model read and wrote is kept beside them.
        """
        return AnswerFile(self.path, keep_read=keep_read)

    def read_texts(self) -> Iterator[tuple[AnswerKey, bytes]]:
        """Yield, packed, what the model read and wrote for each answer that kept it.

        Raises:
            UnreadableFileError: The file is damaged.
        """
        for line in packed_lines(self.path / _READ):
            yield key_of(line.values), line.packed

    def lines(self, name: str) -> list[dict[str, Any]]:
        """Return the lines of one of its files; none where the file is not there.

        Raises:
            UnreadableFileError: A line other than the last is damaged.
        """
        path = self.path / name
        if not path.exists():
            return []
        found = []
        lines = path.read_bytes().split(b"\n")
        for number, line in enumerate(lines[:-1], 1):  # the last is empty, or cut off
            try:
                found.append(json.loads(line))
            except ValueError as error:
                reason = f"line {number} is damaged"
                message = (
                    f"{path}: {reason}. Remove the line; its question is asked again."
                )
                raise UnreadableFileError(
                    message, path=str(path), reason=reason
                ) from error
        return found

    def write_lines(self, name: str, lines: Iterable[Mapping[str, Any]]) -> None:
        """Write one of its files anew, one JSON line each, keys in order."""
        write_whole(self.path / name, b"".join(map(json_line, lines)))

    def write_text(self, name: str, text: str) -> None:
        """Write one of its files anew; a kill leaves the old one or the new one."""
        write_whole(self.path / name, encoded(text))

    def write_errors(self, errors: Sequence[Mapping[str, Any]]) -> None:
        """Write what could not be answered; without errors, remove the file."""
        if errors:
            self.write_lines(_ERRORS, errors)
        else:
            self.errors_path.unlink(missing_ok=True)

    def arrange(self, keys: Sequence[AnswerKey]) -> None:
        """Put the answers that are there in the order of the plan."""
        found = {key_of(answer): answer for answer in self.answers()}
        self.write_lines(_ANSWERS, (found[key] for key in keys if key in found))
        places = {key: place for place, key in enumerate(keys) if key in found}
        order_packed(self.path / _READ, lambda line: places.get(key_of(line)))
        order_packed(self.path / _MADE, _made_key)


def _made_key(line: Mapping[str, Any]) -> tuple[str, str, str]:
    return line["kind"], line["document"], line["sha256"]


class AnswerFile:
    """Adds answers, each flushed at once.

    Args:
        folder: Of the run.
        keep_read: See `RunDirectory.open_answers`.
    """

    def __init__(self, folder: Path, *, keep_read: bool = True) -> None:
        self._answers = LineFile(folder / _ANSWERS)
        self._timings = LineFile(folder / _TIMINGS)
        self._read = PackedFile(folder / _READ) if keep_read else None
        self._made = PackedFile(folder / _MADE) if keep_read else None
        self._known = {_made_key(line.values) for line in packed_lines(folder / _MADE)}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._answers.__exit__()
        self._timings.__exit__()
        for file in (self._read, self._made):
            if file is not None:
                file.__exit__()

    def add(
        self,
        answer: Mapping[str, Any],
        seconds: float,
        exchanges: Sequence[Exchange] = (),
    ) -> None:
        """Add one answer.

        Args:
            answer: Its line.
            seconds: How long it took.
            exchanges: What the model was asked for it, and replied.
        """
        if self._read is not None:  # first: an answer that is there has its texts
            calls = [
                {
                    "kind": each.call.kind,
                    "prompt": each.call.prompt,
                    "reply": each.completion.text,
                    "usage": each.completion.usage.to_dict(),
                }
                for each in exchanges
            ]
            self._read.add({**key_of(answer)._asdict(), "calls": calls})
        self._answers.add(answer)
        timing = {**key_of(answer)._asdict(), "seconds": round(seconds, 3)}
        self._timings.add(timing)

    def add_made(self, kind: str, document: Document, made: Mapping[str, Any]) -> None:
        """Keep what was made of a document (summaries, gists), once."""
        if self._made is None:
            return
        digest = hashlib.sha256(json_line(made)).hexdigest()
        line = {"kind": kind, "document": document.doc_id, "sha256": digest}
        if _made_key(line) not in self._known:
            self._known.add(_made_key(line))
            self._made.add({**line, "made": made})


def key_of(answer: Mapping[str, Any]) -> AnswerKey:
    """Which answer a line holds."""
    return AnswerKey(*(answer[field] for field in AnswerKey._fields))


def _difference(key: str, was: Any, now: Any) -> str:
    """Return how a setting differs; of the data, in words; of systems, the part."""
    if key == "systems" and isinstance(was, dict) and isinstance(now, dict):
        key, was, now = _first_difference(was, now)
    if key != "data" or not isinstance(was, dict) or not isinstance(now, dict):
        return f"{key} was {was!r} and now is {now!r}"
    parts = [
        _CHANGED.get(fact, f"{fact} was {was.get(fact)!r} and now is {now.get(fact)!r}")
        for fact in sorted({*was, *now})
        if was.get(fact) != now.get(fact)
    ]
    return " and ".join(dict.fromkeys(parts))


def _first_difference(
    was: Mapping[str, Any], now: Mapping[str, Any], path: str = ""
) -> tuple[str, Any, Any]:
    """Return which setting of which system is another, or which system is."""
    for name in sorted({*was, *now}):
        old, new = was.get(name), now.get(name)
        if old != new:
            told = f"{path}{name}"
            if isinstance(old, Mapping) and isinstance(new, Mapping):
                return _first_difference(old, new, f"{told}: ")
            return told, old, new
    return path, was, now
