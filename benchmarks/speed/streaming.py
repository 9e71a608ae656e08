"""How long Self-Route holds an answer back that is streamed to it."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator

from benchmarks.speed.setup import Setup
from benchmarks.speed.timing import Measured
from oprag.routing import DeclineRules
from oprag.routing.refusals import judge
from tests.langchain.routes import QUESTION, chain_of
from tests.support.openai_server import ScriptedServer
from tests.support.scripted_replies import Reply

_ANSWERS = (
    "Paris.",
    "In 1912, as the letter says.",
    "The answer to the question is that the queen had left before dawn.",
    "Based on the passages, the study had 412 participants.",
    "Unlike the first trial, the second was blinded.",
    "It is the miller who hides the ring.",
    "**Yes**: the vaccine was tested on mice first.",
    "Under the old oak; nobody else knew.",
)
_PATIENCE = 3.0
"""Seconds without anything to see, after which one more character is sent."""


def measure(setup: Setup) -> Iterator[Measured]:
    """Measure the row of the group: the worst of a few answers, sent by character."""
    del setup  # no text is needed
    held = {answer: _held_back(answer) for answer in _ANSWERS}
    excess = [late for _, late in held.values()]
    facts = {"required": {answer: needed for answer, (needed, _) in held.items()}}
    yield Measured("streaming.first", max(excess), min(excess), max(excess), facts)


def _required(answer: str) -> int:
    """Characters after which no continuation is a refusal any more."""
    for end in range(1, len(answer)):
        if judge(answer[:end], DeclineRules(), ended=False) == "answering":
            return end
    return len(answer)


def _held_back(answer: str) -> tuple[int, int]:
    """What the rules require, and how many more characters had to be sent.

    The server stops behind what they require, and sends one more when nothing is to
    be seen for a while.
    """
    needed = _required(answer)
    rest = [(threading.Event(), character) for character in answer[needed:]]
    deltas = [*answer[:needed], *itertools.chain.from_iterable(rest)]
    seen = threading.Event()
    late = 0

    def send_more() -> None:
        nonlocal late
        for gate, _ in rest:
            late += not seen.wait(_PATIENCE)
            gate.set()

    sender = threading.Thread(target=send_more)
    with ScriptedServer([Reply(deltas=deltas)]) as server:
        sender.start()
        for piece in chain_of(server).stream(QUESTION):
            if piece.get("answer"):
                seen.set()
        seen.set()
        sender.join()
    return needed, late
