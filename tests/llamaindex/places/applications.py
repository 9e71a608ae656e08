"""Places in what asks a model: engines, chats, tools, agents, workflows."""

from __future__ import annotations

from tests.llamaindex.places.place import FUSION, SEARCH, Place

__all__ = ["APPLICATIONS"]


def _chat(mode: str) -> str:
    return (
        f'index.as_chat_engine(chat_mode="{mode}", llm=llm, similarity_top_k=10, '
        "node_postprocessors=[OrderPreservingPostprocessor()])"
    )


APPLICATIONS = (
    # Engines
    Place(
        "query-engine",
        "query_engines",
        "`as_query_engine`",
        "index.as_query_engine(llm=llm, similarity_top_k=10, "
        "node_postprocessors=[OrderPreservingPostprocessor()])",
    ),
    Place(
        "retriever-query-engine",
        "query_engines",
        "`RetrieverQueryEngine`",
        "RetrieverQueryEngine.from_args(ordered, llm=llm)",
    ),
    Place(
        "after-fusion",
        "query_engines",
        "after `QueryFusionRetriever`",
        f"RetrieverQueryEngine.from_args({FUSION}, llm=llm, "
        "node_postprocessors=[OrderPreservingPostprocessor()])",
    ),
    Place(
        "router",
        "query_engines",
        "in a tool of `RouterQueryEngine`",
        "RouterQueryEngine(selector=LLMSingleSelector.from_defaults(llm=chooser), "
        f"query_engine_tools=[QueryEngineTool.from_defaults(engine, {SEARCH})], "
        "llm=llm)",
    ),
    Place(
        "sub-question",
        "query_engines",
        "in a tool of `SubQuestionQueryEngine`",
        "SubQuestionQueryEngine.from_defaults("
        f"[QueryEngineTool.from_defaults(engine, {SEARCH})], "
        "question_gen=LLMQuestionGenerator.from_defaults(llm=planner), llm=llm)",
    ),
    Place(
        "citation",
        "query_engines",
        "`CitationQueryEngine`",
        "CitationQueryEngine.from_args(index, llm=llm, similarity_top_k=10, "
        "node_postprocessors=[OrderPreservingPostprocessor()])",
    ),
    Place(
        "citation-retriever",
        "query_engines",
        "`CitationQueryEngine` with a retriever",
        "CitationQueryEngine.from_args(index, retriever=ordered, llm=llm)",
    ),
    # Response modes
    *(
        Place(
            f"mode-{mode.replace('_', '-')}",
            "response_modes",
            f"response mode `{mode}`",
            f'RetrieverQueryEngine.from_args(ordered, llm=llm, response_mode="{mode}")',
        )
        for mode in (
            "compact",
            "refine",
            "tree_summarize",
            "accumulate",
            "compact_accumulate",
            "simple_summarize",
            "context_only",
        )
    ),
    # Chat engines
    *(
        Place(
            f"chat-{mode.replace('_', '-')}",
            "chats",
            f"chat mode `{mode}`",
            _chat(mode),
        )
        for mode in ("context", "condense_plus_context", "condense_question")
    ),
    Place("chat-best", "chats", "chat mode `best`, the default", _chat("best")),
    Place(
        "context-chat-engine",
        "chats",
        "`ContextChatEngine` with a retriever",
        "ContextChatEngine.from_defaults(retriever=ordered, llm=llm)",
    ),
    Place(
        "condense-plus-context-chat-engine",
        "chats",
        "`CondensePlusContextChatEngine` with a retriever",
        "CondensePlusContextChatEngine.from_defaults(retriever=ordered, llm=llm)",
    ),
    Place(
        "condense-question-chat-engine",
        "chats",
        "`CondenseQuestionChatEngine` with an engine",
        "CondenseQuestionChatEngine.from_defaults(query_engine=engine, llm=llm)",
    ),
    # Tools and agents
    Place(
        "retriever-tool",
        "tools",
        "`RetrieverTool`",
        f"RetrieverTool.from_defaults(ordered, {SEARCH})",
    ),
    Place(
        "retriever-tool-postprocessor",
        "tools",
        "`RetrieverTool` with a postprocessor",
        "RetrieverTool.from_defaults(retriever, "
        f"node_postprocessors=[OrderPreservingPostprocessor()], {SEARCH})",
    ),
    Place(
        "query-engine-tool",
        "tools",
        "`QueryEngineTool`",
        f"QueryEngineTool.from_defaults(engine, {SEARCH})",
    ),
    Place(
        "function-agent-retriever",
        "agents",
        "`FunctionAgent` with a `RetrieverTool`",
        "FunctionAgent(tools=["
        f"RetrieverTool.from_defaults(ordered, {SEARCH})], llm=caller)",
    ),
    Place(
        "function-agent-engine",
        "agents",
        "`FunctionAgent` with a `QueryEngineTool`",
        "FunctionAgent(tools=["
        f"QueryEngineTool.from_defaults(engine, {SEARCH})], llm=caller)",
    ),
    Place(
        "agent-workflow",
        "agents",
        "`AgentWorkflow`",
        "AgentWorkflow.from_tools_or_functions("
        f"[RetrieverTool.from_defaults(ordered, {SEARCH})], llm=caller)",
    ),
    Place(
        "react-agent",
        "react_agents",
        "`ReActAgent` with a `RetrieverTool`",
        f"ReActAgent(tools=[RetrieverTool.from_defaults(ordered, {SEARCH})], llm=llm)",
    ),
    # Workflows
    Place(
        "workflow-engine",
        "workflows",
        "an engine in a step of a `Workflow`",
        "AskEngine(engine)",
    ),
    Place(
        "workflow-step",
        "workflows",
        "a retriever in a step, the answer in the next",
        "RetrieveThenAnswer(ordered, synthesizer)",
    ),
    Place(
        "workflow-merge",
        "workflows",
        "a step that merges what several queries found",
        "MergeThenAnswer(retriever, OrderPreservingPostprocessor(), synthesizer)",
    ),
)
