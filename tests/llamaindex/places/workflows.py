"""Workflows as applications write them: an engine, two steps, several queries."""

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

__all__ = ["AskEngine", "MergeThenAnswer", "RetrieveThenAnswer"]


class Query(Event):
    """One of several queries."""

    text: str


class Found(Event):
    """What one query found."""

    nodes: list[NodeWithScore]


class AskEngine(Workflow):
    """Awaits a query engine."""

    def __init__(self, engine: Any) -> None:
        super().__init__()
        self.engine = engine

    @step
    async def ask(self, event: StartEvent) -> StopEvent:
        return StopEvent(result=str(await self.engine.aquery(event.question)))


class RetrieveThenAnswer(Workflow):
    """Retrieves in one step and answers in the next."""

    def __init__(self, retriever: Any, synthesizer: Any) -> None:
        super().__init__()
        self.retriever = retriever
        self.synthesizer = synthesizer

    @step
    async def retrieve(self, event: StartEvent) -> Found:
        return Found(nodes=await self.retriever.aretrieve(event.question))

    @step
    async def answer(self, event: Found) -> StopEvent:
        answer = await self.synthesizer.asynthesize("question", event.nodes)
        return StopEvent(result=str(answer))


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
