"""Nodes in, nodes out: what is the caller's own object, and what a copy holds."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.bridge.pydantic import ConfigDict
from llama_index.core.schema import (
    BaseNode,
    Document,
    ImageNode,
    IndexNode,
    MediaResource,
    MetadataMode,
    Node,
    NodeRelationship,
    NodeWithScore,
    RelatedNodeInfo,
    TextNode,
)

from llamaindex_oprag import OffsetTokenNodeParser, OrderPreservingPostprocessor
from oprag import Place, Span, place_of
from oprag.errors import (
    ConflictingPositionsError,
    MissingDocumentError,
    MissingPositionError,
    PositionError,
)
from oprag.metadata import without_reserved_keys
from tests.corpora import Retrieval, metadata, retrievals
from tests.llamaindex.corpus import TEXT, numbers_of, scored

MODES = st.fixed_dictionaries(
    {
        "merge": st.booleans(),
        "citations": st.booleans(),
        "order": st.sampled_from(["document", "score"]),
    }
)


def order(nodes: list[NodeWithScore], **options: Any) -> list[NodeWithScore]:
    return OrderPreservingPostprocessor(**options).postprocess_nodes(nodes)


def as_nodes(retrieval: Retrieval, style: str = "own") -> list[NodeWithScore]:
    return [
        NodeWithScore(
            node=TextNode(text=piece.text, metadata=metadata(piece, style)),
            score=1 / (rank + 1),
        )
        for rank, piece in enumerate(retrieval.pieces)
    ]


def in_source(
    text: str, start: int, *, cls: type[TextNode] = TextNode, **fields: Any
) -> TextNode:
    """A node of document `d` as LlamaIndex's own parsers make it."""
    source = RelatedNodeInfo(node_id="d")
    relationships = fields.pop("relationships", {})
    return cls(
        text=text,
        start_char_idx=start,
        end_char_idx=start + len(text),
        relationships={NodeRelationship.SOURCE: source, **relationships},
        **fields,
    )


@pytest.mark.filterwarnings("ignore::oprag.errors.UnfilledBudgetWarning")
def test_text_from_a_gap_that_reads_like_its_neighbour_has_a_place_of_its_own():
    metadatas = [{"source": "a", "start_index": start} for start in (0, 6)]
    found = with_scores(*(TextNode(text="ab ", metadata=each) for each in metadatas))

    _, between, _ = order(
        found,
        selection="recall",
        merge=False,
        token_budget=100,
        token_counter=len,
        documents={"a": "ab ab ab "},
    )
    metadata = between.node.metadata
    assert (metadata["oprag_start"], metadata["oprag_end"]) == (3, 6)
    assert between.node_id not in {each.node_id for each in found}


def with_scores(*nodes: BaseNode) -> list[NodeWithScore]:
    return [
        NodeWithScore(node=node, score=0.9 - i / 10) for i, node in enumerate(nodes)
    ]


class TestOwnObjects:
    def test_what_is_only_moved_is_a_copy_with_its_id_text_and_score(self, hits):
        ordered = order(hits)

        assert numbers_of(ordered) == sorted(numbers_of(hits))
        given_ones = {each.node_id: each for each in hits}
        for each in ordered:
            same = given_ones[each.node_id]
            assert each.node is not same.node
            assert (each.text, each.score) == (same.text, same.score)

    @given(retrievals(), MODES)
    def test_inputs_are_never_written_to(self, retrieval, mode):
        nodes = as_nodes(retrieval)
        before = copy.deepcopy(nodes)
        listed = list(nodes)

        order(nodes, **mode)

        assert nodes == before
        assert all(a is b for a, b in zip(nodes, listed, strict=True))

    @given(retrievals(), MODES, st.sampled_from(["best_rank", "first_seen"]))
    def test_applying_it_twice_changes_nothing(self, retrieval, mode, documents):
        once = order(as_nodes(retrieval), **mode, document_order=documents)

        twice = order(once, **mode, document_order=documents)
        assert twice == once

    @pytest.mark.parametrize("citations", [False, True])
    @pytest.mark.parametrize("begin", ["", "[…]\n\n", "\n\n"])
    def test_no_mark_is_written_into_a_node_nor_taken_out(self, citations, begin):
        touching, apart = in_source("first.", 0), in_source(f"{begin}second.", 90)

        first, second = order(with_scores(apart, touching), citations=citations)

        assert [first.text, second.text] == ["first.", f"{begin}second."]
        assert second.node.node_id == apart.node_id
        assert second.node.start_char_idx == 90


class TestMergedNodes:
    def test_text_span_and_score_are_those_of_the_whole(self):
        nodes = with_scores(
            in_source("lo, ", 3), in_source("Hel", 0), in_source("!", 7)
        )

        (merged,) = order(nodes, merge=True)

        assert merged.node.get_content() == "Hello, !"
        assert (merged.node.start_char_idx, merged.node.end_char_idx) == (0, 8)
        assert merged.node.metadata["oprag_start"] == 0
        assert merged.node.metadata["oprag_end"] == 8
        assert merged.score == 0.9  # of its best-ranked part

    def test_the_rest_of_the_metadata_is_that_of_the_first(self):
        first = in_source("one ", 0, metadata={"author": "A", "token_count": 1})
        first.metadata["token_counter"] = "words"
        second = in_source("two", 4, metadata={"author": "B"})

        (merged,) = order(with_scores(second, first), merge=True)

        assert without_reserved_keys(merged.node.metadata) == {"author": "A"}
        assert place_of(merged) == Place(
            document="d",
            key="d",
            part=None,
            start=0,
            end=7,
            spans=(Span(0, 7),),
            ids=(first.node_id, second.node_id),
            rank=0,
            citation="d, characters 0-7",
            exact=True,
            problem=None,
        )

    def test_spans_with_a_gap_stand_apart_in_the_metadata(self):
        nodes = with_scores(in_source("one", 0), in_source("two", 6))

        (merged,) = order(nodes, merge=True)

        assert merged.node.get_content() == "one\ntwo"
        assert merged.node.metadata["oprag_spans"] == "0-3,6-9"
        assert merged.node.metadata["oprag_exact"] is False

    def test_a_text_with_a_gap_is_not_taken_for_a_slice_the_next_time(self):
        """The line break for the one missing character makes the length the same."""
        once = order(with_scores(in_source("one", 0), in_source("two", 4)), merge=True)
        assert [node.text for node in once] == ["one\ntwo"]
        overlapping = with_scores(in_source("e two three", 2))

        again = order([*once, *overlapping], merge=True)

        assert [node.text for node in again] == ["one\ntwo", "e two three"]

    def test_the_gap_is_filled_from_the_document(self):
        nodes = with_scores(in_source("one", 0), in_source("two", 6))

        (merged,) = order(nodes, merge=True, documents={"d": "one – two"})

        assert merged.node.get_content() == "one – two"
        assert "oprag_spans" not in merged.node.metadata

    def test_keys_that_were_added_are_not_shown_to_any_model(self):
        nodes = with_scores(
            in_source("one ", 0, metadata={"author": "A"}), in_source("two", 6)
        )

        (merged,) = order(nodes, merge=True)

        for mode in (MetadataMode.LLM, MetadataMode.EMBED):
            assert merged.node.get_content(mode) == "author: A\n\none \ntwo"

    def test_ids_are_new_stable_and_distinct(self):
        nodes = with_scores(
            *(in_source("ab", start, id_=f"n{start}") for start in (0, 2, 50, 52))
        )

        first, second = order(nodes, merge=True)
        again = order(nodes, merge=True)

        ids = [first.node_id, second.node_id]
        assert len({*ids, "n0", "n2", "n50", "n52"}) == 6
        assert [node.node_id for node in again] == ids

    def test_relationships_that_still_hold_are_kept(self):
        def info(name):
            return RelatedNodeInfo(node_id=name)

        first = in_source("one ", 4, id_="1")
        first.relationships[NodeRelationship.PREVIOUS] = info("0")
        first.relationships[NodeRelationship.NEXT] = info("2")
        first.relationships[NodeRelationship.CHILD] = [info("child")]
        last = in_source("two", 8, id_="2")
        last.relationships[NodeRelationship.PREVIOUS] = info("1")
        last.relationships[NodeRelationship.NEXT] = info("3")

        (merged,) = order(with_scores(first, last), merge=True)

        assert merged.node.relationships == {
            NodeRelationship.SOURCE: info("d"),
            NodeRelationship.PREVIOUS: info("0"),
            NodeRelationship.NEXT: info("3"),
        }

    @pytest.mark.parametrize("same", [True, False])
    def test_a_parent_is_kept_when_all_share_it(self, same):
        nodes = [
            in_source(
                text, start, metadata={"char_start": start, "char_end": start + 2}
            )
            for text, start in (("ab", 0), ("cd", 2))
        ]
        for i, node in enumerate(nodes):
            info = RelatedNodeInfo(node_id="p" if same else f"p{i}")
            node.relationships[NodeRelationship.PARENT] = info

        (merged,) = order(with_scores(*nodes), merge=True)
        assert (merged.node.parent_node is not None) == same

    def test_an_embedding_of_other_text_is_dropped(self):
        nodes = [in_source("a", 0, embedding=[1.0]), in_source("b", 1, embedding=[0.0])]

        (merged,) = order(with_scores(*nodes), merge=True)

        assert merged.node.embedding is None

    def test_pages_are_not_joined_and_keep_their_number(self):
        nodes = [
            in_source(text, start, metadata={"file_path": "f.pdf", "page_label": page})
            for text, start, page in (
                ("c ", 0, "2"),
                ("a ", 0, "1"),
                ("b", 2, "1"),
                ("d", 2, "2"),
            )
        ]

        first, second = order(with_scores(*nodes), merge=True)

        assert [first.text, second.text] == ["a b", "c d"]
        assert first.metadata["oprag_part"] == 1
        assert order([second, first], merge=True) == [first, second]


class Frozen(TextNode):
    model_config = ConfigDict(frozen=True)


class Clipping(TextNode):
    """An application's own class with a field of its own."""

    newspaper: str = "Times"


class Foreign(BaseNode):
    """An application's class that keeps its text under another name."""

    content: str = ""

    @classmethod
    def get_type(cls):
        return "foreign"

    def get_content(self, metadata_mode=MetadataMode.ALL):
        return self.content

    def get_content_blocks(self, metadata_mode=MetadataMode.ALL):
        return []

    def set_content(self, value):
        self.content = value

    @property
    def hash(self):
        return self.content


class TestNodeClasses:
    @pytest.mark.parametrize("cls", [TextNode, ImageNode, Frozen, Clipping])
    def test_a_merged_node_is_of_the_class_of_its_parts(self, cls):
        nodes = with_scores(in_source("b", 1, cls=cls), in_source("a", 0, cls=cls))

        (merged,) = order(nodes, merge=True)

        assert type(merged.node) is cls
        assert merged.node.get_content() == "ab"

    def test_an_index_node_keeps_what_it_stands_for(self):
        node = in_source("a", 0, cls=IndexNode, index_id="table")

        (ordered,) = order(with_scores(node))

        assert ordered.node.index_id == "table"

    @pytest.mark.parametrize(
        ("cls", "text"),
        [
            (Node, lambda text: {"text_resource": MediaResource(text=text)}),
            (Document, lambda text: {"text": text}),
            (Foreign, lambda text: {"content": text}),
        ],
    )
    def test_classes_without_offsets_are_placed_by_their_metadata(self, cls, text):
        nodes = [
            cls(**text(word), metadata={"source": "s", "start_index": start})
            for word, start in (("two", 4), ("one ", 0))
        ]

        (merged,) = order(with_scores(*nodes), merge=True)

        assert type(merged.node) is cls
        assert merged.node.get_content(MetadataMode.NONE) == "one two"
        assert [node.get_content(MetadataMode.NONE) for node in nodes] == [
            "two",
            "one ",
        ]

    def test_a_plain_document_says_neither_its_place_nor_its_source(self):
        with pytest.raises(MissingDocumentError, match="document_key="):
            order(with_scores(Document(text="one", id_="d")))
        with pytest.raises(MissingPositionError):
            order(
                with_scores(
                    Document(text="one", metadata={"source": "s"}),
                    Document(text="two", metadata={"source": "s"}),
                )
            )

    def test_a_plain_document_can_be_named_by_its_id(self):
        nodes = with_scores(Document(text="b", id_="2"), Document(text="a", id_="1"))

        ordered = order(nodes, document_key="node_id")

        assert [each.node_id for each in ordered] == ["2", "1"]
        assert [each.metadata["oprag_key"] for each in ordered] == ["2", "1"]

    def test_a_subclass_of_the_scored_node_stays_one(self):
        class Ranked(NodeWithScore):
            reason: str = ""

        node = Ranked(node=in_source("a", 0), score=0.5, reason="why")

        (ordered,) = order([node])
        assert (type(ordered), ordered.reason) == (Ranked, "why")


class TestScores:
    def test_scores_may_be_missing(self):
        nodes = [NodeWithScore(node=in_source("a", start)) for start in (5, 1)]

        ordered = order(nodes)
        assert [each.node_id for each in ordered] == [n.node_id for n in nodes[::-1]]
        assert [each.score for each in ordered] == [None, None]


class TestPlaces:
    def test_user_keys_are_metadata_attributes_of_the_node_or_functions_of_it(self):
        late, early = Clipping(text="b"), Clipping(text="a")
        late.metadata = {"n": 2, "in": {"paper": "p"}}
        early.metadata = {"n": 1, "in": {"paper": "p"}}
        nodes = with_scores(late, early)

        assert (
            numbers_in(order(nodes, position_keys="n", document_key="newspaper"))
            == "ab"
        )
        assert (
            numbers_in(order(nodes, position_keys="n", document_key="in.paper")) == "ab"
        )
        by_function = order(
            nodes,
            position_keys=lambda node: node.metadata["n"],
            document_key=lambda node: node.newspaper,
        )
        assert numbers_in(by_function) == "ab"

    def test_pages_by_the_users_keys_are_scopes_of_the_offsets(self):
        nodes = [
            scored(text, page=page, start_index=start)
            for page, text, start in (
                (2, "c ", 0),
                (1, "a ", 0),
                (1, "b", 2),
                (2, "d", 2),
            )
        ]
        keys = ["page", "start_index"]

        ordered = order(nodes, position_keys=keys)

        assert [node.text for node in ordered] == ["a ", "b", "c ", "d"]

    def test_the_string_none_is_no_source(self):
        node = scored("a", doc="None", ref_doc_id="None", document_id="None", start=1)

        with pytest.raises(MissingDocumentError):
            order([node])

    def test_pages_of_one_pdf_are_one_document(self):
        nodes = [
            NodeWithScore(
                node=TextNode(
                    text=f"page {page}",
                    start_char_idx=0,
                    end_char_idx=6,
                    metadata={"file_path": "f.pdf", "page_label": str(page)},
                    relationships={
                        NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"id{page}")
                    },
                )
            )
            for page in (10, 9, 2)
        ]

        ordered = order(nodes)
        assert [node.text for node in ordered] == ["page 2", "page 9", "page 10"]

    def test_roman_page_labels_alone_are_an_error(self):
        nodes = [
            scored(label, page_label=label, file_path="f.pdf") for label in ("ii", "i")
        ]

        with pytest.raises(MissingPositionError, match="page_label='ii'"):
            order(nodes)

    def test_offsets_of_several_documents_are_not_compared(self):
        """One document by the user's key, several by LlamaIndex, each from 0."""
        nodes = with_scores(in_source("a", 40), in_source("b", 0))
        nodes[1].node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(
            node_id="e"
        )

        with pytest.raises(Exception, match="several framework documents"):
            order(nodes, document_key=lambda _: "both")


class TestBadInput:
    def test_nothing_retrieved_gives_nothing(self):
        assert order([]) == []
        assert order([], token_budget=5, merge=True) == []

    def test_one_node(self, hits):
        (ordered,) = order(hits[:1])

        assert (ordered.node_id, ordered.text) == (hits[0].node_id, hits[0].text)

    def test_an_empty_text(self):
        nodes = with_scores(in_source("b", 4), in_source("", 2))

        assert numbers_in(order(nodes)) == "b"

    def test_duplicates_of_several_queries_are_one(self, hits):
        assert numbers_of(order(hits + hits[:4])) == sorted(numbers_of(hits))

    def test_the_same_text_at_two_places_is_two_nodes(self):
        nodes = with_scores(in_source("same", 50), in_source("same", 0))

        assert [each.node_id for each in order(nodes)] == [
            each.node_id for each in nodes[::-1]
        ]

    def test_one_span_and_two_texts_contradict_each_other(self):
        with pytest.raises(ConflictingPositionsError):
            order(with_scores(in_source("one", 0), in_source("two", 0)))

    def test_one_page_and_two_texts_contradict_each_other(self):
        nodes = [scored(text, page=1, source="s") for text in "ab"]

        with pytest.raises(ConflictingPositionsError):
            order(nodes)

    @pytest.mark.parametrize(("start", "end"), [(-4, 2), (5, 2)])
    def test_impossible_spans(self, start, end):
        nodes = [
            TextNode(
                text=text,
                start_char_idx=start,
                end_char_idx=end,
                metadata={"source": "s"},
            )
            for text in "ab"
        ]

        with pytest.raises(PositionError):
            order(with_scores(*nodes))

    def test_scores_that_are_not_numbers_are_carried_along(self):
        nan = float("nan")
        nodes = [NodeWithScore(node=in_source("a", 3), score=nan)]

        (ordered,) = order(nodes)
        assert ordered.score is nan


@given(retrievals(min_pieces=1), st.sampled_from(["own", "langchain", "llamaindex"]))
def test_merged_texts_are_the_slices_that_they_name(retrieval, style):
    merged = order(as_nodes(retrieval, style), merge=True, documents=retrieval.sources)

    for node in merged:
        place = place_of(node)
        if len(retrieval.pieces) > 1 and place.spans:
            text = retrieval.sources[place.document][slice(*place.spans[0])]
            assert node.get_content() == text


def test_merging_reads_what_the_document_says(hits):
    merged = order(hits, merge=True)

    assert len(merged) < len(hits)
    for node in merged:
        span = slice(node.node.start_char_idx, node.node.end_char_idx)
        assert node.get_content() == TEXT[span]


PARSED = OffsetTokenNodeParser(chunk_size=3, chunk_overlap=0)(
    [Document(text=TEXT[:400], id_=name) for name in ("a.txt", "b.txt")]
)
SHOWN = OffsetTokenNodeParser(chunk_size=3, chunk_overlap=0)(
    [
        Document(
            text=TEXT[:200] + "\n\n" + TEXT[200:400],
            id_=name,
            metadata={"file_path": name, "size": 7, "title": title},
            excluded_llm_metadata_keys=["size"],
            metadata_template=template,
        )
        for name, title, template in (
            ("a.txt", "First", "{key}: {value}"),
            ("b.txt", True, "{key}: {value}"),
            ("c.txt", 1, "{key} is {value}"),
        )
    ]
)


@pytest.mark.filterwarnings("ignore::oprag.errors.UnfilledBudgetWarning")
@given(
    st.permutations(PARSED) | st.permutations(SHOWN),
    st.integers(1, 40),
    st.booleans(),
    st.none() | st.integers(40, 1_000),
)
def test_the_usual_case_gives_what_the_general_one_gives(nodes, count, merge, budget):
    found = with_scores(*nodes[:count])
    options = {"merge": merge, "token_budget": budget}

    usual = order(found, **options)
    # It names the same documents; but the short way is not taken then.
    general = order(found, document_key="doc_key", **options)

    assert [each.model_dump() for each in usual] == [
        each.model_dump() for each in general
    ]


def test_metadata_that_does_not_fit_its_template_is_not_read_beyond_the_budget():
    broken = SHOWN[2].model_copy(update={"metadata_template": "{key}: {val}"})
    found = with_scores(*SHOWN[:2], broken)

    (kept,) = order(found, token_budget=25)
    assert kept.node_id == found[0].node_id


@pytest.mark.filterwarnings("ignore::oprag.errors.UnfilledBudgetWarning")
def test_a_template_of_ones_own_goes_the_general_way():
    node = SHOWN[0].model_copy(update={"text_template": "{content} ({metadata_str})"})

    (ordered,) = order(with_scores(node), token_budget=40)
    assert ordered.node.get_content(MetadataMode.LLM) == node.get_content(
        MetadataMode.LLM
    )


def numbers_in(nodes: list[NodeWithScore]) -> str:
    return "".join(node.get_content() for node in nodes)
