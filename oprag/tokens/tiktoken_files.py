"""Loads the encodings of tiktoken, without the network where their files are here."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from oprag.errors import MissingDependencyError, TokenizerError
from oprag.optional import bundled_folder, require

if TYPE_CHECKING:
    from pathlib import Path

    import tiktoken

TIKTOKEN_NAMES = frozenset(
    {
        "cl100k_base",
        "gpt2",
        "o200k_base",
        "o200k_harmony",
        "p50k_base",
        "p50k_edit",
        "r50k_base",
    }
)
"""The encodings that tiktoken itself defines."""

_SHORT_NAMES = {"cl100k": "cl100k_base", "o200k": "o200k_base"}

_HOST = "https://openaipublic.blob.core.windows.net/encodings/"
_CL100K = (
    _HOST + "cl100k_base.tiktoken",
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
)
_O200K = (
    _HOST + "o200k_base.tiktoken",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
)
_FILES = {"cl100k_base": _CL100K, "o200k_base": _O200K, "o200k_harmony": _O200K}
"""Address and sha256 of each encoding's file: tiktoken stores it under the
sha1 of the address and downloads it again when the sha256 differs."""

# Before a space; after a letter or digit, but for "'", which words can go on with.
_WORD_ENDS = (
    r"[!-~] |[0-9A-Za-z][\t\n\r!-&(-/:-@\[-`{-~‘’“”…–—]|[A-Za-z][0-9]|[0-9][A-Za-z]"
)
_JOINTS = re.compile(_WORD_ENDS)
# In the newer patterns, line breaks stay with what is before them.
_JOINTS_AND_LINES = re.compile(_WORD_ENDS + r"|\n[A-Za-z]")

_CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"
_ENVIRONMENT_LOCK = threading.Lock()


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


def joints_of(encoding: tiktoken.Encoding) -> re.Pattern[str] | None:
    """Return where the counts of an encoding add up: `NamedTokenCounter.additive_at`.

    An encoding cuts the text into pieces by a pattern and never merges across
    them. The pattern is matched from left to right and never looks back. So counts
    add up where no piece can reach across, and where the piece before ends at the
    same place whatever follows.
    """
    loaded = _tiktoken("tiktoken.registry").ENCODINGS
    if loaded.get(encoding.name) is not encoding:
        return None  # a pattern of somebody's own under whatever name
    if encoding.name in _FILES:
        return _JOINTS_AND_LINES
    return _JOINTS if encoding.name in TIKTOKEN_NAMES else None


def loads_offline(name: str) -> bool:
    """Whether tiktoken is installed and can load an encoding from this machine.

    Args:
        name: An encoding; only cl100k and o200k are looked for.
    """
    try:
        loaded = _tiktoken("tiktoken.registry").ENCODINGS
    except MissingDependencyError:
        return False
    return name in loaded or _folder_of(name) is not None


def load_tiktoken(name: str) -> tiktoken.Encoding:
    """Load an encoding of tiktoken from this machine, else let tiktoken fetch it.

    The folders that are looked into: `TIKTOKEN_CACHE_DIR`, `DATA_GYM_CACHE_DIR`
    or tiktoken's default, whichever tiktoken would use, then the copy inside an
    installed llama-index-core.

    Raises:
        MissingDependencyError: tiktoken is not installed.
        TokenizerError: The file is not here and cannot be fetched.
    """
    package = _tiktoken()
    folder = _folder_of(name)
    elsewhere = folder is not None and folder != _own_folder()
    try:
        with _reading_from(folder) if elsewhere else nullcontext():
            return cast("tiktoken.Encoding", package.get_encoding(name))
    # `requests` raises kinds of OSError, a refused socket is a RuntimeError.
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        message = (
            f"The tiktoken encoding {name!r} is not on this machine and could not be "
            f"fetched ({type(error).__name__}: {error}). Connect once, point "
            f"{_CACHE_VARIABLE} at a folder that holds its file, install "
            "llama-index-core (it carries cl100k_base and o200k_base), or use the "
            'counter "approximate", a Hugging Face tokenizer or a callable of yours.'
        )
        raise TokenizerError(message, tokenizer=name) from error


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


def _folder_of(name: str) -> Path | None:
    """The first folder that holds an encoding's file undamaged."""
    if name not in _FILES:
        return None
    address, sha256 = _FILES[name]
    # Not for security: it is the name that tiktoken gives to the file.
    filename = hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()
    bundled = bundled_folder("llama_index.core", "_static", "tiktoken_cache")
    for folder in (_own_folder(), bundled):
        if folder is not None and _has_hash(folder / filename, sha256):
            return folder
    return None


def _has_hash(path: Path, sha256: str) -> bool:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() == sha256
    except OSError:
        return False


@contextmanager
def _reading_from(folder: Path | None) -> Iterator[None]:
    """Let tiktoken read from a folder; one thread at a time.

    It takes the folder from the environment alone, so that is set for a moment.
    """
    with _ENVIRONMENT_LOCK:
        before = os.environ.get(_CACHE_VARIABLE)
        os.environ[_CACHE_VARIABLE] = str(folder)
        try:
            yield
        finally:
            if before is None:
                del os.environ[_CACHE_VARIABLE]
            else:
                os.environ[_CACHE_VARIABLE] = before
