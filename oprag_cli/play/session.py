"""The session of a tab: its files, their index, the question, and its passages."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock, Thread
from typing import NamedTuple

from oprag.calls import hide_secrets, read_error_message, well_formed
from oprag.citations import as_line
from oprag.errors import OpragError
from oprag_cli.demo import QUESTIONS, REFERENCE_NAME, language_reference
from oprag_cli.index import Index, index_label, index_path, own_index
from oprag_cli.messages import note
from oprag_cli.options import SearchOptions
from oprag_cli.play.desk import Desk, Opened, Step
from oprag_cli.play.progress import Progress, Status
from oprag_cli.play.reader import Shelf, read_shelf
from oprag_cli.play.workshop import Workshop
from oprag_cli.search import real_names, retrieve

_LONGEST_NAME = 120


class Sharing(NamedTuple):
    """Files of a tab that other tabs have too: those of the command, or the sample."""

    names: list[str]
    """Names of their index."""
    given: list[tuple[Path, str]]


class Session:
    """Reads, indexes, and asks for one tab. Its methods may be called in threads.

    Args:
        workshop: The state that all tabs share.
    """

    def __init__(self, workshop: Workshop) -> None:
        self.workshop = workshop
        self.key = secrets.token_urlsafe(16)
        """The key by which dropped files name the session."""
        self.options = SearchOptions()
        """As the page shows them."""
        self.question = ""
        self.problem = ""
        """The reason why the question has no step; empty if there is one."""
        self.searching = False
        self.status = Status()
        self.desk: Desk | None = None
        self.step: Step | None = None
        self.opened: Opened | None = None
        """The passage that a click has opened; it outlives the page."""
        self.version = 0
        """Rises with each change that the page has not made itself."""
        self.given: list[tuple[Path, str]] = [(path, "") for path in workshop.paths]
        """Files and folders, each with its name on the page."""
        self.refused: list[str] = []
        """Sentences on files that cannot be used."""
        self._folder = workshop.dropped / secrets.token_hex(8)
        self._sample: Path | None = None
        self._lock = Lock()
        self._asking = Lock()
        self._worker: Thread | None = None
        self._wanted = False
        if self.given:
            self.refresh()

    @property
    def has_sample(self) -> bool:
        """Whether the sample is among the files."""
        return any(path == self._sample for path, _ in self.given)

    def place_for(self, name: str) -> Path:
        """Return the path to keep a dropped file at; call `take` when it is there."""
        folder = self._folder / secrets.token_hex(8)
        folder.mkdir(parents=True)
        # Only the ending of the name is used, which says how to read the file.
        ending = "".join(c for c in Path(name).suffix[1:16] if c.isalnum())
        return folder / f"file.{ending.encode('ascii', 'ignore').decode()}"

    def take(self, path: Path, name: str) -> None:
        """Take a dropped file, in place of one with the same name, or refuse it."""
        shown = as_line(name, _LONGEST_NAME)
        # At once: others may be indexed for minutes.
        shelf = read_shelf([(path, shown)], lambda _: None)
        if not shelf.read.texts:
            self.refuse(shelf.sentences[0])
            return
        with self._lock:
            kept = [each for each in self.given if each[1] != shown]
            self.given = [*kept, (path, shown)]
        self.refresh()

    def take_sample(self) -> None:
        """Take Python's reference, and ask the first question of the demo."""
        if self.has_sample:
            return
        self._sample = self.place_for("reference.txt")
        self._sample.write_text(language_reference(), "utf-8")
        self.question = self.question or QUESTIONS[0]
        self.take(self._sample, REFERENCE_NAME)

    def refuse(self, sentence: str) -> None:
        """Keep the sentence on a file that was not taken."""
        self.refused = [*dict.fromkeys([*self.refused, sentence])]
        self.version += 1

    def remove(self, name: str) -> None:
        """Take a file away."""
        paths = {} if self.desk is None else self.desk.shelf.paths
        with self._lock:
            read = {path: called for called, path in paths.items()}
            new = {path: called for path, called in self.given if not path.is_dir()}
            each = {**read, **new}.items()
            self.given = [
                (at, named) for at, named in each if (named or str(at)) != name
            ]
            self.refused = []
        self.refresh()

    def refresh(self) -> None:
        """Read and index the given files, in a thread."""
        with self._lock:
            self._wanted = True
            self._say("Reading the files …")
            if self._worker is None:
                self._worker = Thread(target=self._work, daemon=True)
                self._worker.start()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._wanted:
                    self._worker = None
                    return
                self._wanted, given = False, self.given
            said = attempt(lambda: self._prepare(given))  # noqa: B023 -- done at once
            with self._lock:
                if not self._wanted:
                    self.status = Status(said=said)
                self.version += 1

    def _prepare(self, given: Sequence[tuple[Path, str]]) -> None:
        shelf = read_shelf(given, self._say)
        self.refused = [*dict.fromkeys([*self.refused, *shelf.sentences])]
        if not shelf.read.texts:
            self.desk = self.step = self.opened = None
            return
        shared = self._find_shared(given)
        if shared and set(shared.given) <= set(given):
            whole = len(shared.given) == len(given)
            files = shelf if whole else read_shelf(shared.given, self._say)
            if files.read.texts:  # first, so that it can be asked meanwhile
                self._show_desk(self._share_desk(shared.names, files))
            if whole:
                return
        names = shared.names if shared else ["play"]
        with self.workshop.turn.take_turn(self._say):
            index = self._index(names, shelf, self._folder)
        self._show_desk(Desk.of(shelf, index))

    def _find_shared(self, given: Sequence[tuple[Path, str]]) -> Sharing | None:
        """Find the files that other tabs have too, even those that are removed here."""
        if paths := self.workshop.paths:
            return Sharing(real_names(paths), [(path, "") for path in paths])
        sample = [each for each in given if each[0] == self._sample]
        return Sharing([REFERENCE_NAME], sample) if sample else None

    def _share_desk(self, names: list[str], shelf: Shelf) -> Desk:
        """Index files, unless another tab has done that with the same state of them."""
        workshop, state = self.workshop, shelf.state()
        if (made := workshop.desks.get(state)) is not None:
            return made
        with workshop.turn.take_turn(self._say):
            if (made := workshop.desks.get(state)) is not None:
                return made
            desk = Desk.of(shelf, self._index(names, shelf, workshop.folder))
            workshop.desks.clear()  # of earlier states of the files
            workshop.desks[state] = desk
        return desk

    def _index(self, names: list[str], shelf: Shelf, folder: Path) -> Index:
        """Bring an index up to date; the caller has the turn.

        An index in the tab's folder begins as a copy of the shared one. So its chunks
        are not embedded again.
        """
        workshop = self.workshop
        if not workshop.is_loaded:
            self._tell(Status(working=True, said="Loading the embedding model …"))
        embeddings = workshop.embeddings()
        label = index_label(names, embeddings)
        begun, shared = (index_path(each, label) for each in (folder, workshop.folder))
        if shared.is_dir() and not begun.exists():
            copy = begun.with_suffix(".copy")
            shutil.copytree(shared, copy)
            copy.rename(begun)
        known = () if self.desk is None else self.desk.shelf.read.texts
        progress = Progress(shelf.read.texts, frozenset(known), embeddings, self._tell)
        progress.tell(0, len(shelf.paths), 0)
        return own_index(
            names, shelf.read, embeddings, folder=folder, show_progress=progress.tell
        )

    def _show_desk(self, desk: Desk) -> None:
        if desk is self.desk:
            return
        self.desk = desk
        if self.question:
            self.arrange(self.options)

    def _say(self, doing: str) -> None:
        self.status = Status(working=True, said=doing)
        self.version += 1

    def _tell(self, status: Status) -> None:
        """Show the progress of the tab that has the turn, to the other tabs too."""
        self.workshop.turn.doing = status.said
        self.status = status
        self.version += 1

    def ask(self, question: str) -> None:
        """Search for a question, and read the passages that the options choose."""
        self.question = well_formed(question).strip()
        self.arrange(self.options)

    def arrange(self, options: SearchOptions) -> None:
        """Read the passages for the question that other options choose."""
        with self._asking:
            self.options, desk = options, self.desk
            self.problem = ""
            if desk is None or not self.question:
                self.step = self.opened = None
                self.version += 1
                return
            self.searching = True
            self.version += 1
            self.problem = attempt(lambda: self._read(desk, options))
            if self.problem:
                self.step = self.opened = None
            self.searching = False
            self.version += 1

    def _read(self, desk: Desk, options: SearchOptions) -> None:
        store = desk.index.vectorstore
        found = retrieve(store, self.question, options, citations=True)
        self.step, self.opened = Step(options, found, desk), None


def attempt(work: Callable[[], None]) -> str:
    """Do work; return the error as a sentence for the page, or nothing."""
    try:
        work()
    except (OpragError, OSError) as error:
        return hide_secrets(str(error))
    except Exception as error:  # noqa: BLE001 -- else the page waits for ever
        note(f"It failed: {type(error).__name__}: {read_error_message(error)}")
        return "It failed; the terminal says why."
    return ""
