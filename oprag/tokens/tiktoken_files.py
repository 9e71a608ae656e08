"""Load the encodings of tiktoken: from this machine, else from the network."""

from __future__ import annotations

import os
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from oprag.errors import MissingDependencyError, TokenizerError
from oprag.optional import find_bundled_folder, require
from oprag.tokens.fetch import SECONDS, wait_at_most

if TYPE_CHECKING:
    import tiktoken

_FILES = {
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
    "o200k_harmony": "fb374d419588a4632f3f557e76b4b70aebbca790",
    "gpt2": "6d1cbeee0f20b3d9449abfede4726ed8212e3aee",
    "p50k_base": "ec7223a39ce59f226a68acc30dc1af2788490e15",
    "p50k_edit": "ec7223a39ce59f226a68acc30dc1af2788490e15",
    "r50k_base": "0ea1e91bbb3a60f729a8dc8f777fd2fc07cd8df4",
}
"""tiktoken's file name of each of its encodings."""

TIKTOKEN_NAMES = frozenset(_FILES)
"""The encodings that tiktoken itself defines."""

_CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"
_LOADING = threading.Lock()
"""Held while the environment names another folder."""


def is_encoding(value: object) -> TypeGuard[tiktoken.Encoding]:
    """Return whether a value is an encoding of tiktoken; imports nothing."""
    package = sys.modules.get("tiktoken")
    return package is not None and isinstance(value, package.Encoding)


def encoding_name(name: str) -> str | None:
    """Return the encoding of tiktoken that a name means, without the network.

    Returns:
        The encoding's own name; None if tiktoken knows none by this name. If tiktoken
        is not installed, None for all but its own encodings.
    """
    if name in TIKTOKEN_NAMES:
        return name
    try:
        package = _tiktoken()
        if name in package.list_encoding_names():
            return name
        return cast("str", package.encoding_name_for_model(name))
    except (KeyError, MissingDependencyError):
        return None


def load_tiktoken(name: str) -> tiktoken.Encoding:
    """Load an encoding of tiktoken from this machine, else fetch it: within seconds.

    It is looked for in the copy inside an installed llama-index-core, and in tiktoken's
    own folder, in which tiktoken keeps fetched files.

    Raises:
        MissingDependencyError: tiktoken is not installed.
        TokenizerError: The file is not here and cannot be fetched.
    """
    load = partial(_tiktoken().get_encoding, name)
    file = _FILES.get(name)
    bundled = find_bundled_folder("llama_index.core", "_static", "tiktoken_cache")
    try:
        if file and bundled and (bundled / file).is_file():
            return cast("tiktoken.Encoding", _read_from(str(bundled), load))
        if not file or os.path.isfile(os.path.join(_own_folder(), file)):  # noqa: PTH113, PTH118 -- pathlib takes long to import
            return cast("tiktoken.Encoding", load())
        return cast("tiktoken.Encoding", wait_at_most(SECONDS, "Its server", load))
    # `requests` raises kinds of OSError, a refused socket is a RuntimeError.
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        message = (
            f"The tiktoken encoding {name!r} is not on this machine and could not be "
            f"fetched ({reason_of(error)}). Connect once; offline, install "
            "llama-index-core (it carries cl100k_base and o200k_base), or point "
            f"{_CACHE_VARIABLE} at a folder with the file."
        )
        raise TokenizerError(message, tokenizer=name) from error


def reason_of(error: BaseException | None) -> str:
    """Say in a few words why a file could not be fetched."""
    return f"{type(error).__name__}: {str(error).partition(': ')[0]:.200}"


def _tiktoken() -> Any:
    return require("tiktoken", extra="langchain", purpose="This token counter")


def _own_folder() -> str:
    """Return the folder where tiktoken itself keeps its files."""
    import tempfile  # here, so that `import oprag` does not take as long again

    own = os.environ.get(_CACHE_VARIABLE) or os.environ.get("DATA_GYM_CACHE_DIR")
    return own or f"{tempfile.gettempdir()}/data-gym-cache"


def _read_from(folder: str, load: partial[Any]) -> Any:
    """Let tiktoken read from a folder: it takes it from the environment alone."""
    with _LOADING:
        before = os.environ.get(_CACHE_VARIABLE)
        os.environ[_CACHE_VARIABLE] = folder
        try:
            return load()
        finally:
            if before is None:
                del os.environ[_CACHE_VARIABLE]
            else:
                os.environ[_CACHE_VARIABLE] = before
