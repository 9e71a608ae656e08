"""`annotate_positions`: wrong and missing positions are repaired."""

import pytest
from langchain_core.documents import Document
from langchain_text_splitters import RecursiveCharacterTextSplitter

from langchain_oprag import annotate_positions
from oprag.errors import DocumentNotFoundError, InvalidOptionError
from tests.kit.handed_out import ids_and_texts


@pytest.mark.parametrize("as_mapping", [True, False])
def test_chunks_of_several_documents_get_places_each_in_its_own(as_mapping):
    texts = {"b.txt": "Boats wait here. Boats leave.", "a.txt": "Boats leave. At noon."}
    loaded = [Document(text, metadata={"source": name}) for name, text in texts.items()]
    splitter = RecursiveCharacterTextSplitter(chunk_size=16, chunk_overlap=0)
    chunks = splitter.split_documents(loaded)
    mixed = [*chunks[2:], *chunks[:2]]

    annotated = annotate_positions(iter(mixed), texts if as_mapping else loaded)

    assert ids_and_texts(annotated) == ids_and_texts(mixed)
    for document in annotated:
        metadata = document.metadata
        start, end = metadata["char_start"], metadata["char_end"]
        assert texts[metadata["source"]][start:end] == document.page_content
        assert metadata["n_chunks"] == 2
    with pytest.raises(DocumentNotFoundError, match="document 'b"):
        annotate_positions(chunks, {"a.txt": ""})


def test_texts_of_one_name_that_nothing_tells_apart_are_refused():
    loaded = [Document(text, metadata={"source": "a"}) for text in ("One. ", "Two.")]

    with pytest.raises(InvalidOptionError, match="page=0"):
        annotate_positions(loaded, loaded)
