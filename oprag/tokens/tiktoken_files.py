"""Loads the encodings of tiktoken; fetches their files where they are not here."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from oprag.errors import MissingDependencyError, TokenizerError
from oprag.optional import bundled_folder, require

if TYPE_CHECKING:
    from pathlib import Path

    import tiktoken

_SHORT_NAMES = {"cl100k": "cl100k_base", "o200k": "o200k_base"}

_HOST = "https://openaipublic.blob.core.windows.net/"
_CL100K = (
    _HOST + "encodings/cl100k_base.tiktoken",
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
)
_O200K = (
    _HOST + "encodings/o200k_base.tiktoken",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
)
_P50K = (
    _HOST + "encodings/p50k_base.tiktoken",
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
)
_R50K = (
    _HOST + "encodings/r50k_base.tiktoken",
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
)
_GPT2 = (
    (
        _HOST + "gpt-2/encodings/main/vocab.bpe",
        "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
    ),
    (
        _HOST + "gpt-2/encodings/main/encoder.json",
        "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
    ),
)
_NEWER = {
    "cl100k_base": (_CL100K,),
    "o200k_base": (_O200K,),
    "o200k_harmony": (_O200K,),
}
_FILES = {
    **_NEWER,
    "gpt2": _GPT2,
    "p50k_base": (_P50K,),
    "p50k_edit": (_P50K,),
    "r50k_base": (_R50K,),
}
"""Address and sha256 of each encoding's files: tiktoken stores them under the
sha1 of the address and downloads them again when the sha256 differs."""

TIKTOKEN_NAMES = frozenset(_FILES)
"""The encodings that tiktoken itself defines."""

# Before a space; after a letter or digit, but for "'", which words can go on with.
_WORD_ENDS = (
    r"[!-~] |[0-9A-Za-z][\t\n\r!-&(-/:-@\[-`{-~‘’“”…–—]|[A-Za-z][0-9]|[0-9][A-Za-z]"
)
_JOINTS = re.compile(_WORD_ENDS)
# In the newer patterns, line breaks stay with what is before them.
_JOINTS_AND_LINES = re.compile(_WORD_ENDS + r"|\n[A-Za-z]")

_CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"
_LOADING = threading.Lock()
"""Held by who loads an encoding, which may change the environment for a moment."""
_failures: dict[str, tuple[float, Exception]] = {}
"""When an encoding was last tried in vain, and why."""


def is_encoding(value: object) -> TypeGuard[tiktoken.Encoding]:
    """Whether a value is an encoding of tiktoken; imports nothing to find out."""
    package = sys.modules.get("tiktoken")
    return package is not None and isinstance(value, package.Encoding)


def known_names() -> list[str]:
    """Return the encodings and models that tiktoken knows by name."""
    try:
        package = _tiktoken()
    except MissingDependencyError:
        return [*TIKTOKEN_NAMES]
    models = getattr(package.model, "MODEL_TO_ENCODING", ())
    return [*package.list_encoding_names(), *models]


def encoding_name(name: str) -> str | None:
    """Return the encoding of tiktoken that a name stands for; no network is asked.

    Args:
        name: An encoding of tiktoken or of its plugins, `"cl100k"` or `"o200k"`, or
            a model that tiktoken knows (`"gpt-4o"`).

    Returns:
        The encoding's own name; None where tiktoken knows none by this name, and for
        all but its own encodings where it is not installed.
    """
    name = _SHORT_NAMES.get(name, name)
    if name in TIKTOKEN_NAMES:
        return name
    try:
        package = _tiktoken()
    except MissingDependencyError:
        return None
    if name in package.list_encoding_names():
        return name
    try:
        return cast("str", package.encoding_name_for_model(name))
    except KeyError:
        return None


def joints_of_encoding(encoding: tiktoken.Encoding) -> re.Pattern[str] | None:
    """Return where counts add up, or None: see `oprag.tokens.joints_of`.

    An encoding cuts the text into pieces by a pattern and never merges across
    them. The pattern is matched from left to right and never looks back. So counts
    add up where no piece can reach across, and where the piece before ends at the
    same place whatever follows.
    """
    loaded = _tiktoken("tiktoken.registry").ENCODINGS
    if loaded.get(encoding.name) is not encoding:
        return None  # a pattern of somebody's own under whatever name
    if encoding.name in _NEWER:
        return _JOINTS_AND_LINES
    return _JOINTS if encoding.name in TIKTOKEN_NAMES else None


def load_tiktoken(name: str) -> tiktoken.Encoding:
    """Load an encoding of tiktoken from this machine, else fetch it: within seconds.

    The folders that are looked into: `TIKTOKEN_CACHE_DIR`, `DATA_GYM_CACHE_DIR`
    or tiktoken's default, whichever tiktoken would use, then the copy inside an
    installed llama-index-core. What is fetched is kept in the first of them. Only
    plugins of tiktoken load their encodings in their own way.

    Raises:
        MissingDependencyError: tiktoken is not installed.
        TokenizerError: The file is not here and cannot be fetched.
    """
    package = _tiktoken()
    asked = monotonic()
    with _LOADING:
        tried, cause = _failures.get(name, (asked, None))
        try:
            # Who waited while another one tried in vain does not try again.
            if cause is not None and tried > asked:
                raise cause
            with _files_of(name):
                return cast("tiktoken.Encoding", package.get_encoding(name))
        # `requests` raises kinds of OSError, a refused socket is a RuntimeError.
        except (ImportError, OSError, RuntimeError, ValueError) as error:
            first = _first_cause(error)
            _failures[name] = monotonic(), first
            message = (
                f"The tiktoken encoding {name!r} is not on this machine and could not "
                f"be fetched ({reason_of(first)}). Connect once; offline, install "
                "llama-index-core (it carries cl100k_base and o200k_base), or point "
                f"{_CACHE_VARIABLE} at a folder with the file."
            )
            # Of the clients in between a user needs to know nothing.
            raise TokenizerError(message, tokenizer=name) from first.with_traceback(
                None
            )


def _first_cause(error: Exception) -> Exception:
    """What the network said, without what was made of it on its way."""
    within = error
    while isinstance(error, OSError) and isinstance(within.__context__, Exception):
        within = within.__context__
    return within


def reason_of(error: BaseException | None) -> str:
    """Say in a line why a file could not be fetched."""
    return f"{type(error).__name__}: {error!s:.200}"


def _tiktoken(module: str = "tiktoken") -> Any:
    return require(module, extra="langchain", purpose="This token counter")


def _own_folder() -> Path | None:
    """Where tiktoken itself would read; None when it is told to cache nothing."""
    # Here, so that `import oprag` does not take as long again.
    import tempfile
    from pathlib import Path

    for variable in (_CACHE_VARIABLE, "DATA_GYM_CACHE_DIR"):
        if variable in os.environ:
            named = os.environ[variable]
            return Path(named) if named else None
    return Path(tempfile.gettempdir(), "data-gym-cache")


@contextmanager
def _files_of(name: str) -> Iterator[None]:
    """Have tiktoken find the files of an encoding, fetched where they are not here."""
    loaded = name in _tiktoken("tiktoken.registry").ENCODINGS
    if loaded or name not in _FILES:
        yield
        return
    folder = _folder_of(name)
    if folder is not None:
        with _reading_from(folder):
            yield
        return
    # Here, because they are hardly ever needed and take long.
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from oprag.tokens.fetching import fetch

    own = _own_folder()
    # Not each is kept: the folder may be read-only, or tiktoken told to cache nothing.
    with TemporaryDirectory() as spare:
        for address, sha256 in _FILES[name]:
            stored = _stored_name(address)
            content = fetch(address, sha256, None if own is None else own / stored)
            Path(spare, stored).write_bytes(content)
        with _reading_from(Path(spare)):
            yield


def _folder_of(name: str) -> Path | None:
    """The first folder that holds an encoding's files undamaged."""
    bundled = bundled_folder("llama_index.core", "_static", "tiktoken_cache")
    for folder in (_own_folder(), bundled):
        if folder is not None and all(
            _has_hash(folder / _stored_name(address), sha256)
            for address, sha256 in _FILES[name]
        ):
            return folder
    return None


def _stored_name(address: str) -> str:
    """What tiktoken calls the file of an address."""
    return hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()


def _has_hash(path: Path, sha256: str) -> bool:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() == sha256
    except OSError:
        return False


@contextmanager
def _reading_from(folder: Path) -> Iterator[None]:
    """Let tiktoken read from a folder: it takes it from the environment alone."""
    before = os.environ.get(_CACHE_VARIABLE)
    os.environ[_CACHE_VARIABLE] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[_CACHE_VARIABLE]
        else:
            os.environ[_CACHE_VARIABLE] = before
