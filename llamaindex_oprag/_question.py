"""One question on its way up the ladder: who reads, what was said, what it took."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping, Sequence
from typing import Any

import llama_index.core.instrumentation as instrument
from llama_index.core.schema import NodeWithScore, QueryBundle

from llamaindex_oprag._convert import hit_of, sent_text
from llamaindex_oprag._hearing import Hearing
from llamaindex_oprag._outside import EMPTY_RESPONSE
from llamaindex_oprag._self_route_options import SelfRouteOptions
from llamaindex_oprag._sources import nodes_read
from llamaindex_oprag.events import SelfRouteEvent
from oprag.calls import Ledger, RungEntry
from oprag.errors import OpragError
from oprag.routing import Ask, Fetch, PromptSize, Routed, Rung, RungContext, route

_dispatcher = instrument.get_dispatcher(__name__)  # type: ignore[attr-defined]  # re-exported there without an __all__

_UNFETCHABLE = (OpragError, LookupError, OSError)
"""What a source may raise for a text that only the account needs."""


class Question:
    """One question, as the steps of `oprag.routing.route` and those who take them.

    Args:
        options: See `SelfRouteOptions`.
        query: The question.
        nodes: What was retrieved, best first. Not written to.
        known_tokens: Tokens of full documents by name, kept by the engine.
        additional: Nodes to name as sources besides.
    """

    sent_text = staticmethod(sent_text)
    """What LlamaIndex sends for a chunk."""

    def __init__(
        self,
        options: SelfRouteOptions,
        query: QueryBundle,
        nodes: Sequence[NodeWithScore],
        known_tokens: MutableMapping[str, int],
        additional: Sequence[NodeWithScore] = (),
    ) -> None:
        self.query = query
        self.retrieved = nodes
        self.ledger = Ledger(options.route.prices)
        self._routed: Routed | None = None
        self._hearing: Hearing | None = None
        self._additional = additional
        self._options = options
        self._readers = {
            rung.name: options.reader(rung) for rung in options.route.rungs
        }
        self.steps = route(
            [hit_of(node) for node in nodes],
            options.route_now(),
            self,
            ledger=self.ledger,
            known_tokens=known_tokens if options.count_full_documents else None,
        )

    def size(self, rung: Rung) -> PromptSize:
        """Say how long the prompt of a rung is, and may be."""
        reader = self._readers[rung.name]
        query = self.query.query_str
        return PromptSize(
            lambda context: reader.tokens(context, query),
            reader.window,
            reader.reserved,
        )

    def model(self, rung: Rung) -> str | None:
        """Name the model that reads a rung."""
        return self._readers[rung.name].name

    def decided(self, entry: RungEntry) -> None:
        """Tell LlamaIndex's instrumentation what happened on a rung."""
        event = SelfRouteEvent(
            query=self.query.query_str,
            rung=entry.rung,
            decision=entry.decision,
            model=entry.model,
            input_tokens=entry.usage.input_tokens,
            output_tokens=entry.usage.output_tokens,
            note=entry.note,
        )
        _dispatcher.event(event)

    def hear(self, ask: Ask) -> Hearing:
        """Begin to listen to a reply."""
        self._hearing = Hearing(self._readers[ask.rung.name], ask, self.query)
        return self._hearing

    def texts(self, fetch: Fetch) -> list[str] | None:
        """Fetch full texts; None when those of the account are not to be had."""
        source = self._options.source
        if source is None:
            return None
        try:
            return [source.get(name) for name in fetch.names]
        except _UNFETCHABLE:
            if fetch.needed:
                raise
            return None

    async def atexts(self, fetch: Fetch) -> list[str] | None:
        """Async version of `texts`."""
        source = self._options.source
        if source is None:
            return None
        try:
            return await asyncio.gather(*map(source.aget, fetch.names))
        except _UNFETCHABLE:
            if fetch.needed:
                raise
            return None

    def end(self, routed: Routed) -> str:
        """Take note of the end; give what of the answer was not handed on.

        That is an earlier refusal where the last rung was skipped, and LlamaIndex's
        own words where there was nothing to read.
        """
        self._routed = routed
        if self._hearing is not None and self._hearing.handed_on:
            return ""
        outcome = routed.outcome
        return EMPTY_RESPONSE if outcome.rung is None else outcome.text or ""

    def source_nodes(self) -> list[NodeWithScore]:
        """What was read for the answer, as far as is known, in reading order."""
        return [*nodes_read(self._context()), *self._additional]

    def metadata(self) -> dict[str, Any]:
        """The response's metadata, as far as is known.

        Returns:
            `route` (`rung`, `answered`), `usage` (the ledger), and the
            metadata of the nodes by their ids, as LlamaIndex writes them.
        """
        nodes = {read.node.node_id: read.node.metadata for read in self.source_nodes()}
        rung, answered = None, None
        if self._routed is not None:
            outcome = self._routed.outcome
            rung = outcome.rung and outcome.rung.name
            answered = outcome.answered
        elif self._hearing is not None:
            rung, answered = self._hearing.rung, self._hearing.answered
        route = {"rung": rung, "answered": answered}
        return {**nodes, "route": route, "usage": self.ledger.to_dict()}

    def _context(self) -> RungContext:
        if self._routed is not None:
            return self._routed.context
        return RungContext("") if self._hearing is None else self._hearing.context
