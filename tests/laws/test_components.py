"""Every component: a `repr` without secrets, schemas that can be made, a way back."""

from __future__ import annotations

import pytest
from langchain_core.language_models import FakeListChatModel
from llama_index.core.llms import MockLLM
from llama_index.core.schema import Document as NodeDocument
from pydantic import BaseModel

import langchain_oprag
import llamaindex_oprag
from oprag import group_documents
from tests.langchain.corpus import ListRetriever, RecordingStore, chunk
from tests.llamaindex.corpus import document, index

TEXTS = {"book.txt": "a text"}


class Client:
    """Shows its key, as some clients do."""

    def __repr__(self) -> str:
        return "Client()"

    def encode(self, text):
        return []

    def __call__(self, text):
        return len(text)


def chains():
    chat = FakeListChatModel(responses=["An answer."])
    store = RecordingStore([chunk(0)])
    units = group_documents(TEXTS, token_counter="approximate")
    return [
        langchain_oprag.OrderPreservingRetriever(
            vectorstore=store, k=3, documents=TEXTS, token_counter=Client()
        ),
        langchain_oprag.OrderPreservingCompressor(
            token_budget=8, order="document", position_keys=["page", "n"]
        ),
        langchain_oprag.SelfRouteChain(
            llm=chat, retriever=store.as_retriever(), documents=TEXTS
        ),
        langchain_oprag.LongUnitRetriever(
            vectorstore=store, units=units, documents=TEXTS
        ),
        langchain_oprag.LongReader(llm=chat),
    ]


def engines():
    retriever = index().as_retriever()
    units = group_documents(TEXTS, token_counter="approximate")
    return [
        llamaindex_oprag.OrderPreservingRetriever(
            retriever, similarity_top_k=3, token_counter=Client(), documents=TEXTS
        ),
        llamaindex_oprag.LongUnitRetriever(retriever, units=units, documents=TEXTS),
        llamaindex_oprag.OrderPreservingPostprocessor(top_n=2, citations=True),
        llamaindex_oprag.OffsetTokenNodeParser(chunk_size=9, tokenizer=len),
        llamaindex_oprag.OffsetSentenceNodeParser(),
        llamaindex_oprag.PositionAnnotator([document()]),
        llamaindex_oprag.SelfRouteQueryEngine.from_args(
            retriever, MockLLM(), documents=TEXTS
        ),
        llamaindex_oprag.LongReaderSynthesizer(MockLLM()),
    ]


CHAINS, ENGINES = chains(), engines()


def by_class(value):
    return type(value).__name__ if hasattr(value, "__dict__") else "shown"


@pytest.mark.parametrize("component", [*CHAINS, *ENGINES], ids=by_class)
def test_the_repr_has_no_full_text(component):
    assert not any(text in repr(component) for text in TEXTS.values())


# LlamaIndex's own field `id_func` has a function for its default.
@pytest.mark.filterwarnings("ignore:Default value <function default_id_func")
@pytest.mark.parametrize("mode", ["validation", "serialization"])
@pytest.mark.parametrize("component", [*CHAINS, *ENGINES])
def test_json_schemas_can_be_made(component, mode):
    if isinstance(component, BaseModel):
        assert component.model_json_schema(mode=mode)["type"] == "object"


@pytest.mark.parametrize("component", CHAINS)
def test_schemas_of_runnables_can_be_made(component):
    if hasattr(component, "invoke"):
        assert component.get_input_jsonschema()
        assert component.get_output_jsonschema()
        assert component.config_schema().model_json_schema()
        assert component.get_graph().to_json()


@pytest.mark.parametrize(
    "component", [each for each in ENGINES if hasattr(each, "to_dict")]
)
def test_components_of_llamaindex_come_back_from_a_dictionary_by_their_name(component):
    if getattr(component, "tokenizer", None) is len:  # has to be passed again
        component = type(component)(chunk_size=9)
    again = type(component).from_dict(component.to_dict())

    assert component.class_name() == type(component).__name__
    assert again.to_dict() == component.to_dict()


def folder(tmp_path):
    (tmp_path / "a.txt").write_text("# A\nOne.")
    return tmp_path


@pytest.mark.parametrize(
    "make",
    [
        folder,
        lambda _: {"a.txt": "# A\nOne."},
        lambda _: [NodeDocument(text="# A\nOne.", id_="a.txt")],
    ],
    ids=["folder", "mapping", "list"],
)
def test_an_annotator_comes_back_with_its_documents(tmp_path, make):
    annotator = llamaindex_oprag.PositionAnnotator(make(tmp_path))
    (whole,) = llamaindex_oprag.OffsetTokenNodeParser().get_nodes_from_documents(
        [NodeDocument(text="# A\nOne.", id_="a.txt")]
    )
    whole = whole.model_copy(update={"metadata": {}})

    for again in (
        llamaindex_oprag.PositionAnnotator.from_dict(annotator.to_dict()),
        llamaindex_oprag.PositionAnnotator.from_json(annotator.to_json()),
    ):
        (placed,) = again([whole])
        assert placed.metadata["char_end"] == len("# A\nOne.")


@pytest.mark.parametrize("wrap", [dict, lambda texts: texts.get])
async def test_full_texts_of_some_documents_may_be_missing(wrap):
    text = "".join(chunk(number).page_content for number in range(2))
    other = chunk(0, source="other.txt")
    some = langchain_oprag.OrderPreservingRetriever(
        base_retriever=ListRetriever(documents=[chunk(0), other, chunk(1)]),
        merge=True,
        documents=wrap({"book.txt": text}),
    )

    found = some.invoke("question")

    assert [each.page_content for each in found] == [text, other.page_content]
    assert await some.ainvoke("question") == found
