"""`PositionAnnotator`: offsets that chained and hierarchical parsers get wrong."""

import copy

import pytest
from llama_index.core import Document
from llama_index.core.ingestion import IngestionCache, IngestionPipeline
from llama_index.core.node_parser import (
    HierarchicalNodeParser,
    MarkdownNodeParser,
    SentenceSplitter,
    get_leaf_nodes,
)

from llamaindex_oprag import PositionAnnotator
from oprag.errors import DocumentNotFoundError

TEXT = "\n\n".join(
    f"# Part {part}\n\n"
    + " ".join(f"Sentence {part}-{n} stands here." for n in range(40))
    for part in range(4)
)
CHAIN = [MarkdownNodeParser(), SentenceSplitter(chunk_size=64, chunk_overlap=0)]


def _document(name="d.md", text=TEXT, **metadata):
    return Document(text=text, id_=name, metadata=metadata)


def _slices_hold(nodes, text=TEXT):
    for node in nodes:
        start, end = node.metadata["char_start"], node.metadata["char_end"]
        assert (node.start_char_idx, node.end_char_idx) == (start, end)
        assert text[start:end] == node.text


def test_every_level_of_a_hierarchy_is_located():
    documents = [_document()]
    parser = HierarchicalNodeParser.from_defaults(chunk_sizes=[512, 128, 64])
    made = parser.get_nodes_from_documents(documents)
    assert any(TEXT[n.start_char_idx : n.end_char_idx] != n.text for n in made)

    nodes = PositionAnnotator(documents=documents)(made)
    _slices_hold(nodes)
    assert [node.node_id for node in nodes] == [node.node_id for node in made]
    leaves = get_leaf_nodes(nodes)
    assert [n.metadata["chunk_index"] for n in leaves] == list(range(len(leaves)))
    assert all(("chunk_index" in node.metadata) == (node in leaves) for node in nodes)


def test_given_nodes_are_not_changed_and_the_prompt_shows_no_new_keys():
    documents = [_document(file_name="d.md")]
    made = SentenceSplitter(chunk_size=64, chunk_overlap=8).get_nodes_from_documents(
        documents
    )
    before = copy.deepcopy(made)

    nodes = PositionAnnotator(documents=documents)(made)
    assert made == before
    for old, new in zip(made, nodes, strict=True):
        assert new.get_content(metadata_mode="llm") == old.get_content(
            metadata_mode="llm"
        )
        assert new.get_content(metadata_mode="embed") == old.get_content(
            metadata_mode="embed"
        )


EDITED = TEXT.replace("# Part 1", "Something new stands before it.\n\n# Part 1")
ADDED = "# New\n\n" + " ".join(f"A word {n} of another text." for n in range(40))


@pytest.mark.parametrize("cached", [True, False])
def test_a_pipeline_that_is_kept_takes_the_texts_from_each_run(cached):
    annotator = PositionAnnotator()
    pipeline = IngestionPipeline(
        transformations=[annotator, *CHAIN, annotator], disable_cache=not cached
    )
    runs = [
        {"d.md": TEXT},
        {"d.md": TEXT, "new.md": ADDED},
        {"d.md": EDITED},
        {"d.md": TEXT},
        {"d.md": "Total: 5.\n\n# Two\n\nTotal: 5. Heat is due."},  # few witnesses
    ]
    for texts in runs:
        nodes = pipeline.run(documents=[_document(*each) for each in texts.items()])

        for name, text in texts.items():
            members = [node for node in nodes if node.ref_doc_id == name]
            _slices_hold(members, text)
            starts = [node.start_char_idx for node in members]
            assert starts == sorted({*starts})
            assert len(starts) > 1


def test_a_cache_that_another_process_kept_needs_the_documents():
    documents = [_document()]

    def run(annotators, size, cache):
        chain = [
            MarkdownNodeParser(),
            SentenceSplitter(chunk_size=size, chunk_overlap=0),
        ]
        steps = [*annotators[1:], *chain, annotators[0]]
        pipeline = IngestionPipeline(transformations=steps, cache=cache)
        return pipeline.run(documents=documents)

    first, later = PositionAnnotator(), PositionAnnotator()
    cache = IngestionCache()
    run([first, first], 60, cache)

    with pytest.raises(DocumentNotFoundError, match="with a cache from before"):
        run([later, later], 40, cache)
    _slices_hold(run([PositionAnnotator(documents)], 40, cache))


def test_of_an_edited_document_no_place_is_found_in_its_old_text():
    annotator = PositionAnnotator([_document()])
    pipeline = IngestionPipeline(transformations=[*CHAIN, annotator])

    for text in (EDITED, TEXT[:-200], TEXT.replace("3-7 ", "")):
        with pytest.raises(DocumentNotFoundError, match="was edited"):
            pipeline.run(documents=[_document(text=text)])


def test_other_metadata_are_no_other_text():
    annotator = PositionAnnotator([_document(text=EDITED)])
    pipeline = IngestionPipeline(transformations=[*CHAIN, annotator])

    _slices_hold(pipeline.run(documents=[_document(text=EDITED, title="T")]), EDITED)


async def test_nodes_of_a_document_that_it_has_not_seen_are_refused():
    nodes = IngestionPipeline(transformations=CHAIN).run(documents=[_document()])
    annotator = PositionAnnotator()

    with pytest.raises(DocumentNotFoundError, match="before the parsers"):
        annotator(nodes)
    assert await annotator.acall([_document()]) == [_document()]
    _slices_hold(await annotator.acall(nodes))
