"""A workflow as applications write it: several queries, one answer."""

from __future__ import annotations

from typing import Any

from llama_index.core.schema import NodeWithScore
from llama_index.core.workflow import (
    Context,
    Event,
    StartEvent,
    StopEvent,
    Workflow,
    step,
)

__all__ = ["MergeThenAnswer"]


class Query(Event):
    """One of several queries."""

    text: str


class Found(Event):
    """The nodes that one query found."""

    nodes: list[NodeWithScore]


class MergeThenAnswer(Workflow):
    """Sends out several queries and puts together what they find."""

    def __init__(self, retriever: Any, postprocessor: Any, synthesizer: Any) -> None:
        super().__init__()
        self.retriever = retriever
        self.postprocessor = postprocessor
        self.synthesizer = synthesizer

    @step
    async def send(self, context: Context, event: StartEvent) -> Query | None:
        for query in (event.question, "What rules the pets?"):
            context.send_event(Query(text=query))

    @step
    async def retrieve(self, event: Query) -> Found:
        return Found(nodes=await self.retriever.aretrieve(event.text))

    @step
    async def answer(self, context: Context, event: Found) -> StopEvent | None:
        found = context.collect_events(event, [Found, Found])
        if found is None:
            return None
        nodes = [node for each in found for node in each.nodes]
        ordered = await self.postprocessor.apostprocess_nodes(nodes)
        answer = await self.synthesizer.asynthesize("question", ordered)
        return StopEvent(result=str(answer))
