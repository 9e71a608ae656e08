"""Node parsers: exact offsets, documents of several parts, the places they fit."""

from __future__ import annotations

import json
import pickle
import random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from llama_index.core import Document, Settings, VectorStoreIndex
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.ingestion.pipeline import get_transformation_hash
from llama_index.core.node_parser import (
    HierarchicalNodeParser,
    MarkdownNodeParser,
    NodeParser,
    SentenceSplitter,
    get_leaf_nodes,
)
from llama_index.core.node_parser.interface import TextSplitter
from llama_index.core.schema import BaseNode, ImageDocument, MetadataMode, NodeWithScore

from llamaindex_oprag import (
    OffsetSentenceNodeParser,
    OffsetTokenNodeParser,
    OrderPreservingPostprocessor,
)
from oprag.errors import (
    InvalidOptionError,
    MissingPositionError,
    PositionError,
    TokenizerError,
)
from oprag.metadata import OWN_KEYS, document_key, short_hash
from oprag.splitting import split_sentences, split_tokens
from oprag.testing import SplitterSuite
from oprag.tokens import resolve_token_counter
from tests.corpora import texts
from tests.handed_out import told
from tests.llamaindex.corpus import QUESTION, TEXT, document, numbers
from tests.llamaindex.recording import WordEmbedding

PARSERS = [
    OffsetTokenNodeParser(chunk_size=16),
    OffsetSentenceNodeParser(chunk_size=24),
]
MARKDOWN = "\n\n".join(
    f"{'#' * (1 + number % 3)} Head {number}\n\nText §{number}§ " + "and more " * number
    for number in range(12)
)


@pytest.fixture(params=PARSERS, ids=lambda parser: parser.class_name())
def parser(request) -> NodeParser:
    return request.param


def words(text: str) -> int:
    return len(text.split())


def pages(*labels: str, key: str = "page_label", **metadata: Any) -> list[Document]:
    """One document per page, as readers of PDF files give them."""
    return [
        Document(
            text=f"This is page {label}. It has two sentences, and this is longer.",
            metadata={"file_path": "book.pdf", key: label, **metadata},
        )
        for label in labels
    ]


def in_document_order(nodes: list[BaseNode], seed: int = 0) -> list[BaseNode]:
    shuffled = [NodeWithScore(node=node) for node in nodes]
    random.Random(seed).shuffle(shuffled)  # noqa: S311 -- a test's shuffle
    ordered = OrderPreservingPostprocessor().postprocess_nodes(shuffled)
    return [node.node for node in ordered]


class TestTokens(SplitterSuite):
    chunk_size = 32
    parser = OffsetTokenNodeParser(chunk_size=32, chunk_overlap=8)
    count = staticmethod(resolve_token_counter("cl100k_base"))

    def split(self, text):
        nodes = self.parser.get_nodes_from_documents([Document(text=text)])
        return [(n.text, n.start_char_idx, n.end_char_idx) for n in nodes]


class TestSentences(TestTokens):
    parser = OffsetSentenceNodeParser(chunk_size=32)


class TestOffsets:
    @given(texts, st.sampled_from(PARSERS))
    # White space to some expressions of nltk's and not to others.
    @example("One.\x1fTwo. Three.\x1c", OffsetSentenceNodeParser(chunk_size=24))
    def test_nodes_partition_the_text(self, text, parser):
        nodes = parser.get_nodes_from_documents([Document(text=text)])

        assert "".join(node.text for node in nodes) == text
        for node in nodes:
            assert node.text == text[node.start_char_idx : node.end_char_idx]
            assert node.metadata["char_start"] == node.start_char_idx
            assert node.metadata["char_end"] == node.end_char_idx

    def test_text_that_repeats_itself_is_placed_right(self):
        """LlamaIndex's own search finds most of these in the wrong place."""
        text = "word " * 500
        parser = OffsetTokenNodeParser(chunk_size=32, chunk_overlap=8)

        nodes = parser.get_nodes_from_documents([document(text=text)])

        expected = split_tokens(text, chunk_size=32, chunk_overlap=8)
        assert [(n.start_char_idx, n.end_char_idx) for n in nodes] == [
            (chunk.start, chunk.end) for chunk in expected
        ]

    def test_it_cuts_where_the_core_cuts(self):
        def spans(parser):
            return [
                (node.metadata["char_start"], node.metadata["char_end"])
                for node in parser.get_nodes_from_documents([document()])
            ]

        tokens = split_tokens(
            TEXT, chunk_size=20, chunk_overlap=5, tokenizer="approximate"
        )
        by_tokens = OffsetTokenNodeParser(
            chunk_size=20, chunk_overlap=5, tokenizer="approximate"
        )
        assert spans(by_tokens) == [(chunk.start, chunk.end) for chunk in tokens]
        sentences = split_sentences(TEXT, chunk_size=30)
        by_sentences = OffsetSentenceNodeParser(chunk_size=30)
        assert spans(by_sentences) == [(chunk.start, chunk.end) for chunk in sentences]

    def test_sentences_may_be_found_by_the_user(self):
        parser = OffsetSentenceNodeParser(
            chunk_size=2, tokenizer=words, sentence_spans=lambda _: [(0, 2), (2, 5)]
        )

        assert parser.split_text("a b c") == ["a ", "b c"]

    def test_defaults_are_those_of_the_papers(self):
        assert OffsetTokenNodeParser().chunk_size == 128
        assert OffsetTokenNodeParser().chunk_overlap == 0
        assert OffsetSentenceNodeParser().chunk_size == 100

    def test_an_empty_document_has_no_nodes(self, parser):
        nodes = parser.get_nodes_from_documents([document(text=""), document("b")])

        assert {node.ref_doc_id for node in nodes} == {"b"}

    async def test_async_gives_the_same(self, parser):
        documents = [document("a"), document("b")]

        nodes = await parser.aget_nodes_from_documents(documents)
        assert nodes == parser.get_nodes_from_documents(documents)

    def test_documents_are_not_written_to(self, parser):
        source = document(title="A title")
        before = source.model_copy(deep=True)

        parser.get_nodes_from_documents([source])

        assert source == before


class TestMetadata:
    def test_the_flat_keys_are_written(self):
        parser = OffsetTokenNodeParser(chunk_size=3, tokenizer="cl100k_base")

        text = "one two three four"
        nodes = parser.get_nodes_from_documents([document("a b", text)])

        stamp = {"text_length": 18, "text_hash": short_hash(text, 12)}
        assert nodes[0].metadata["doc_version"].endswith(short_hash(text, 12))
        assert [node.metadata for node in nodes] == [
            {
                "doc_key": document_key("a b"),
                "doc_uri": "a b",
                "doc_version": nodes[0].metadata["doc_version"],
                "chunk_index": index,
                "n_chunks": 2,
                "char_start": start,
                "char_end": end,
                "token_count": count,
                "token_counter": "cl100k_base",
                **(stamp if index == 0 else {}),
            }
            for index, (start, end, count) in enumerate([(0, 13, 3), (13, 18, 1)])
        ]

    def test_no_count_is_stored_for_a_counter_without_a_name(self):
        parser = OffsetTokenNodeParser(tokenizer=words)

        (node,) = parser.get_nodes_from_documents([document(text="one two")])

        assert not {"token_count", "token_counter"} & set(node.metadata)

    def test_no_model_is_shown_our_keys(self, parser):
        source = document(title="A title", secret="x")
        source.excluded_llm_metadata_keys = ["secret"]

        (node, *_) = parser.get_nodes_from_documents([source])

        assert (
            node.get_content(MetadataMode.LLM)
            == f"title: A title\n\n{node.text}".strip()
        )
        embedded = node.get_content(MetadataMode.EMBED)
        assert embedded == f"title: A title\nsecret: x\n\n{node.text}".strip()
        assert source.excluded_llm_metadata_keys == ["secret"]

    def test_the_documents_metadata_can_be_left_out(self):
        parser = OffsetTokenNodeParser(include_metadata=False)

        (node, *_) = parser.get_nodes_from_documents([document(title="A title")])

        assert set(node.metadata) <= set(OWN_KEYS)

    def test_templates_and_classes_are_the_documents(self, parser):
        source = document(title="A title")
        source.text_template = "<{metadata_str}> {content}"
        (node, *_) = parser.get_nodes_from_documents([source])
        assert node.get_content(MetadataMode.LLM).startswith("<title: A title> ")

        image = ImageDocument(text="A caption.", image=b"00")
        (node,) = parser.get_nodes_from_documents([image])
        assert (node.class_name(), node.image) == ("ImageNode", "MDA=")

    def test_the_embedding_of_the_document_is_not_that_of_a_chunk(self, parser):
        source = document()
        source.embedding = [1.0]

        for node in parser.get_nodes_from_documents([source]):
            assert node.embedding is None

    def test_relationships_are_source_and_neighbours_in_the_document(self, parser):
        nodes = parser.get_nodes_from_documents([document("a"), document("b")])

        for name in "ab":
            own = [node for node in nodes if node.ref_doc_id == name]
            ids = [node.node_id for node in own]
            assert [n.prev_node and n.prev_node.node_id for n in own] == [
                None,
                *ids[:-1],
            ]
            assert [n.next_node and n.next_node.node_id for n in own] == [
                *ids[1:],
                None,
            ]

    def test_neighbours_can_be_left_out(self):
        parser = OffsetTokenNodeParser(chunk_size=16, include_prev_next_rel=False)

        for node in parser.get_nodes_from_documents([document()]):
            assert node.prev_node is None
            assert node.next_node is None


class TestNames:
    @pytest.mark.parametrize(
        ("metadata", "name"),
        [
            ({}, "id"),
            ({"file_path": "f.txt", "source": "web"}, "f.txt"),
            ({"file_path": "f.txt", "section": "2"}, "f.txt"),
            ({"file_path": "f.pdf", "page_label": "2"}, "f.pdf"),
            ({"source": "f.pdf", "page": 1}, "f.pdf"),
            ({"file_path": "f.pdf", "page_label": "2", "doc_uri": "u"}, "u"),
            ({"doc_uri": "u"}, "u"),
        ],
    )
    def test_a_document_is_named_as_retrieval_names_it(self, parser, metadata, name):
        (node, *_) = parser.get_nodes_from_documents([document("id", **metadata)])

        assert node.metadata.get("doc_uri") == name
        assert node.metadata["doc_key"] == document_key(name)


class TestParts:
    parser = OffsetSentenceNodeParser(chunk_size=9)

    def test_pages_are_parts_of_one_document(self):
        documents = pages("1", "2", "3")

        nodes = self.parser.get_nodes_from_documents(documents)

        assert [node.metadata["part_index"] for node in nodes] == [
            0,
            0,
            0,
            1,
            1,
            1,
            2,
            2,
            2,
        ]
        assert [node.metadata["chunk_index"] for node in nodes] == list(range(9))
        assert {node.metadata["n_chunks"] for node in nodes} == {9}
        assert {node.metadata.get("doc_uri") for node in nodes} == {"book.pdf"}
        for node in nodes:
            page = documents[node.metadata["part_index"]]
            assert node.ref_doc_id == page.id_
            assert node.text == page.text[node.start_char_idx : node.end_char_idx]
        assert told(in_document_order(nodes)) == told(nodes)

    def test_page_by_page_keeps_the_place_and_the_ids_of_another_run(self):
        """As `index.insert` and `refresh_ref_docs` hand documents over."""
        together = self.parser.get_nodes_from_documents(pages("9", "10", "11"))
        alone, again = (
            [
                node
                for page in pages("9", "10", "11")
                for node in self.parser.get_nodes_from_documents([page])
            ]
            for _ in range(2)
        )

        assert [node.node_id for node in alone] == [node.node_id for node in again]
        assert len({node.node_id for node in alone}) == len(alone)
        assert told(in_document_order(alone, seed=3)) == told(alone)
        assert [node.metadata["part_index"] for node in alone] == [
            node.metadata["part_index"] for node in together
        ]

    def test_pages_are_numbered_by_their_number_whatever_their_order(self):
        shuffled = self.parser.get_nodes_from_documents(pages("10", "9", "1"))

        labels = [node.metadata["page_label"] for node in in_document_order(shuffled)]
        assert list(dict.fromkeys(labels)) == ["1", "9", "10"]
        # The nodes themselves come in the order of the documents.
        assert shuffled[0].metadata["page_label"] == "10"
        assert shuffled[0].metadata["chunk_index"] == 6

    def test_pages_from_0_stay_from_0(self):
        nodes = self.parser.get_nodes_from_documents(pages(0, 1, key="page"))

        assert {node.metadata["part_index"] for node in nodes} == {0, 1}

    @pytest.mark.parametrize("labels", [("i", "ii", "1"), ("1", "2", "1"), ("0", "1")])
    def test_labels_that_do_not_number_the_pages_leave_the_order_given(self, labels):
        nodes = self.parser.get_nodes_from_documents(pages(*labels))

        read = [node.metadata["page_label"] for node in in_document_order(nodes)]
        assert read == [label for label in labels for _ in range(3)]

    def test_a_roman_page_alone_is_an_error(self):
        with pytest.raises(
            MissingPositionError, match=r"page_label='ii'.*`page`"
        ) as caught:
            self.parser.get_nodes_from_documents(pages("ii"))
        assert caught.value.document == "book.pdf"

    def test_sections_of_one_file_are_parts_in_the_order_given(self):
        documents = [
            document(f"{i}", f"Section {name}.", file_path="f.md", header_path=name)
            for i, name in enumerate("ba")
        ]

        nodes = self.parser.get_nodes_from_documents(documents)

        assert {node.metadata.get("doc_uri") for node in nodes} == {"f.md"}
        assert [node.metadata["part_index"] for node in nodes] == [0, 1]

    def test_documents_with_one_name_are_parts_of_it(self):
        documents = [document(f"{i}", text, doc_uri="u") for i, text in enumerate("ba")]

        nodes = self.parser.get_nodes_from_documents(documents)

        assert [node.text for node in in_document_order(nodes)] == ["b", "a"]

    def test_an_empty_page_counts_as_a_page(self):
        documents = pages("1", "2", "3")
        documents[1].set_content("")

        nodes = self.parser.get_nodes_from_documents(documents)

        assert {node.metadata["part_index"] for node in nodes} == {0, 2}


class TestIds:
    def test_they_are_the_same_on_every_run(self, parser):
        first = parser.get_nodes_from_documents([document("a"), *pages("1", "2")])
        second = parser.get_nodes_from_documents([document("a"), *pages("1", "2")])

        assert [node.node_id for node in first] == [node.node_id for node in second]

    def test_they_never_collide(self):
        documents = [
            document("a"),
            document("b"),
            *pages("1", "2"),
            *pages("1", "2", doc_uri="other"),
        ]
        parsers = [*PARSERS, OffsetTokenNodeParser(chunk_size=32)]

        ids = [
            node.node_id
            for parser in parsers
            for node in parser.get_nodes_from_documents(documents)
        ]
        assert len(set(ids)) == len(ids)

    def test_the_users_own_function_is_used(self):
        parser = OffsetTokenNodeParser(
            chunk_size=16, id_func=lambda i, source: f"{source.id_}-{i}"
        )

        nodes = parser.get_nodes_from_documents([document("a"), document("b")])

        own = [node.node_id for node in nodes if node.ref_doc_id == "b"]
        assert own == [f"b-{i}" for i in range(len(own))]


class TestChained:
    def test_sections_of_another_parser_keep_their_order(self, parser):
        """What LlamaIndex's own second parser gets wrong for nearly every node."""
        pipeline = IngestionPipeline(transformations=[MarkdownNodeParser(), parser])

        nodes = pipeline.run(
            documents=[document("a", MARKDOWN), document("b", MARKDOWN)]
        )

        for name in "ab":
            own = [node for node in nodes if node.ref_doc_id == name]
            assert told(in_document_order(own)) == told(own)
            assert numbers("".join(node.text for node in own)) == list(range(12))
        assert len({node.node_id for node in nodes}) == len(nodes)
        # Where a section begins in the document is not known: nothing is claimed.
        assert {node.start_char_idx for node in nodes} == {None}
        scored = [NodeWithScore(node=node) for node in nodes]
        merged = OrderPreservingPostprocessor(merge=True).postprocess_nodes(scored)
        assert {node.node.start_char_idx for node in merged} == {None}
        assert len(merged) == 24  # sections are not joined

    def test_sections_of_pages_stand_by_page_first(self, parser):
        documents = [
            document(
                f"{page}", f"# A {page}\n\none\n\n# B\n\ntwo", page=page, source="s"
            )
            for page in (1, 0)
        ]
        chain = IngestionPipeline(transformations=[MarkdownNodeParser(), parser])

        together = chain.run(documents=documents)
        alone = [node for doc in documents for node in chain.run(documents=[doc])]

        for nodes in (together, alone):
            ordered = in_document_order(nodes)
            assert [node.metadata["page"] for node in ordered] == sorted(
                node.metadata["page"] for node in nodes
            )
            assert ordered[0].text.startswith("# A 0")

    def test_a_section_without_the_others_is_an_error(self, parser):
        sections = MarkdownNodeParser().get_nodes_from_documents(
            [document("a", MARKDOWN)]
        )

        with pytest.raises(PositionError, match="together"):
            parser.get_nodes_from_documents([sections[3]])

    def test_a_hierarchy_of_ours_counts_from_the_document_on_every_level(self):
        levels = {
            "large": OffsetTokenNodeParser(chunk_size=120),
            "middle": OffsetSentenceNodeParser(chunk_size=60),
            "small": OffsetTokenNodeParser(chunk_size=16),
        }
        parser = HierarchicalNodeParser.from_defaults(
            node_parser_ids=list(levels), node_parser_map=levels
        )

        nodes = parser.get_nodes_from_documents([document()])

        assert len({node.node_id for node in nodes}) == len(nodes)
        for node in nodes:
            assert node.text == TEXT[node.start_char_idx : node.end_char_idx]
            assert node.metadata["char_start"] == node.start_char_idx
        leaves = get_leaf_nodes(nodes)
        assert "".join(leaf.text for leaf in leaves) == TEXT
        assert told(in_document_order(leaves)) == told(leaves)

    def test_a_chunk_of_a_page_stays_on_its_page(self):
        large = OffsetTokenNodeParser(chunk_size=12)
        small = OffsetTokenNodeParser(chunk_size=5)
        documents = pages("1", "2")

        nodes = small.get_nodes_from_documents(
            large.get_nodes_from_documents(documents)
        )

        assert [node.metadata["chunk_index"] for node in nodes] == list(
            range(len(nodes))
        )
        for node in nodes:
            page = documents[node.metadata["part_index"]]
            assert node.ref_doc_id == page.id_
            assert node.text == page.text[node.start_char_idx : node.end_char_idx]

    def test_a_parser_of_llamaindex_behind_ours_does_not_disorder_unseen(self):
        """Its nodes inherit our span: those of one chunk have the same."""
        theirs = SentenceSplitter(chunk_size=40, chunk_overlap=0)
        chain = [OffsetTokenNodeParser(chunk_size=64), theirs]
        nodes = IngestionPipeline(transformations=chain).run(documents=[document()])
        different = [nodes[-1], nodes[0]]
        assert (
            different[0].metadata["char_start"] != different[1].metadata["char_start"]
        )

        assert told(in_document_order(different)) == told(different[::-1])
        with pytest.raises(ValueError, match="same position"):
            in_document_order(nodes)


class TestPlacesInLlamaIndex:
    def test_it_is_a_text_splitter_and_cuts_plain_texts(self, parser):
        assert isinstance(parser, TextSplitter)
        assert "".join(parser.split_text(TEXT)) == TEXT
        assert (
            len(parser.split_texts([TEXT, "More."])) == len(parser.split_text(TEXT)) + 1
        )

    def test_as_the_settings_text_splitter(self, parser):
        before = Settings._node_parser, Settings._transformations
        Settings._transformations = None  # LlamaIndex remembers those used first
        Settings.text_splitter = parser
        try:
            lease = VectorStoreIndex.from_documents(
                [document()], embed_model=WordEmbedding()
            )
        finally:
            Settings._node_parser, Settings._transformations = before
        nodes = lease.as_retriever(similarity_top_k=3).retrieve(QUESTION)
        assert all("char_start" in node.metadata for node in nodes)

    def test_documents_inserted_one_by_one(self, parser):
        lease = VectorStoreIndex(
            [], embed_model=WordEmbedding(), transformations=[parser]
        )
        for page in pages("2", "1", "3"):
            lease.insert(page)

        found = lease.as_retriever(similarity_top_k=9).retrieve("page")
        ordered = OrderPreservingPostprocessor().postprocess_nodes(found)

        labels = [node.metadata["page_label"] for node in ordered]
        assert labels == sorted(labels)
        assert set(labels) == {"1", "2", "3"}

    def test_ingesting_twice_uses_the_cache_and_another_tokenizer_does_not(self):
        source = [document()]
        hashes = {
            get_transformation_hash(source, OffsetTokenNodeParser(tokenizer=tokenizer))
            for tokenizer in (None, "approximate", words, len)
        }
        assert len(hashes) == 4

        pipeline = IngestionPipeline(transformations=[OffsetTokenNodeParser()])
        first = pipeline.run(documents=source)
        assert pipeline.run(documents=source) == first

    def test_progress_can_be_shown(self, parser, capsys):
        parser.get_nodes_from_documents([document()], show_progress=True)

        assert "Parsing nodes" in capsys.readouterr().err


class TestOptions:
    @pytest.mark.parametrize(
        ("cls", "options"),
        [
            (OffsetTokenNodeParser, {"size": 3}),
            (OffsetTokenNodeParser, {"chunk_size": 0}),
            (OffsetTokenNodeParser, {"chunk_overlap": -1}),
            (OffsetTokenNodeParser, {"chunk_overlap": 128}),
            (OffsetSentenceNodeParser, {"chunk_overlap": 3}),
            (OffsetSentenceNodeParser, {"chunk_size": 0}),
            (OffsetSentenceNodeParser, {"sentence_spans": "english"}),
        ],
    )
    def test_unknown_options_and_impossible_values_are_rejected(self, cls, options):
        with pytest.raises(InvalidOptionError, match=next(iter(options))):
            cls(**options)

    def test_a_dict_and_back(self, parser):
        data = json.loads(json.dumps(parser.to_dict()))

        assert data["class_name"] == type(parser).__name__
        again = type(parser).from_dict(data)
        assert again.to_dict() == parser.to_dict()
        assert again.split_text(TEXT) == parser.split_text(TEXT)

    def test_a_tokenizer_comes_back_by_its_name(self):
        tokenizer = resolve_token_counter("approximate")
        parser = OffsetTokenNodeParser(chunk_size=9, tokenizer=tokenizer)

        again = OffsetTokenNodeParser.from_dict(parser.to_dict())

        assert again.tokenizer == "approximate"
        assert again.split_text(TEXT) == parser.split_text(TEXT)

    def test_a_callable_does_not_come_back_unseen(self):
        parser = OffsetTokenNodeParser(tokenizer=words)
        data = parser.to_dict()

        with pytest.raises(TokenizerError, match="pass it again"):
            OffsetTokenNodeParser.from_dict(data)
        again = OffsetTokenNodeParser.from_dict(data, tokenizer=words)
        assert again.split_text(TEXT) == parser.split_text(TEXT)

    def test_an_id_function_does_not_come_back_unseen(self):
        parser = OffsetTokenNodeParser(id_func=lambda i, _: str(i))

        with pytest.raises(InvalidOptionError):
            OffsetTokenNodeParser.from_dict(parser.to_dict())

    def test_a_pickle_and_back(self):
        """As a pipeline with several workers sends it to them."""
        parser = OffsetTokenNodeParser(chunk_size=9, tokenizer=words)

        again = pickle.loads(pickle.dumps(parser))  # noqa: S301 -- ours
        assert again.split_text(TEXT) == parser.split_text(TEXT)

        parser = OffsetSentenceNodeParser(sentence_spans=lambda _: [])
        with pytest.raises(pickle.PicklingError, match="sentence_spans"):
            pickle.dumps(parser)
