"""The first page's blocks, as somebody with one framework and one model pastes them."""

import re
import shlex
from pathlib import Path

from tests.docs.blocks import BLOCK

PAGE = Path(__file__).parents[2] / "docs" / "start.md"
ADDRESS = "http://localhost:11434"
REPLY = (
    "With six months of notice [2]. The deposit is paid back within thirty days [3]."
)


def sections() -> dict[str, str]:
    """The text under each heading."""
    parts = re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)[1:]
    return {title: text for title, _, text in (part.partition("\n") for part in parts)}


def blocks_for(framework: str, model: str) -> list[tuple[str, str]]:
    """The blocks of a framework with a model, and what traces show."""
    openai, ollama, *rest = BLOCK.findall(sections()[framework])
    traces = BLOCK.findall(sections()["In a trace"])
    traces = traces[:2] if framework == "LangChain" else traces[2:]
    return [openai if model == "openai" else ollama, *rest, *traces]


def packages_for(framework: str, model: str) -> list[str]:
    """The packages that the page installs for them."""
    openai, ollama = re.findall(r"`pip install ([^`]+)`", sections()[framework])
    return shlex.split(openai if model == "openai" else ollama)
