"""Every component: a `repr` without full texts, schemas, and a way back."""

import pytest
from llama_index.core.schema import Document
from pydantic import BaseModel

import llamaindex_oprag
from tests.kit.material import Material
from tests.langchain.components import COMPONENTS as OF_LANGCHAIN
from tests.langchain.components import RUNNABLES
from tests.llamaindex.components import COMPONENTS as OF_LLAMAINDEX

SHORT = Material(600)
"""One line, longer than a chunk."""
MADE = [
    (name, component.make(SHORT))
    for table in (OF_LANGCHAIN, OF_LLAMAINDEX)
    for name, component in table.items()
    if "," not in name
]
EVERY = pytest.mark.parametrize(
    "component",
    [
        pytest.param(made, id=name)
        for name, made in MADE
        if "oprag" in type(made).__module__
    ],
)


@EVERY
def test_the_repr_has_no_full_text(component):
    shown = repr(component).replace(repr(SHORT.unit), "")  # by the base's own
    assert SHORT.text not in shown


# LlamaIndex's own field `id_func` has a function for its default.
@pytest.mark.filterwarnings("ignore:Default value <function default_id_func")
@pytest.mark.parametrize("mode", ["validation", "serialization"])
@EVERY
def test_json_schemas_can_be_made(component, mode):
    if isinstance(component, BaseModel):
        assert component.model_json_schema(mode=mode)["type"] == "object"


@pytest.mark.parametrize("name", RUNNABLES)
def test_schemas_of_runnables_can_be_made(name):
    component = RUNNABLES[name].make(SHORT)
    assert component.get_input_jsonschema()
    assert component.get_output_jsonschema()
    assert component.config_schema().model_json_schema()
    assert component.get_graph().to_json()


def folder(tmp_path):
    (tmp_path / "a.txt").write_text("# A\nOne.")
    return tmp_path


@pytest.mark.parametrize(
    "make",
    [
        folder,
        lambda _: {"a.txt": "# A\nOne."},
        lambda _: [Document(text="# A\nOne.", id_="a.txt")],
    ],
    ids=["folder", "mapping", "list"],
)
def test_an_annotator_comes_back_with_its_documents(tmp_path, make):
    annotator = llamaindex_oprag.PositionAnnotator(make(tmp_path))
    (whole,) = llamaindex_oprag.OffsetTokenNodeParser().get_nodes_from_documents(
        [Document(text="# A\nOne.", id_="a.txt")]
    )
    whole = whole.model_copy(update={"metadata": {}})

    for again in (
        llamaindex_oprag.PositionAnnotator.from_dict(annotator.to_dict()),
        llamaindex_oprag.PositionAnnotator.from_json(annotator.to_json()),
    ):
        (placed,) = again([whole])
        assert placed.metadata["char_end"] == len("# A\nOne.")
