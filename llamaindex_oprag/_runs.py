"""The searches of an agent's run, and what its conversation shows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, ref

from llama_index.core.agent.react.types import ActionReasoningStep
from llama_index.core.memory import BaseMemory

from oprag.agents import Conversations, find_mentions
from oprag.chunk import Passage
from oprag.context import CitationNumbers, Seen
from oprag.marks import SEE_ABOVE
from oprag.metadata import NUMBERS

_HANDOVER = "handoff"
"""The name of AgentWorkflow's own tool."""
_WAY_OUT = (
    "agents that tools called side by side each began with numbers of their own. Run "
    "each in a block of OrderPreservingRetrieverTool.continue_numbers(ctx)."
)
_PAUSE = 0.02
"""Seconds from one search of a run to the next: workflows may swap answers that come at
the same time, and the earlier answer must stand above."""


class _Text(NamedTuple):
    """A text of a conversation, and the passages that it shows."""

    text: str
    shown: Sequence[Passage]
    mentioned: Sequence[int]

    def is_of(self, text: str) -> bool:
        """Return whether this is the given text."""
        return text == self.text


def _are_of(read: Sequence[_Text], texts: Sequence[str]) -> bool:
    return [each.text for each in read] == texts


def _read_next(text: str, seen: Seen, numbers: CitationNumbers) -> _Text:
    shown = [*numbers.find_in(text).values()]
    # In an answer of our own search, other numbers belong to the documents' texts.
    ours = shown or SEE_ABOVE in text
    mentioned = () if ours else find_mentions(text)
    seen.add(shown)
    numbers.leave_out(mentioned)
    return _Text(text, shown, mentioned)


@asynccontextmanager
async def _turn(lock: Lock) -> AsyncIterator[None]:
    """Wait for a lock, whatever the event loop of each waiter."""
    waits = False
    while not lock.acquire(blocking=False):
        waits = True
        await asyncio.sleep(_PAUSE)
    try:
        if waits:
            await asyncio.sleep(_PAUSE)
        yield
    finally:
        lock.release()


class StoredNumbers:
    """The numbers that the store of a Context keeps.

    Args:
        store: A store with a list of numbers, or none yet.
    """

    def __init__(self, store: Any) -> None:
        self.lock = Lock()
        self._store: Any = ref(store)
        self._numbers = CitationNumbers()
        self._stored: Any = None
        """The store's list of numbers as it was last read or written."""

    async def has_begun(self) -> bool:
        """Return whether the store has a list of numbers, even an empty one."""
        return await self._store().get(NUMBERS, default=None) is not None

    async def read_numbers(self) -> CitationNumbers:
        """Return the numbers: the same object while the store keeps them.

        Raises:
            InvalidOptionError: The store was given other numbers, in which one of ours
                means another passage.
        """
        stored = await self._store().get(NUMBERS, default=[])
        if stored != self._stored:
            numbers = CitationNumbers(stored)
            numbers.take_all(self._numbers, _WAY_OUT)
            self._numbers, self._stored = numbers, list(stored)
        return self._numbers

    async def add(self, shown: Sequence[Passage]) -> None:
        """Keep the numbers of the passages that are shown."""
        numbers = await self.read_numbers()
        self._stored = None  # until the store has them
        numbers.add(shown)
        entries = numbers.as_json()
        await self._store().set(NUMBERS, entries)
        self._stored = list(entries)


@dataclass
class AgentRun:
    """The searches of one run; each run has its own Context store."""

    answers: list[str] = field(default_factory=list)
    """The answers that no message holds yet."""
    conversations: Conversations[_Text] = field(
        default_factory=lambda: Conversations(_read_next, _are_of)
    )
    _lock: Lock = field(default_factory=Lock)

    @asynccontextmanager
    async def turn(self, store: Any) -> AsyncIterator[StoredNumbers]:
        """Wait for the run's last search, and for those that number in the same store.

        Args:
            store: The store of the run's Context.

        Yields:
            The numbers of the conversation, for this search alone.
        """
        async with _turn(self._lock):
            numbering = find_numbering(store)
            async with _turn(numbering.lock):
                yield numbering

    async def texts(self, store: Any) -> list[str]:
        """Return the texts of the conversation that show or mention passages.

        Without an agent they are the answers of the tools.
        """
        memory = await store.get("memory", default=None)
        if not isinstance(memory, BaseMemory):
            return list(self.answers)
        asked = await store.get("user_msg_str", default=None)
        messages = await memory.aget(input=asked)
        said = [message.content or "" for message in messages]
        # Agents put the answers of a run's tools into the memory when the run ends, or
        # when they hand over. ReActAgent does not, so only such agents read them then.
        answered: list[str] = []
        reasoning = await store.get("current_reasoning", default=[])
        if reasoning and isinstance(reasoning[-1], ActionReasoningStep):
            answered += [step.get_content() for step in reasoning]
        by_such = len(answered)
        called = set()
        for call in await store.get("current_tool_calls", default=[]):
            answered.append(call.tool_output.content)
            called.add(answered[-1])
            if call.tool_name == _HANDOVER:
                del answered[by_such:]
        self.answers = [answer for answer in self.answers if answer not in called]
        if self.answers:
            whole = "\n".join(said)
            self.answers = [answer for answer in self.answers if answer not in whole]
        texts = [*said, *answered, *self.answers]
        return [text for text in texts if CitationNumbers.may_be_in(text)]


_runs: WeakKeyDictionary[Any, AgentRun] = WeakKeyDictionary()
_numberings: WeakKeyDictionary[Any, StoredNumbers] = WeakKeyDictionary()
"""The numbering of each Context's store."""


_outer: ContextVar[StoredNumbers | None] = ContextVar("outer numbering", default=None)
"""The numbering of the agent whose tool is called."""


def find_numbering(store: Any) -> StoredNumbers:
    """Return the numbering of a Context's store, or of the agent around it."""
    own = _outer.get() or _numberings.get(store)
    return own or _numberings.setdefault(store, StoredNumbers(store))


@contextmanager
def number_as(store: Any) -> Iterator[None]:
    """Let all runs that begin in a block number in the store of a Context."""
    token = _outer.set(find_numbering(store))
    try:
        yield
    finally:
        _outer.reset(token)


def open_run(store: Any) -> AgentRun:
    """Return the run of a Context's store."""
    return _runs.setdefault(store, AgentRun())
