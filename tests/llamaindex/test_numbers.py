"""Numbers in what models read: each means one passage, whatever was forgotten."""

from __future__ import annotations

import json
import re

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import MockLLM
from llama_index.core.memory import ChatMemoryBuffer, Memory
from llama_index.core.workflow import Context

from llamaindex_oprag import (
    OffsetSentenceNodeParser,
    OrderPreservingRetrieverTool,
    cited,
    create_reading_tools,
)
from oprag import place_of
from oprag.errors import InvalidOptionError
from tests.llamaindex.corpus import document
from tests.llamaindex.recording import WordEmbedding
from tests.llamaindex.test_conversations import shown
from tests.llamaindex.test_tools import (
    SOURCES,
    TOPICS,
    agent,
    search,
    texts_read,
    two_documents,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Skipping serialization of known unserial"),
]
READ = re.compile(r"^\[(\d+)\] (\S+), characters ([\d\- and]+)\n", re.MULTILINE)


def numbers_read(contents):
    read = {}
    for content in contents:
        for found in READ.finditer(content):
            spans = re.findall(r"(\d+)-(\d+)", found[3])
            text = "\n".join(SOURCES[found[2]][int(a) : int(b)] for a, b in spans)
            assert content.startswith(text, found.end())
            assert read.setdefault(int(found[1]), (found[2], text)) == (found[2], text)
    return read


@pytest.mark.parametrize("kind", [ChatMemoryBuffer, Memory])
@pytest.mark.parametrize("limit", [100_000, 900], ids=["kept", "forgotten"])
@pytest.mark.parametrize("turns", [[1] * 10, [5, 5]], ids=["in turn", "parallel"])
async def test_a_number_means_what_was_read_under_it(turns, limit, kind):
    tool = search(two_documents("ours").as_retriever(), show="unseen")
    memory = kind.from_defaults(token_limit=limit)
    context, contents = None, []
    for _ in range(2):
        made = agent(tool, *turns)
        kept = json.loads(json.dumps(context.to_dict())) if context else None
        context = Context.from_dict(made, kept) if kept else Context(made)
        response = await made.run("?", ctx=context, memory=memory)
        contents += [each for call in made.llm.calls for each in texts_read(call)]
        for call in made.llm.calls:
            places = shown("\n".join(each.content or "" for each in call))
            assert len(places) == len({*places})

    read = numbers_read(contents)
    found = await cited(context, response)

    assert {*read} == {*found} == {*range(1, len(read) + 1)}
    assert len(read) > 10
    for number, (name, text) in read.items():
        place = place_of(found[number])
        assert place.document == name
        assert "\n".join(SOURCES[name][a:b] for a, b in place.spans) == text
        assert found[number].node.text == text
    assert (await cited(context)).keys() == found.keys()


async def test_the_state_of_what_was_shown_is_small():
    rules = [f"Rule {n} says {n * n} of {TOPICS[n % 8]}. " * 30 for n in range(40)]
    made = VectorStoreIndex.from_documents(
        [document("rules.txt", "".join(rules))],
        transformations=[OffsetSentenceNodeParser(chunk_size=256)],
        embed_model=WordEmbedding(),
    )
    tool = search(made, show="unseen")
    context = Context(FunctionAgent(tools=[tool], llm=MockLLM()))
    size = 0
    for number in range(40):
        output = await tool.acall(input=f"Rule {number}", ctx=context)
        size += sum(len(each.text) for each in output.raw_output)

    kept = json.dumps(await context.store.get("oprag_numbers"))

    assert size > 20_000
    assert len(kept) <= 3_000 * size / 20_000


async def test_what_was_forgotten_leaves_its_place():
    tool = search(two_documents("ours").as_retriever(), show="unseen")
    context = Context(FunctionAgent(tools=[tool], llm=MockLLM()))
    output = await tool.acall(input="pets", ctx=context)

    found = await cited(context)

    first = output.raw_output[0]
    assert found[1].text == ""
    assert place_of(found[1]).spans == place_of(first).spans
    assert first.metadata["oprag_number"] == 1


async def test_what_was_read_before_the_first_search_is_numbered_and_seen():
    tool = search(two_documents("ours").as_retriever(), show="unseen")
    read, *_ = create_reading_tools(dict(SOURCES), token_budget=100)
    context = Context(FunctionAgent(tools=[tool, read], llm=MockLLM()))
    pages = [
        (await read.acall(document="lease.txt", start=n, ctx=context)).content
        for n in (0, 600)
    ]
    asked = [SOURCES["lease.txt"][:200], *TOPICS]
    found = [(await tool.acall(input=each, ctx=context)).content for each in asked]

    numbers = numbers_read([*pages, *found])
    assert [*numbers] == [*range(1, len(numbers) + 1)]
    assert {*await cited(context)} == {*numbers}
    places = shown("\n".join([*pages, *found]))
    assert len(places) == len({*places})
    assert "[see above: [1]" in found[0]


async def test_a_search_whose_numbers_begin_anew_is_refused_beside_what_was_read():
    tool = search(two_documents("ours").as_retriever(), show="all")
    read, *_ = create_reading_tools(dict(SOURCES))
    made = agent(tool, 1)
    context = Context(made)
    await read.acall(document="lease.txt", ctx=context)

    response = await made.run("?", ctx=context)

    with pytest.raises(InvalidOptionError, match="begin with 1"):
        await cited(context, response)


async def test_a_context_without_numbers_says_what_gives_them():
    tool = OrderPreservingRetrieverTool.from_defaults(two_documents("ours"))

    with pytest.raises(InvalidOptionError, match='show="unseen"'):
        await cited(Context(FunctionAgent(tools=[tool], llm=MockLLM())))
