"""A splitter with its options, ready to cut a text or its disguised copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from llama_index.core.utils import get_tokenizer

from tests.locating.disguise import Disguise


class Setting(NamedTuple):
    """A splitter with its options."""

    name: str
    split: Callable[[Disguise], list[str]]
    """Cuts the copy, in order. `Bare(text)` gives the chunks that users get."""
    keep: str = ""
    """The characters it looks at, besides white space."""


def tokens_of(disguise: Disguise) -> Callable[[str], list[int]]:
    encode = get_tokenizer()
    return lambda text: encode(disguise.reveal(text))
