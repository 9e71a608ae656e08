"""Somebody else's systems: asked as they are, and measured as by hand."""

import asyncio

import pytest
from langchain_core.documents import Document as LangchainDocument
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import Document as LlamaDocument
from llama_index.core import VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import MockLLM

from oprag import order_context
from oprag.errors import InvalidOptionError
from oprag_eval.data import Dataset, Document
from oprag_eval.scores import score_answers
from oprag_eval.systems.own import load_own, own_system, place, receive
from tests.evaluation.small import Replies, WordVectors, bench_of, ran, set_of_four

TEXTS = {name: each.text for name, each in set_of_four().documents.items()}


class LlamaWords(BaseEmbedding):
    def _get_text_embedding(self, text: str) -> list[float]:
        return WordVectors().embed_query(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return WordVectors().embed_query(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return WordVectors().embed_query(query)


def sentences(text: str) -> list[str]:
    return [f"{part}." for part in text.rstrip(".").split(". ")]


def langchain_retriever():
    store = InMemoryVectorStore(WordVectors())
    store.add_documents(
        LangchainDocument(part, metadata={"source": f"docs/{name}"})
        for name, text in TEXTS.items()
        for part in sentences(text)
    )
    return store.as_retriever(search_kwargs={"k": 2})


def llamaindex_engine():
    index = VectorStoreIndex.from_documents(
        [LlamaDocument(text=text, id_=name) for name, text in TEXTS.items()],
        embed_model=LlamaWords(),
    )
    return index.as_query_engine(llm=MockLLM(), similarity_top_k=1)


def of_words(question: str) -> list[str]:
    """Give the sentences that share most words with the question; of both documents."""
    wanted = set(question.lower().rstrip("?").split())
    found = [part for text in TEXTS.values() for part in sentences(text)]
    return sorted(found, key=lambda part: -len(wanted & set(part.lower().split())))[:3]


async def later(question: str) -> list[str]:
    await asyncio.sleep(0)
    return of_words(question)


def texts_by_hand(component, question: str) -> list[str]:
    if component is of_words or component is later:
        return of_words(question)
    if hasattr(component, "invoke"):
        return [each.page_content for each in component.invoke(question)]
    return [each.node.get_content() for each in component.query(question).source_nodes]


@pytest.mark.parametrize(
    "component",
    [langchain_retriever(), llamaindex_engine(), of_words, later],
    ids=["LangChain retriever", "LlamaIndex query engine", "function", "coroutine"],
)
def test_the_numbers_are_those_by_hand(component, tmp_path):
    dataset = Dataset(
        **{**vars(set_of_four()), "metrics": ("longrag_match",), "search_all": True}
    )
    asked = [q for q in dataset.questions if not q.options and not q.evidence]
    dataset = Dataset(**{**vars(dataset), "questions": tuple(asked)})
    bench = bench_of(Replies(), dataset)
    directory = ran(tmp_path / "run", [own_system(component, "own")], [], bench)

    for line in score_answers(directory.answers(), dataset):
        question = next(q for q in asked if q.question_id == line["question_id"])
        read = texts_by_hand(component, question.question)
        held = any(
            answer.casefold() in "\n\n".join(read).casefold()
            for answer in question.answers
        )
        assert line["measures"]["answer_recall"] == held
        assert line["context_tokens"] == len("\n\n".join(read).split())


def attempt_of(component, question: int = 1):
    bench = bench_of(Replies())
    system = own_system(component, "own")
    asked = bench.dataset.questions[question]
    return asyncio.run(system.attempt(asked, None, bench))


def test_passages_are_found_again_by_their_words_and_the_name_of_their_document():
    lamp = "In autumn the lamp was lit for the first time."
    found = attempt_of(lambda _: [{"text": f" {lamp}\n"}, "It ground rye."])

    start = TEXTS["harbour"].index(lamp)
    assert found.pieces[0] == found.pieces[0].__class__(
        "harbour", start, start + len(lamp)
    )
    assert found.pieces[1].start is None
    assert found.texts == ("It ground rye.",)


def test_a_passage_of_two_documents_is_placed_by_its_metadata():
    documents = {name: Document(name, "", "The same. Words.") for name in ("a", "b")}

    shared = receive("own", [LangchainDocument("The same.", metadata={"source": "b"})])
    pieces, texts = place(shared, documents)
    nowhere, kept = place(receive("own", ["The same."]), documents)

    assert [(each.document, each.start) for each in pieces] == [("b", 0)]
    assert (texts, kept) == ((), ("The same.",))
    assert nowhere[0].start is None


def test_evidence_that_stands_in_a_text_of_its_own_is_held(tmp_path):
    dataset = set_of_four()

    def answer(_: str) -> list[str]:
        return ["Header.  In autumn the lamp was\nlit for the first time. End."]

    directory = ran(tmp_path, [own_system(answer, "own")], [], bench_of(Replies()))
    scored = {
        line["question_id"]: line["measures"]["evidence_recall"]
        for line in score_answers(directory.answers(), dataset)
    }

    assert scored["q2"] is True


def test_an_answer_of_its_own_is_the_prediction_and_nothing_else_is_asked():
    chain = RunnableLambda(lambda _: {"context": ["It ground."], "answer": "oak"})
    bench = bench_of(model := Replies())
    made = asyncio.run(
        own_system(chain).attempt(bench.dataset.questions[0], None, bench)
    )

    assert (made.prediction, made.reply) == ("oak", "oak")
    assert model.calls == []
    assert made.usage["answer"].estimated


def test_passages_of_oprag_are_read():
    listed = order_context(
        ["One.", "Two."],
        [{"part_index": 1, "source": "s"}, {"part_index": 0, "source": "s"}],
    )
    assert [text for text, _ in receive("own", [*listed]).passages] == ["Two.", "One."]


@pytest.mark.parametrize("given", ["a text", None, {"answer": "oak"}, [1], 3])
def test_anything_else_is_refused_by_name(given):
    with pytest.raises(InvalidOptionError, match=r"own gave .*, and no passages"):
        receive("own", given)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("nothing", "It takes MODULE:NAME"),
        ("no_such_module:x", "cannot be imported"),
        ("json:nothing", "cannot be imported"),
        ("json:__name__", "It takes a function"),
    ],
)
def test_a_wrong_target_is_told_what_to_write(target, said):
    with pytest.raises(InvalidOptionError, match=said):
        load_own(target)


def test_a_module_of_the_current_folder_is_found(tmp_path, monkeypatch):
    module = tmp_path / "own_search_of_mine.py"
    module.write_text("def find(q):\n    return [q]\n")
    monkeypatch.chdir(tmp_path)

    found = load_own("own_search_of_mine:find")
    assert found.name == "own_search_of_mine:find"
    assert found.ask("x") == ["x"]
