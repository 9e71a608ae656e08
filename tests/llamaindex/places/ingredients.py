"""The names that the places are built from: an application, with oprag and without."""

import copy
import json
import zlib
from collections.abc import Sequence
from typing import Any

from llama_index.core import StorageContext, VectorStoreIndex, get_response_synthesizer
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import (
    HierarchicalNodeParser,
    MarkdownNodeParser,
    SentenceSplitter,
    get_leaf_nodes,
)
from llama_index.core.postprocessor import (
    LongContextReorder,
    MetadataReplacementPostProcessor,
    PrevNextNodePostprocessor,
    SimilarityPostprocessor,
)
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import (
    CitationQueryEngine,
    RetrieverQueryEngine,
    RouterQueryEngine,
    SubQuestionQueryEngine,
)
from llama_index.core.question_gen import LLMQuestionGenerator
from llama_index.core.retrievers import AutoMergingRetriever, QueryFusionRetriever
from llama_index.core.schema import BaseNode, NodeWithScore
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import QueryEngineTool, RetrieverTool
from llama_index.core.workflow import (
    Context,
    Event,
    StartEvent,
    StopEvent,
    Workflow,
    step,
)

from llamaindex_oprag import (
    OrderPreservingPostprocessor,
    OrderPreservingRetriever,
    PositionAnnotator,
)
from tests.llamaindex.corpus import CLAUSES, QUESTION, clause, document, index
from tests.llamaindex.recording import RecordingLLM, WordEmbedding


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


CHAPTER = 5
"""Clauses of a chapter of `sections`."""

OTHER_QUESTIONS = ("What rules the pets?", "What rules the keys of the tenant?")

_FRAMEWORKS = (
    AgentWorkflow,
    AutoMergingRetriever,
    CitationQueryEngine,
    FunctionAgent,
    IngestionPipeline,
    LLMQuestionGenerator,
    LLMSingleSelector,
    LongContextReorder,
    MarkdownNodeParser,
    MetadataReplacementPostProcessor,
    PrevNextNodePostprocessor,
    QueryEngineTool,
    QueryFusionRetriever,
    ReActAgent,
    RetrieverQueryEngine,
    RetrieverTool,
    RouterQueryEngine,
    SentenceSplitter,
    SimilarityPostprocessor,
    SubQuestionQueryEngine,
)


def ingredients(*, oprag: bool) -> dict[str, Any]:
    """The names that `Place.how` may use.

    Args:
        oprag: False takes what orders out: the retriever is what it wraps, and the
            postprocessor hands on what it is given. The rest is the same.
    """
    wrap: Any = OrderPreservingRetriever if oprag else _what_is_wrapped
    lease = index()
    retriever = lease.as_retriever(similarity_top_k=10)
    llm = RecordingLLM()
    ordered = wrap(retriever)
    return {
        **{each.__name__: each for each in (*_FRAMEWORKS, MergeThenAnswer)},
        **_models(),
        **_hierarchy(),
        "OrderPreservingPostprocessor": OrderPreservingPostprocessor
        if oprag
        else _Doing,
        "OrderPreservingRetriever": wrap,
        "annotator": PositionAnnotator([document(text=_sections())]),
        "by_score": _Doing(does=_by_score),
        "falling_scores": _Doing(does=_falling_scores),
        "engine": RetrieverQueryEngine.from_args(ordered, llm=llm),
        "index": lease,
        "llm": llm,
        "ordered": ordered,
        "other": _Found(lease.as_retriever(similarity_top_k=30)),
        "question": QUESTION,
        "reranker": _Doing(does=_by_checksum),
        "retriever": retriever,
        "retriever_over": _retriever_over,
        "sections": [document(text=_sections())],
        "synthesizer": get_response_synthesizer(llm=llm),
    }


def _models() -> dict[str, RecordingLLM]:
    """The models that do not answer: none of them is sent what was retrieved last."""
    plan = {"items": [{"sub_question": QUESTION, "tool_name": "search"}]}
    replies = {
        "chooser": json.dumps([{"choice": 1, "reason": "It is the lease."}]),
        "planner": json.dumps(plan),
        "writer": "\n".join(OTHER_QUESTIONS),
    }
    return {name: RecordingLLM(replies=[reply]) for name, reply in replies.items()}


def _sections() -> str:
    """The lease in Markdown, with a heading before every few clauses."""
    chapters = [
        "\n\n".join([f"# Chapter {first}", *map(clause, range(first, first + CHAPTER))])
        for first in range(0, CLAUSES, CHAPTER)
    ]
    return "\n\n".join(chapters)


def _retriever_over(nodes: Sequence[BaseNode]) -> BaseRetriever:
    """The retriever of an index of these nodes."""
    made = VectorStoreIndex(list(nodes), embed_model=WordEmbedding())
    return made.as_retriever(similarity_top_k=10)


def _hierarchy() -> dict[str, Any]:
    """Return leaves and their parents, annotated."""
    documents = [document()]
    parser = HierarchicalNodeParser.from_defaults(
        chunk_sizes=[240, 120, 50], chunk_overlap=0
    )
    nodes = parser.get_nodes_from_documents(documents)
    leaves, storage = hierarchy(PositionAnnotator(documents)(nodes), 8)
    return {"leaves": leaves, "storage": storage}


def hierarchy(
    nodes: Sequence[BaseNode], similarity_top_k: int
) -> tuple[BaseRetriever, StorageContext]:
    """Give what `AutoMergingRetriever` takes: a retriever of leaves, and all nodes."""
    storage = StorageContext.from_defaults()
    storage.docstore.add_documents(nodes)
    leaves = VectorStoreIndex(get_leaf_nodes(nodes), embed_model=WordEmbedding())
    return leaves.as_retriever(similarity_top_k=similarity_top_k), storage


class _Found(BaseRetriever):
    """The nodes of another retriever: some of the nodes, in no order."""

    def __init__(self, base: BaseRetriever) -> None:
        super().__init__()
        self._base = base

    def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
        return self._base.retrieve(query_bundle)[5::4]


class _Doing(BaseNodePostprocessor):
    """Hands on what a function makes of the nodes; by default the nodes."""

    does: Any = list

    def _postprocess_nodes(self, nodes: Any, query_bundle: Any = None) -> Any:
        return self.does(nodes)


def _by_checksum(nodes: list[NodeWithScore]) -> list[NodeWithScore]:
    """Scores that have nothing to do with the order, and are always the same."""
    scored = [
        NodeWithScore(node=n.node, score=zlib.crc32(n.text.encode())) for n in nodes
    ]
    return _by_score(scored)[:5]


def _by_score(nodes: list[NodeWithScore]) -> list[NodeWithScore]:
    return sorted(nodes, key=NodeWithScore.get_score, reverse=True)


def _falling_scores(nodes: list[NodeWithScore]) -> list[NodeWithScore]:
    """Write scores that fall in reading order, as `docs/apps.md` shows."""
    for place, scored in enumerate(nodes):
        scored.score = 1 - place / len(nodes)
    return nodes


def _what_is_wrapped(
    base_retriever: BaseRetriever, similarity_top_k: int | None = None
) -> BaseRetriever:
    if similarity_top_k is None:
        return base_retriever
    wider: Any = copy.copy(base_retriever)
    wider.similarity_top_k = similarity_top_k
    return wider
