"""The session of a tab: its files, their index, the question, and its passages."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread
from typing import Literal, NamedTuple

from oprag.calls import said_by, without_secrets
from oprag.chunk import as_line
from oprag.cli.display import make_console
from oprag.cli.embedding_models import SentenceTransformerEmbeddings, load_model
from oprag.cli.index import Index, own_index
from oprag.cli.messages import note
from oprag.cli.options import SearchOptions
from oprag.cli.play.reader import Shelf, read_shelf
from oprag.cli.search import Retrieved, real_names, retrieve
from oprag.errors import OpragError
from oprag.files import FileText
from oprag.tokens import resolve_token_counter

_LONGEST_NAME = 120


@dataclass
class Workshop:
    """State that all tabs share: the command's options, and what is made of them."""

    paths: Sequence[Path]
    """Files and folders that every new tab begins with."""
    embedding_model: str
    folder: Path
    """The folder of their index, as `oprag context` keeps it."""
    chat_model: str = ""
    max_context_tokens: int | None = None
    decline: Literal["word", "tool"] = "word"
    """The form of a refusal."""
    lock: Lock = field(default_factory=Lock)
    """Held while a model is loaded, and while files are indexed."""
    _embeddings: SentenceTransformerEmbeddings | None = None
    dropped: Path = field(default_factory=lambda: Path(tempfile.mkdtemp("-oprag-play")))
    """The folder of files dropped on tabs; removed when the program ends."""

    def embeddings(self) -> SentenceTransformerEmbeddings:
        """Return the embedding model, loaded at the first call. Call it locked."""
        if self._embeddings is None:
            self._embeddings = load_model(
                self.embedding_model, make_console(stderr=True)
            )
        return self._embeddings

    def close(self) -> None:
        """Remove what was dropped."""
        shutil.rmtree(self.dropped, ignore_errors=True)


@dataclass(frozen=True)
class Desk:
    """Files that are ready to be asked."""

    shelf: Shelf
    index: Index
    whole: dict[str, str]
    """Full texts by name."""
    starts: dict[tuple[str, int | None], int]
    """The start of each page in the full text."""
    tokens: int
    """Tokens of all full texts."""

    def text_of(self, source: str, page: int | None) -> FileText | None:
        """The text of a file, or of one page of it."""
        for each in self.shelf.read.texts:
            if each.source == source and each.page == page:
                return each
        return None


class Step(NamedTuple):
    """The passages for the question with some options."""

    options: SearchOptions
    retrieved: Retrieved
    desk: Desk


@dataclass(frozen=True)
class Status:
    """The progress, for the page."""

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
        """The reason that the question has no step; empty if there is one."""
        self.status = Status()
        self.desk: Desk | None = None
        self.step: Step | None = None
        self.version = 0
        """Rises with each change that the page has not made itself."""
        self.given: list[tuple[Path, str]] = [(path, "") for path in workshop.paths]
        """Files and folders, each with what it is called on the page."""
        self.refused: list[str] = []
        """Sentences on files that cannot be used."""
        self._folder = workshop.dropped / secrets.token_hex(8)
        self._lock = Lock()
        self._worker: Thread | None = None
        self._wanted = False
        if self.given:
            self.refresh()

    def place_for(self, name: str) -> Path:
        """Return where a dropped file is to be kept; call `take` when it is there."""
        folder = self._folder / secrets.token_hex(8)
        folder.mkdir(parents=True)
        # The ending says how the file is read; nothing else of the name is used.
        ending = "".join(c for c in Path(name).suffix[1:16] if c.isalnum())
        return folder / f"file.{ending.encode('ascii', 'ignore').decode()}"

    def take(self, path: Path, name: str) -> None:
        """Take a dropped file, in the place of one of the same name, or refuse it."""
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
        """Read and index what was given, in a thread."""
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

    def _prepare(self, given: list[tuple[Path, str]]) -> None:
        shelf = read_shelf(given, self._say)
        self.refused = [*dict.fromkeys([*self.refused, *shelf.sentences])]
        if not shelf.read.texts:
            self.desk = self.step = None
            return
        workshop = self.workshop
        as_named = [path for path, called in given if not called]
        own = len(as_named) < len(given) or as_named != list(workshop.paths)
        folder = self._folder if own else workshop.folder
        self._say("Loading the embedding model …")
        with workshop.lock:
            embeddings = workshop.embeddings()
            self._tell(0, len(shelf.paths), 0)
            index = own_index(
                ["play"] if own else real_names(workshop.paths),
                shelf.read,
                embeddings,
                folder=folder,
                show_progress=self._tell,
            )
        whole = shelf.read.whole
        tokens = sum(map(resolve_token_counter(), whole.values()))
        self.desk = Desk(shelf, index, whole, _starts(shelf.read.texts), tokens)
        if self.question:
            self.ask(self.question)

    def _say(self, doing: str) -> None:
        self.status = Status(working=True, said=doing)
        self.version += 1

    def _tell(self, documents: int, total: int | None, chunks: int) -> None:
        said = f"Indexing: {documents:,} of {total or 0:,} files, {chunks:,} chunks"
        self.status = Status(True, said, documents, total or 0)
        self.version += 1

    def ask(self, question: str) -> None:
        """Search for a question, and read what the options say."""
        self.question = question.strip()
        self.arrange(self.options)
        self.version += 1

    def arrange(self, options: SearchOptions) -> None:
        """Read for the question what other options say."""
        self.options, desk = options, self.desk
        self.step, self.problem = None, ""
        if desk is None or not self.question:
            return

        def read() -> None:
            found = retrieve(desk.index.vectorstore, self.question, options)
            self.step = Step(options, found, desk)

        self.problem = attempt(read)


def attempt(work: Callable[[], None]) -> str:
    """Do work; return what went wrong, for the page, or nothing."""
    try:
        work()
    except (OpragError, OSError) as error:
        return without_secrets(str(error))
    except Exception as error:  # noqa: BLE001 -- else the page waits for ever
        note(f"It failed: {type(error).__name__}: {said_by(error)}")
        return "It failed; the terminal says why."
    return ""


def _starts(texts: tuple[FileText, ...]) -> dict[tuple[str, int | None], int]:
    """The start of each page in the text that `joined` makes of them."""
    starts: dict[tuple[str, int | None], int] = {}
    ends: dict[str, int] = {}
    for each in texts:
        start = ends[each.source] + 2 if each.source in ends else 0
        starts[each.source, each.page] = start
        ends[each.source] = start + len(each.text)
    return starts
