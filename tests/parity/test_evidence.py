"""Additions of searches to a conversation: the same in frameworks and core."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import MockLLM
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.workflow import Context

from langchain_oprag import EvidenceMiddleware
from langchain_oprag import _tool_messages as tool_messages
from llamaindex_oprag import OrderPreservingRetriever, OrderPreservingRetrieverTool
from oprag.agents import write_new_passages
from oprag.chunk import Hit
from oprag.context import CitationNumbers, ContextOptions, Seen
from tests.kit.effort import cases
from tests.llamaindex.components import Retrieved

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
TEXT = "".join(chr(ord("a") + n % 26) for n in range(120))

_spans = st.tuples(
    st.sampled_from(["a.txt", "b.txt"]), st.integers(0, 90), st.integers(5, 30)
)
_searches = st.lists(
    st.lists(_spans, min_size=1, max_size=5, unique=True), min_size=1, max_size=4
)
_options = st.fixed_dictionaries(
    {"token_counter": st.just(len)}, optional={"token_budget": st.integers(70, 300)}
)


def found(search):
    return [
        (TEXT[start : start + size], {"source": source, "start_index": start})
        for source, start, size in search
    ]


def in_the_core(searches, options):
    options = ContextOptions(merge=True, **options)
    seen, numbers, texts = Seen(), CitationNumbers(), []
    for search in searches:
        hits = [Hit(text, metadata) for text, metadata in found(search)]
        evidence = write_new_passages(hits, options, seen, numbers=numbers)
        seen.add(evidence.shown)
        numbers.add(evidence.shown)
        texts.append(evidence.text)
    return texts


def in_langchain(searches, options):
    messages = []
    for search in searches:
        artifact = [Document(text, metadata=place) for text, place in found(search)]
        content = "\n\n".join(each.page_content for each in artifact)
        messages.append(ToolMessage(content, tool_call_id="1", artifact=artifact))
    applied = EvidenceMiddleware(**options).apply(messages)
    # The white space between documents is the tool's, and stays.
    return [message.content.rstrip("\n") for message in applied]


def in_llamaindex(searches, options):
    base = Retrieved([])
    own = OrderPreservingRetriever(base, merge=True, **options)
    tool = OrderPreservingRetrieverTool.from_defaults(own, show="unseen")
    context, texts = Context(FunctionAgent(tools=[tool], llm=MockLLM())), []
    for search in searches:
        base.nodes = [
            NodeWithScore(node=TextNode(text=text, metadata=place))
            for text, place in found(search)
        ]
        texts.append(tool.call(input="?", ctx=context).content)
    return texts


@settings(max_examples=cases(60), deadline=None)
@given(_searches, _options)
def test_each_search_adds_the_same_in_both_frameworks(searches, options):
    expected = in_the_core(searches, options)

    assert in_llamaindex(searches, options) == expected
    if "token_budget" not in options:
        assert in_langchain(searches, options) == expected


def test_a_search_reads_what_was_said_before_it_once(monkeypatch):
    told, read = [], []
    find_in, show = CitationNumbers.find_in, tool_messages.show_in_place

    def counted(numbers, conversation):
        read.append(conversation)
        return find_in(numbers, conversation)

    def shown(parts, *others):
        told.append(parts)
        return show(parts, *others)

    monkeypatch.setattr(CitationNumbers, "find_in", counted)
    monkeypatch.setattr(tool_messages, "show_in_place", shown)
    middleware, messages = EvidenceMiddleware(), []
    searches = [[("a.txt", start, 9)] for start in range(0, 90, 3)]
    for number, search in enumerate(searches):
        artifact = [Document(text, metadata=place) for text, place in found(search)]
        content = artifact[0].page_content
        call = {"tool_call_id": str(number), "artifact": artifact}
        messages.append(ToolMessage(content, **call))
        middleware.apply(messages)
    texts = in_llamaindex(searches, {})

    assert len(told) == len(searches)
    assert read == texts[:-1]
