"""What one tab has: its files, their index, the question, and what is read for it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock, Thread
from typing import NamedTuple

from oprag.calls import without_secrets
from oprag.cli.candidates import Candidates, candidates_of
from oprag.cli.index import Index
from oprag.cli.index_telling import failed_line
from oprag.cli.options import SearchOptions
from oprag.cli.play.reading import Shelf, read_shelf
from oprag.cli.play.workshop import Workshop
from oprag.cli.retrieving import Retrieved
from oprag.cli.searching import retrieve_with
from oprag.cli.telling import note
from oprag.errors import BudgetTooSmallError, OpragError
from oprag.files import FileText
from oprag.tokens import resolve_token_counter

_MOST_QUESTIONS = 12
"""Questions of which the evidence is kept."""
_LONGEST_NAME = 120

_STARTING = "Reading the files …"


@dataclass(frozen=True)
class Desk:
    """Files that are ready to be asked."""

    shelf: Shelf
    index: Index
    candidates: Candidates
    whole: dict[str, str]
    """Full texts by name."""
    starts: dict[tuple[str, int | None], int]
    """Where each page begins in the full text."""
    tokens: int
    """Tokens of all full texts."""

    def text_of(self, source: str, page: int | None) -> FileText | None:
        """The text of a file, or of one page of it."""
        for each in self.shelf.read.texts:
            if each.source == source and each.page == page:
                return each
        return None


class Step(NamedTuple):
    """What is read for the question with some options."""

    options: SearchOptions
    retrieved: Retrieved
    desk: Desk


@dataclass(frozen=True)
class Status:
    """How far it is, for the page."""

    working: bool = False
    said: str = ""
    done: int = 0
    total: int = 0


class Session:
    """Reads, indexes, and asks for one tab. Its methods may be called in threads.

    Args:
        workshop: What all tabs share.
    """

    def __init__(self, workshop: Workshop) -> None:
        self.workshop = workshop
        self.key = secrets.token_urlsafe(16)
        """Names the session where files are dropped."""
        self.options = SearchOptions()
        """As the page shows them."""
        self.question = ""
        self.problem = ""
        """Why there is no step for the question; empty if there is one."""
        self.status = Status()
        self.desk: Desk | None = None
        self.step: Step | None = None
        self.history: dict[str, Step] = {}
        """By question: what was read for it last."""
        self.version = 0
        """Rises with each change that the page has not made itself."""
        self.given: list[tuple[Path, str]] = [(path, "") for path in workshop.paths]
        """Files and folders, each with what it is called on the page."""
        self.refused: list[str] = []
        """Sentences on what was dropped and not taken."""
        self._folder: Path | None = None
        self._as_named = True
        self._lock = Lock()
        self._worker: Thread | None = None
        self._wanted = False
        if self.given:
            self.refresh()

    def place_for(self, name: str) -> Path:
        """Return where a dropped file is to be kept; call `take` when it is there."""
        if self._folder is None:
            self._folder = self.workshop.new_folder()
        folder = self._folder / secrets.token_hex(8)
        folder.mkdir()
        safe = "".join(c for c in name if c.isprintable() and c not in '/\\:*?"<>|')
        ending = Path(safe).suffix[:16]
        # The longest names that file systems take have 255 bytes.
        return folder / f"file{ending.encode('ascii', 'ignore').decode()}"

    def take(self, path: Path, name: str) -> None:
        """Take a dropped file, in the place of one of the same name."""
        shown = name[:_LONGEST_NAME]
        with self._lock:
            self._as_named = False
            kept = [each for each in self.given if each[1] != shown]
            self.given = [*kept, (path, shown)]
        self.refresh()

    def refuse(self, sentence: str) -> None:
        """Keep the sentence on a file that was not taken."""
        self.refused = [*self.refused, sentence][-8:]
        self.version += 1

    def remove(self, source: str) -> None:
        """Take a file away."""
        desk = self.desk
        if desk is None:
            return
        with self._lock:
            self._as_named = False
            names = desk.shelf.names
            read = [(Path(each), called) for each, called in names.items()]
            new = [each for each in self.given if not _is_read(each[0], desk.shelf)]
            self.given = [each for each in [*read, *new] if str(each[0]) != source]
            self.refused = []
        self.refresh()

    def refresh(self) -> None:
        """Read and index what was given, in a thread."""
        with self._lock:
            self._wanted = True
            self.status = Status(working=True, said=_STARTING)
            self.version += 1
            if self._worker is None:
                self._worker = Thread(target=self._work, daemon=True)
                self._worker.start()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._wanted:
                    self._worker = None
                    return
                self._wanted = False
                given, as_named = self.given, self._as_named
            said = ""
            try:
                self._prepare(given, as_named=as_named)
            except (OpragError, OSError) as error:
                said = without_secrets(str(error))
            except Exception as error:  # noqa: BLE001 -- else the page waits for ever
                note(f"The files could not be indexed: {error!r}")
                said = "The files could not be indexed; the terminal says why."
            with self._lock:
                if not self._wanted:
                    self.status = Status(said=said)
                self.version += 1

    def _prepare(self, given: list[tuple[Path, str]], *, as_named: bool) -> None:
        shelf = read_shelf(given)
        self.refused = [*dict.fromkeys([*self.refused, *shelf.sentences])]
        with self._lock:
            # What could not be read has its sentence, and is not tried again. Others
            # may have been given in the meantime.
            self.given = [
                each
                for each in self.given
                if each not in given or _is_read(each[0], shelf)
            ]
        if not shelf.read.texts:
            self.desk = self.step = None
            return
        folder = None if as_named else self._folder or self.workshop.new_folder()
        self._folder = folder or self._folder
        index = self.workshop.index(shelf.read.texts, folder, self._tell)
        self.refused += [f"Not indexed: {failed_line(f)}" for f in index.report.failed]
        candidates = candidates_of(index, self.workshop.embeddings())
        whole = shelf.read.whole
        counter = resolve_token_counter()
        tokens = sum(map(counter, whole.values()))
        self.history = {}  # another index, other evidence
        self.desk = Desk(
            shelf, index, candidates, whole, _starts(shelf.read.texts), tokens
        )
        if self.question:
            self.ask(self.question)

    def _tell(self, documents: int, total: int | None, chunks: int) -> None:
        said = f"Indexed {documents:,} of {total or 0:,} files, {chunks:,} chunks"
        self.status = Status(True, said, documents, total or 0)
        self.version += 1

    def ask(self, question: str) -> None:
        """Search for a question, and read what the options say."""
        self.question = question.strip()
        self.arrange(self.options)
        self.version += 1

    def arrange(self, options: SearchOptions) -> None:
        """Read for the question what other options say, without another search."""
        self.options, desk = options, self.desk
        if desk is None or not self.question:
            self.step, self.problem = None, ""
            return
        try:
            found = retrieve_with(desk.candidates, self.question, options)
        except BudgetTooSmallError as error:
            self.step = None
            self.problem = (
                f"A budget of {error.token_budget:,} tokens holds not even one "
                f"passage: the best takes {error.needed:,}."
            )
            return
        except OpragError as error:
            self.step, self.problem = None, without_secrets(error.message)
            return
        except Exception as error:  # noqa: BLE001 -- else the page's server prints all
            note(f"The question failed: {error!r}")
            self.step, self.problem = None, "It failed; the terminal says why."
            return
        self.problem = ""
        self.step = step = Step(options, found, desk)
        self.history.pop(self.question, None)
        self.history[self.question] = step
        while len(self.history) > _MOST_QUESTIONS:
            del self.history[next(iter(self.history))]

    def with_options(self, **changed: object) -> SearchOptions:
        """Return the options with some of them changed."""
        return replace(self.options, **changed)  # type: ignore[arg-type]  # by name


def _is_read(path: Path, shelf: Shelf) -> bool:
    return path.is_dir() or str(path) in shelf.names


def _starts(texts: tuple[FileText, ...]) -> dict[tuple[str, int | None], int]:
    """Where each page begins in the text that `joined` makes of them."""
    starts: dict[tuple[str, int | None], int] = {}
    ends: dict[str, int] = {}
    for each in texts:
        start = ends[each.source] + 2 if each.source in ends else 0
        starts[each.source, each.page] = start
        ends[each.source] = start + len(each.text)
    return starts
