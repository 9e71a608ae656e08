"""The ways in which applications use LlamaIndex: what the model is sent in each."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from llama_index.core import SimpleDirectoryReader, VectorStoreIndex
from llama_index.core.agent.workflow import ReActAgent
from llama_index.core.chat_engine.types import ChatMode
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.postprocessor import (
    LongContextReorder,
    PrevNextNodePostprocessor,
    SimilarityPostprocessor,
)
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import (
    CitationQueryEngine,
    RetrieverQueryEngine,
    RouterQueryEngine,
)
from llama_index.core.response_synthesizers import ResponseMode
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import QueryEngineTool, RetrieverTool
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step

from llamaindex_oprag import OrderPreservingPostprocessor, OrderPreservingRetriever
from tests.llamaindex.corpus import (
    QUESTION,
    clause_parser,
    document,
    index,
    numbers,
    numbers_of,
)
from tests.llamaindex.recording import RecordingLLM, WordEmbedding

ORDER = OrderPreservingPostprocessor()


@pytest.fixture
def best(hits) -> list[int]:
    """Numbers of the ten best clauses in the order of the lease."""
    return sorted(numbers_of(hits))


class TestQueryEngines:
    def test_a_query_engine_of_an_index(self, lease, llm, best):
        engine = lease.as_query_engine(
            llm=llm, similarity_top_k=10, node_postprocessors=[ORDER]
        )

        response = engine.query(QUESTION)

        assert numbers(llm.last_prompt) == best
        assert numbers_of(response.source_nodes) == best

    def test_without_us_the_clauses_come_by_score(self, lease, llm, best):
        lease.as_query_engine(llm=llm, similarity_top_k=10).query(QUESTION)

        assert numbers(llm.last_prompt) != best
        assert sorted(numbers(llm.last_prompt)) == best

    async def test_async(self, lease, llm, best):
        engine = lease.as_query_engine(
            llm=llm, similarity_top_k=10, node_postprocessors=[ORDER]
        )

        await engine.aquery(QUESTION)

        assert numbers(llm.last_prompt) == best

    def test_streaming(self, lease, llm, best):
        engine = lease.as_query_engine(
            llm=llm, similarity_top_k=10, node_postprocessors=[ORDER], streaming=True
        )

        assert "".join(engine.query(QUESTION).response_gen) == "An answer."
        assert numbers(llm.last_prompt) == best

    @pytest.mark.parametrize(
        "mode", [ResponseMode.COMPACT, ResponseMode.REFINE, ResponseMode.TREE_SUMMARIZE]
    )
    def test_every_way_to_answer_reads_them_in_order(self, lease, llm, best, mode):
        engine = lease.as_query_engine(
            llm=llm,
            similarity_top_k=10,
            node_postprocessors=[ORDER],
            response_mode=mode,
        )

        engine.query(QUESTION)

        assert numbers("".join(llm.prompts)) == best

    def test_a_retriever_in_an_engine(self, lease, llm):
        retriever = OrderPreservingRetriever(lease.as_retriever(), token_budget=250)
        engine = RetrieverQueryEngine.from_args(retriever, llm=llm)

        engine.query(QUESTION)

        read = numbers(llm.last_prompt)
        assert len(read) > 10
        assert read == sorted(read)

    def test_merged_passages_read_as_one_text(self, lease, llm, best):
        merge = OrderPreservingPostprocessor(merge=True)
        engine = lease.as_query_engine(
            llm=llm, similarity_top_k=10, node_postprocessors=[merge]
        )

        engine.query(QUESTION)

        assert numbers(llm.last_prompt) == best
        assert "char_start" not in llm.last_prompt

    def test_citations_number_the_passages_in_order(self, lease, llm, best):
        engine = CitationQueryEngine.from_args(
            lease, llm=llm, similarity_top_k=10, node_postprocessors=[ORDER]
        )

        response = engine.query(QUESTION)

        assert numbers_of(response.source_nodes) == best
        assert response.source_nodes[1].text.startswith("Source 2:")

    def test_behind_a_router(self, lease, best):
        llm = RecordingLLM(
            replies=[json.dumps([{"choice": 1, "reason": "lease"}]), "An answer."]
        )
        engine = lease.as_query_engine(
            llm=llm, similarity_top_k=10, node_postprocessors=[ORDER]
        )
        tool = QueryEngineTool.from_defaults(engine, name="lease", description="lease")
        router = RouterQueryEngine(
            selector=LLMSingleSelector.from_defaults(llm=llm),
            query_engine_tools=[tool],
            llm=llm,
        )

        router.query(QUESTION)

        assert numbers(llm.last_prompt) == best

    async def test_in_a_workflow(self, lease, llm, best):
        engine = lease.as_query_engine(
            llm=llm, similarity_top_k=10, node_postprocessors=[ORDER]
        )

        class Ask(Workflow):
            @step
            async def ask(self, event: StartEvent) -> StopEvent:
                return StopEvent(result=await engine.aquery(event.question))

        await Ask().run(question=QUESTION)

        assert numbers(llm.last_prompt) == best


class TestChatEngines:
    MODES = (
        ChatMode.CONTEXT,
        ChatMode.CONDENSE_PLUS_CONTEXT,
        ChatMode.CONDENSE_QUESTION,
        ChatMode.BEST,
    )

    def engine(self, lease: VectorStoreIndex, llm: RecordingLLM, mode: ChatMode) -> Any:
        return lease.as_chat_engine(
            chat_mode=mode,
            llm=llm,
            similarity_top_k=10,
            node_postprocessors=[ORDER],
            # The default keeps a database connection open in a thread of its own.
            memory=ChatMemoryBuffer.from_defaults(token_limit=8_000),
        )

    @pytest.mark.parametrize("mode", MODES)
    def test_chat(self, lease, llm, best, mode):
        self.engine(lease, llm, mode).chat(QUESTION)

        assert numbers(llm.last_prompt) == best

    @pytest.mark.parametrize("mode", [ChatMode.CONTEXT, ChatMode.CONDENSE_PLUS_CONTEXT])
    def test_stream_chat(self, lease, llm, best, mode):
        response = self.engine(lease, llm, mode).stream_chat(QUESTION)

        assert "".join(response.response_gen) == "An answer."
        assert numbers(llm.last_prompt) == best

    @pytest.mark.parametrize("mode", [ChatMode.CONTEXT, ChatMode.CONDENSE_PLUS_CONTEXT])
    async def test_async_chat(self, lease, llm, best, mode):
        await self.engine(lease, llm, mode).achat(QUESTION)

        assert numbers(llm.last_prompt) == best


class TestTools:
    def test_a_retriever_tool(self, lease, best):
        tool = RetrieverTool.from_defaults(
            lease.as_retriever(similarity_top_k=10), node_postprocessors=[ORDER]
        )

        assert numbers(tool.call(QUESTION).content) == best

    async def test_a_retriever_tool_over_our_retriever(self, lease, best):
        retriever = OrderPreservingRetriever(lease.as_retriever(), similarity_top_k=10)

        tool = RetrieverTool.from_defaults(retriever)

        assert numbers((await tool.acall(QUESTION)).content) == best

    # LlamaIndex's agents use what pydantic and its own workflows deprecate.
    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    async def test_an_agent_reads_what_its_tool_found_in_order(self, lease, best):
        retriever = OrderPreservingRetriever(lease.as_retriever(), similarity_top_k=10)
        tool = RetrieverTool.from_defaults(retriever, name="lease", description="lease")
        question = json.dumps({"input": QUESTION})
        llm = RecordingLLM(
            replies=[
                f"Thought: I need a tool.\nAction: lease\nAction Input: {question}\n",
                "Thought: I can answer without using any more tools.\nAnswer: Yes.",
            ]
        )

        answer = await ReActAgent(tools=[tool], llm=llm, streaming=False).run(QUESTION)

        assert str(answer) == "Yes."
        assert numbers(llm.last_prompt) == best


class TestFittingIn:
    """One test for each point of the design's list that concerns LlamaIndex."""

    def test_a_cut_behind_us_takes_nothing_because_we_selected_first(self, hits):
        ordered = OrderPreservingPostprocessor(top_n=4).postprocess_nodes(hits)

        cut_by_the_application = ordered[:4]
        assert numbers_of(cut_by_the_application) == sorted(numbers_of(hits[:4]))

    def test_top_n_is_assigned_for_each_request(self, hits):
        shared = OrderPreservingPostprocessor()
        for top_n in (3, 1, 5):
            shared.top_n = top_n
            assert len(shared.postprocess_nodes(hits)) == top_n

    def test_a_score_threshold_before_us_keeps_its_meaning(self, lease, llm, hits):
        cut = SimilarityPostprocessor(similarity_cutoff=hits[5].score)
        engine = lease.as_query_engine(
            llm=llm, similarity_top_k=10, node_postprocessors=[cut, ORDER]
        )

        engine.query(QUESTION)

        above = [node for node in hits if node.score >= hits[5].score]
        assert len(above) < len(hits)
        assert numbers(llm.last_prompt) == sorted(numbers_of(above))

    def test_results_of_several_queries_need_no_query(self, lease):
        retriever = lease.as_retriever(similarity_top_k=6)
        found = [
            node
            for query in (QUESTION, "pets of the tenant", QUESTION)
            for node in retriever.retrieve(query)
        ]

        ordered = numbers_of(ORDER.postprocess_nodes(found))
        assert ordered == sorted(set(numbers_of(found)))

    def test_an_indexer_uses_the_object_that_retrieves(self, llm):
        """As applications do that keep one retriever and add documents to it."""

        class Searchable(type(index().as_retriever())):
            def add_documents(self, documents):
                for each in documents:
                    self._index.insert(each)

        lease = index(document("old"))
        base = Searchable(lease, embed_model=WordEmbedding())
        retriever = OrderPreservingRetriever(base, token_budget=50_000)

        retriever.add_documents([document("new")])

        names = {node.node.ref_doc_id for node in retriever.retrieve(QUESTION)}
        assert names == {"old", "new"}

    async def test_sync_and_async_give_the_same(self, lease, hits):
        retriever = OrderPreservingRetriever(lease.as_retriever(similarity_top_k=10))

        assert await retriever.aretrieve(QUESTION) == retriever.retrieve(QUESTION)
        awaited = await ORDER.apostprocess_nodes(nodes=hits, query_str=QUESTION)
        assert awaited == ORDER.postprocess_nodes(nodes=hits, query_str=QUESTION)

    def test_a_registry_builds_it_from_plain_values(self, hits):
        registry: dict[str, type[BaseNodePostprocessor]] = {
            cls.class_name(): cls for cls in (OrderPreservingPostprocessor,)
        }
        config = json.loads(
            '{"name": "OrderPreservingPostprocessor", "options": {"top_n": 3, '
            '"merge": true, "position_keys": ["char_start"], "token_counter": '
            '"approximate", "document_key": ["doc_uri", "source"]}}'
        )

        built = registry[config["name"]](**config["options"])

        ordered = numbers_of(built.postprocess_nodes(hits))
        assert ordered == sorted(numbers_of(hits[:3]))

    def test_it_is_cheap_to_construct_for_each_request(self):
        OrderPreservingPostprocessor(token_budget=4_000)
        started = time.process_time()
        for _ in range(200):
            OrderPreservingPostprocessor(token_budget=4_000, merge=True)

        assert time.process_time() - started < 200 * 0.005

    def test_neighbours_fetched_before_us_are_ordered_with_the_rest(self, lease):
        hits = lease.as_retriever(similarity_top_k=3).retrieve(QUESTION)
        neighbours = PrevNextNodePostprocessor(
            docstore=lease.docstore, num_nodes=1, mode="both"
        )
        widened = neighbours.postprocess_nodes(hits)

        ordered = numbers_of(ORDER.postprocess_nodes(widened))
        assert ordered == sorted(set(numbers_of(widened)))
        assert len(ordered) > 3

    def test_what_reorders_behind_us_undoes_the_order(self, hits, best):
        """So we stand last; this is LlamaIndex's own reordering by score."""
        behind = LongContextReorder().postprocess_nodes(ORDER.postprocess_nodes(hits))
        before = ORDER.postprocess_nodes(LongContextReorder().postprocess_nodes(hits))

        assert numbers_of(behind) != best
        assert numbers_of(before) == best


def test_files_read_from_a_folder(tmp_path, llm):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(document().text, encoding="utf-8")
    files = SimpleDirectoryReader(str(tmp_path), filename_as_id=True).load_data()
    lease = index(*files, parser=clause_parser())
    retriever = OrderPreservingRetriever(lease.as_retriever(similarity_top_k=12))

    nodes = retriever.retrieve(QUESTION)

    names = [node.node.ref_doc_id for node in nodes]
    assert names == sorted(names, key=names.index)  # one document after the other
    for name in set(names):
        own = [node for node in nodes if node.node.ref_doc_id == name]
        assert numbers_of(own) == sorted(numbers_of(own))
