"""What the measurements were made with."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = (
    "oprag",
    "tiktoken",
    "tokenizers",
    "transformers",
    "numpy",
    "nltk",
    "langchain-core",
    "langchain-text-splitters",
    "langchain-chroma",
    "llama-index-core",
    "llama-index-vector-stores-chroma",
    "chromadb",
    "chonkie",
    "semchunk",
)


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that take part."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def machine() -> dict[str, str | int | float]:
    """The processor, how many of them, and how busy they are."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "processors": os.cpu_count() or 1,
        "load": round(load, 1),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.processor()
