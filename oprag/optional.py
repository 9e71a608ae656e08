"""Optional packages: imported when they are needed, and the data they carry."""

from __future__ import annotations

import importlib
import importlib.util
import re
from types import ModuleType
from typing import TYPE_CHECKING

from oprag.errors import MissingDependencyError

if TYPE_CHECKING:
    from pathlib import Path


def require(
    module: str, *, extra: str, purpose: str, at_least: str | None = None
) -> ModuleType:
    """Import a module of an optional package.

    Raises:
        MissingDependencyError: The package, or one that it needs, cannot be
            imported, or it is older than `at_least`.
    """
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        missing = isinstance(error, ModuleNotFoundError) and error.name == package
        fault = "is not installed" if missing else f"cannot be imported ({error})"
        message = (
            f"{purpose} needs the package {package!r}, which {fault}. Install it with: "
            f'pip install "oprag[{extra}]".'
        )
        raise MissingDependencyError(message, package=package, extra=extra) from error
    installed = found.__version__ if at_least else ""
    if (
        not at_least
        or not installed
        or _read_release(installed) >= _read_release(at_least)
    ):
        return found
    package = module.replace(".", "_")
    message = (
        f"{purpose} needs {package.replace('_', '-')} {at_least} or newer, and "
        f'{installed} is installed. Upgrade it with: pip install "oprag[{extra}]". '
        "Where it has to stay, call oprag.order_context(texts, metadatas), which needs "
        "no framework."
    )
    raise MissingDependencyError(
        message, package=package, extra=extra, installed=installed, needed=at_least
    )


def _read_release(version: str) -> list[int]:
    """Return the numbers at the beginning of a version: `"0.3.68rc1"` is 0.3.68."""
    numbers = re.match(r"[\d.]*", version)
    return [int(part) for part in numbers[0].split(".") if part] if numbers else []


def find_bundled_folder(package: str, *parts: str) -> Path | None:
    """Find a folder inside an installed package without importing the package.

    Args:
        package: Import name. Its parents are imported, but it is not.
        *parts: The folder's path inside the package.

    Returns:
        The folder, or None if the package or the folder is not there.
    """
    # Imported here, so that `import oprag` does not take twice as long.
    from pathlib import Path

    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):  # no parent package; a parent without a spec
        return None
    for location in (spec and spec.submodule_search_locations) or ():
        folder = Path(location, *parts)
        if folder.is_dir():
            return folder
    return None
