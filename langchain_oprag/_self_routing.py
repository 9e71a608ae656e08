"""One question on its way up the ladder, in LangChain's terms."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, MutableMapping, Sequence
from typing import Any, TypeAlias

from langchain_core.runnables.config import merge_configs
from langchain_core.runnables.utils import AddableDict

from langchain_oprag._plan import Plan
from langchain_oprag._read_documents import documents_of
from langchain_oprag._replies import Reply
from langchain_oprag._retrieving import retrieve
from langchain_oprag._steps import Call, Read, Steps
from langchain_oprag.documents import document_source
from oprag import calls
from oprag import routing as driving
from oprag.calls import Ledger, RungEntry, TokenUsage
from oprag.errors import OpragError
from oprag.routing import Ask, Fetch, PromptSize, Routed, Rung, RungContext

_Asking: TypeAlias = Generator[Call | AddableDict, Any, calls.Reply]
_Fetching: TypeAlias = Generator[Read, Any, list[str] | None]


class SelfRouting:
    """Carries `oprag.routing.route` into LangChain; it is the desk that this asks.

    Args:
        plan: Of the question.
        known_tokens: Tokens of full documents by name, kept by the chain.
    """

    sent_text = None

    def __init__(self, plan: Plan, known_tokens: MutableMapping[str, int]) -> None:
        self.ledger = Ledger(plan.options.prices)
        self._plan = plan
        self._known_tokens = known_tokens
        self._reported: dict[str, str | None] = {}
        self._begun = False

    def steps(self) -> Steps:
        """Answer the question, step by step.

        The output comes in pieces whose sum it is: `input`, then `context` and
        `answer` of the rung whose reply is final, `route`, `usage`.
        """
        plan = self._plan
        yield AddableDict(input=plan.question.text)
        hits = yield from retrieve(plan)
        count = plan.options.count_full_documents
        route = driving.route(
            hits,
            plan.route_options(),
            self,
            ledger=self.ledger,
            known_tokens=self._known_tokens if count else None,
        )
        request = driving.advance(route)
        while not isinstance(request, Routed):
            try:
                if isinstance(request, Fetch):
                    answer: Any = yield from self._fetch(request)
                else:
                    answer = yield from self._ask(request)
            except Exception as error:  # noqa: BLE001 -- the route decides
                request = driving.advance(route, error=error)
            else:
                request = driving.advance(route, answer)
        yield from self._close(request)

    def size(self, rung: Rung) -> PromptSize:
        """Say how long the prompt of a rung is, and may be."""
        return self._plan.size(rung)

    def model(self, rung: Rung) -> str | None:
        """Name the model of a rung as the user does, or as it has a price."""
        name = self._plan.facts(rung).name
        reported = self._reported.get(rung.name)
        prices = self._plan.options.prices or {}
        return reported if name is None or reported in prices else name

    def decided(self, entry: RungEntry) -> None:
        """LangChain's tracing shows the calls themselves."""

    def _fetch(self, fetch: Fetch) -> _Fetching:
        source = document_source(self._plan.options.documents)
        try:
            texts: list[str] = yield Read(source, fetch.names)
        except (OpragError, LookupError, OSError):
            if fetch.needed:
                raise
            return None
        return texts

    def _ask(self, ask: Ask) -> _Asking:
        plan = self._plan
        reply = plan.reply(final=ask.final)
        messages = plan.messages(ask.rung, ask.context.text)
        tags = {"tags": [f"rung:{ask.rung.name}"]}
        began = time.perf_counter()

        def hand_on(text: str) -> list[AddableDict]:
            return list(self._answer(text, ask.context))

        yield Call(
            plan.model(ask.rung),
            messages,
            merge_configs(plan.config, tags),  # type: ignore[arg-type]  # a config with tags alone
            reply,
            hand_on,
        )
        yield from hand_on(reply.finish())
        self._reported[ask.rung.name] = reply.model
        seconds = time.perf_counter() - began
        return calls.Reply(
            reply.text, reply.declined, self._usage(reply, messages), seconds
        )

    def _usage(self, reply: Reply, messages: Sequence[Any]) -> TokenUsage:
        if reply.usage is not None:
            return reply.usage
        sent, said = self._plan.tokens(messages), self._plan.counter(reply.text)
        return TokenUsage(sent, said, estimated=True)

    def _answer(self, text: str, context: RungContext) -> Iterator[AddableDict]:
        """Hand on a piece of the answer, what was read for it first."""
        if text and not self._begun:
            self._begun = True
            yield AddableDict(context=documents_of(context))
        if text:
            yield AddableDict(answer=text)

    def _close(self, routed: Routed) -> Iterator[AddableDict]:
        """Return what is not given yet: a swallowed refusal, the route, the usage."""
        outcome = routed.outcome
        if not self._begun:
            # Without any context nobody was asked: then it is our own refusal.
            nobody = self._plan.rules.sentinels[0]
            yield AddableDict(context=documents_of(routed.context))
            yield AddableDict(answer=nobody if outcome.text is None else outcome.text)
        name = outcome.rung.name if outcome.rung else None
        yield AddableDict(route={"rung": name, "answered": outcome.answered})
        yield AddableDict(usage=self.ledger.to_dict())
