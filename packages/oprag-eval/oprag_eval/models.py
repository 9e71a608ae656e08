"""Calls of a language model by a system, and the replies."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from oprag.calls import DECLINE_TOOL, TokenUsage

OFFLINE = "offline"
"""Name of the reader that is no language model."""

CallKind: TypeAlias = Literal[
    "answer",
    "choice",
    "explained_choice",
    "long_answer",
    "short_answer",
    "summary",
    "page_break",
    "gist",
    "look_up",
]
"""The purpose of a call, and the facts it carries:

- `"answer"`: answer a question. `question`, `context`.
- `"choice"`: answer it by naming the letter of an option. `question`, `context`,
  `options` (texts).
- `"explained_choice"`: the same, by an explanation and the number of an option, from
  1, as `[[n]]`.
- `"long_answer"`: LongRAG's first call. `question` (its options below it), `context`.
- `"short_answer"`: its second. `question`, `long_answer`. A multiple-choice question is
  put to the long answer as one of the two above.
- `"summary"`: RAPTOR's. `text`.
- `"page_break"`: where a page of ReadAgent ends. `breaks` (places, numbered from 1).
- `"gist"`: the short version of a page. `text`.
- `"look_up"`: pages to read in full. `question` (its options below it), `gists` (of
  the pages, numbered from 1), `pages` (how many at most).
"""


@dataclass(frozen=True)
class Call:
    """One call of a model."""

    kind: CallKind
    """The purpose of the call."""
    prompt: str
    """The whole prompt that is sent."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """The facts in the prompt, see `CallKind`; for models that do not read
    prompts, such as the offline reader."""
    tool: bool = False
    """Whether the model is given the tool to decline by."""
    max_output_tokens: int | None = None
    """Longest reply, in tokens; None for the model's own limit."""

    @property
    def sent(self) -> str:
        """All text that is sent, and counted: the prompt, and the tool."""
        return self.prompt + json.dumps(DECLINE_TOOL) * self.tool


@dataclass(frozen=True)
class Completion:
    """The reply of a model."""

    text: str
    """The reply, unchanged except for a reasoning block in front, which is left out."""
    usage: TokenUsage
    """As the provider reported it; else counted, and marked as estimated."""
    called: tuple[str, ...] = ()
    """Names of the tools that it calls."""


class Model(ABC):
    """Anything that replies to calls: a chat model, or the offline reader."""

    name: str
    """As the user named it: `provider:model`, or `offline`."""
    calls_tools = False
    """Whether it can be given tools."""

    @abstractmethod
    async def complete(self, call: Call) -> Completion:
        """Reply to one call.

        Raises:
            ModelCallError: It failed for good, its retries included.
        """
