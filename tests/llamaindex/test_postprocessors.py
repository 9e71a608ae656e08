"""`OrderPreservingPostprocessor`: options, budget, and what LlamaIndex asks of it."""

from __future__ import annotations

import json
import pickle
import warnings
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core import Document
from llama_index.core.callbacks import CallbackManager
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from tokenizers import Regex
from tokenizers.normalizers import Replace

from llamaindex_oprag import OffsetTokenNodeParser, OrderPreservingPostprocessor
from oprag.errors import BudgetTooSmallError, InvalidOptionError, UnfilledBudgetWarning
from oprag.tokens import resolve_token_counter
from tests.corpora import texts
from tests.handed_out import told
from tests.llamaindex.corpus import (
    QUESTION,
    TEXT,
    by_words,
    clause_parser,
    document,
    numbers_of,
)

count = resolve_token_counter("cl100k_base")


def words(text: str) -> int:
    return len(text.split())


def sent(nodes: list[NodeWithScore], mode: MetadataMode = MetadataMode.LLM) -> str:
    """The context as LlamaIndex's synthesizers put it together."""
    return "\n\n".join(node.get_content(mode) for node in nodes)


class TestOptions:
    def test_a_tokenizer_object_is_copied_once(self, hits):
        tokenizer = by_words()
        component = OrderPreservingPostprocessor(
            token_budget=60, token_counter=tokenizer
        )
        before = component.postprocess_nodes(hits)

        assert 0 < len(before) < len(hits)
        tokenizer.normalizer = Replace(Regex("."), "a ")  # letters, from now on
        assert component.postprocess_nodes(hits) == before

    def test_another_token_counter_counts_from_then_on(self, hits):
        longest = max(len(each.get_content(MetadataMode.LLM)) for each in hits)
        postprocessor = OrderPreservingPostprocessor(
            token_budget=longest, token_counter=len
        )
        by_characters = postprocessor.postprocess_nodes(hits)
        assert postprocessor.postprocess_nodes(hits) == by_characters

        postprocessor.token_counter = words
        by_words = postprocessor.postprocess_nodes(hits)
        assert len(sent(by_characters)) <= longest < len(sent(by_words))

    def test_nothing_is_required(self, hits):
        ordered = OrderPreservingPostprocessor().postprocess_nodes(hits)

        assert numbers_of(ordered) == sorted(numbers_of(hits))

    @pytest.mark.parametrize(
        "options",
        [
            {"top_k": 3},
            {"token_budgets": 100},
            {"top_n": 0},
            {"top_n": -1},
            {"top_n": "3"},
            {"top_n": True},
            {"token_budget": 0},
            {"token_budget": 1.5},
            {"order": "reverse"},
            {"document_order": ""},
            {"merge": 1},
            {"position_keys": 3},
            {"document_key": []},
        ],
    )
    def test_unknown_options_and_impossible_values_are_rejected(self, options):
        with pytest.raises(InvalidOptionError) as caught:
            OrderPreservingPostprocessor(**options)
        assert isinstance(caught.value, ValueError)
        assert next(iter(options)) in str(caught.value)

    def test_a_misspelt_option_names_the_one_that_was_meant(self):
        with pytest.raises(InvalidOptionError, match="Did you mean 'token_budget'"):
            OrderPreservingPostprocessor(token_buget=100)

    def test_options_can_be_assigned_and_are_checked_then_too(self, hits):
        postprocessor = OrderPreservingPostprocessor()

        postprocessor.top_n = 3
        assert len(postprocessor.postprocess_nodes(hits)) == 3
        with pytest.raises(InvalidOptionError):
            postprocessor.top_n = 0
        assert len(postprocessor.postprocess_nodes(hits)) == 3
        with pytest.raises(InvalidOptionError):
            postprocessor.top_k = 3

    def test_it_is_a_postprocessor_like_any_other(self):
        postprocessor = OrderPreservingPostprocessor()
        manager = CallbackManager()
        postprocessor.callback_manager = manager

        assert isinstance(postprocessor, BaseNodePostprocessor)
        assert postprocessor.callback_manager is manager
        assert postprocessor.class_name() == "OrderPreservingPostprocessor"


OPTIONS = {
    "top_n": 5,
    "token_budget": 900,
    "merge": True,
    "citations": True,
    "position_keys": ["page", "start_index"],
    "documents": {"a": "text"},
}


class TestSerialisation:
    def test_a_dict_and_back(self):
        postprocessor = OrderPreservingPostprocessor(**OPTIONS)

        data = json.loads(json.dumps(postprocessor.to_dict()))

        assert data["class_name"] == "OrderPreservingPostprocessor"
        again = OrderPreservingPostprocessor.from_dict(data)
        assert again.to_dict() == postprocessor.to_dict()
        assert again.documents == OPTIONS["documents"]
        left, right = again.context_options(), postprocessor.context_options()
        assert replace(left, documents=None) == replace(right, documents=None)

    def test_a_pickle_and_back(self, hits):
        options = {**OPTIONS, "position_keys": None, "token_counter": words}
        options["documents"] = {hits[0].node.ref_doc_id: TEXT}
        postprocessor = OrderPreservingPostprocessor(**options)

        copied = pickle.loads(pickle.dumps(postprocessor))  # noqa: S301 -- ours

        assert copied.to_dict() == postprocessor.to_dict()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnfilledBudgetWarning)
            assert copied.postprocess_nodes(hits) == postprocessor.postprocess_nodes(
                hits
            )

    def test_a_pickle_that_would_lose_an_option_is_refused(self):
        """LlamaIndex drops it, and the copy would count with another tokenizer."""
        postprocessor = OrderPreservingPostprocessor(
            token_counter=lambda text: words(text) + 1
        )

        with pytest.raises(pickle.PicklingError, match="token_counter"):
            pickle.dumps(postprocessor)


class TestSelection:
    def test_top_n_keeps_the_best_not_the_first(self, hits):
        ordered = OrderPreservingPostprocessor(top_n=3).postprocess_nodes(hits)

        assert numbers_of(ordered) == sorted(numbers_of(hits[:3]))

    def test_it_may_stand_behind_other_postprocessors(self, hits):
        cut = SimilarityPostprocessor(similarity_cutoff=hits[4].score)

        kept = cut.postprocess_nodes(hits)
        ordered = OrderPreservingPostprocessor(top_n=3).postprocess_nodes(kept)

        assert numbers_of(ordered) == sorted(numbers_of(hits[:3]))

    def test_score_order_is_the_order_given(self, hits):
        postprocessor = OrderPreservingPostprocessor(order="score", top_n=4)

        assert told(postprocessor.postprocess_nodes(hits)) == told(hits[:4])

    def test_a_budget_keeps_the_best_that_fit(self, hits):
        """Each clause has 10, 11 or 12 words: of the three best, two fit into 25."""
        lengths = [words(node.get_content()) for node in hits[:3]]
        assert sum(lengths[:2]) <= 25 < sum(lengths)
        postprocessor = OrderPreservingPostprocessor(
            token_budget=25, token_counter=words
        )

        assert numbers_of(postprocessor.postprocess_nodes(hits)) == sorted(
            numbers_of(hits[:2])
        )

    def test_a_budget_counts_the_metadata_that_is_shown(self, hits):
        """Ten words of `topic: …` before each clause: two no longer fit into 25."""
        for node in hits:
            node.node.metadata["topic"] = "a b c d e f g h i"
        postprocessor = OrderPreservingPostprocessor(
            token_budget=25, token_counter=words
        )

        assert numbers_of(postprocessor.postprocess_nodes(hits)) == numbers_of(hits[:1])

    def test_metadata_that_is_not_shown_costs_nothing(self, hits):
        for node in hits:
            node.node.metadata["topic"] = "a b c d e f g h i"
            node.node.excluded_llm_metadata_keys.append("topic")
        postprocessor = OrderPreservingPostprocessor(
            token_budget=25, token_counter=words
        )

        assert len(postprocessor.postprocess_nodes(hits)) == 2

    def test_a_stored_count_does_not_count_the_header_twice(self):
        """LlamaIndex strips what follows a header, so the text is not quite its end."""
        nodes = clause_parser().get_nodes_from_documents([document(title="A title")])
        assert nodes[0].text.endswith("\n")
        scored = [NodeWithScore(node=node) for node in nodes]
        needed = count(sent(scored))

        postprocessor = OrderPreservingPostprocessor(token_budget=needed + 60)

        with pytest.warns(UnfilledBudgetWarning):
            assert told(postprocessor.postprocess_nodes(scored)) == told(scored)

    def test_a_budget_below_the_best_node(self, hits):
        postprocessor = OrderPreservingPostprocessor(token_budget=5)

        with pytest.raises(BudgetTooSmallError, match="token_budget=5"):
            postprocessor.postprocess_nodes(hits)

    @given(
        texts,
        st.integers(1, 60),
        st.randoms(use_true_random=False),
        st.fixed_dictionaries(
            {
                "merge": st.booleans(),
                "citations": st.booleans(),
                "token_counter": st.sampled_from([None, words, len, "approximate"]),
            }
        ),
        st.sampled_from([{}, {"title": "The lease"}, {"title": "x.", "weight": 0.25}]),
        st.sampled_from(["{metadata_str}\n\n{content}", "{content}\n{metadata_str}"]),
    )
    def test_what_is_sent_never_exceeds_the_budget(
        self, text, budget, random, options, metadata, template
    ):
        document = Document(text=text, metadata=metadata)
        nodes = OffsetTokenNodeParser(chunk_size=4).get_nodes_from_documents([document])
        random.shuffle(nodes)
        for node in nodes:
            node.text_template = template
        postprocessor = OrderPreservingPostprocessor(token_budget=budget, **options)

        counter = resolve_token_counter(options["token_counter"])
        scored = [NodeWithScore(node=node) for node in nodes]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnfilledBudgetWarning)
            try:
                kept = postprocessor.postprocess_nodes(scored)
            except BudgetTooSmallError:
                needed = counter(sent(scored[:1]))
                assert needed > budget or options["citations"]  # with its place
                return
        assert counter(sent(kept)) <= budget
        assert bool(kept) == bool(nodes)


class TestUnfilledBudget:
    def test_it_is_reported_once(self, hits):
        postprocessor = OrderPreservingPostprocessor(token_budget=10_000)

        with pytest.warns(UnfilledBudgetWarning, match=r"all 10 retrieved"):
            postprocessor.postprocess_nodes(hits)
        postprocessor.postprocess_nodes(hits)  # a second warning would be an error

    def test_a_filled_budget_is_not_reported(self, hits):
        assert OrderPreservingPostprocessor(token_budget=60).postprocess_nodes(hits)

    def test_nothing_retrieved_is_not_reported(self):
        assert OrderPreservingPostprocessor(token_budget=60).postprocess_nodes([]) == []


class TestCalls:
    def test_with_a_query_string_a_bundle_or_neither(self, hits):
        postprocessor = OrderPreservingPostprocessor()

        plain = postprocessor.postprocess_nodes(hits)
        assert postprocessor.postprocess_nodes(nodes=hits, query_str=QUESTION) == plain
        bundle = QueryBundle(QUESTION)
        assert postprocessor.postprocess_nodes(hits, query_bundle=bundle) == plain

    async def test_async_gives_the_same(self, hits):
        postprocessor = OrderPreservingPostprocessor(merge=True, top_n=5)

        awaited = await postprocessor.apostprocess_nodes(hits, query_str=QUESTION)
        assert awaited == postprocessor.postprocess_nodes(hits)


def test_the_document_of_a_synthesizer_and_of_this_file_are_the_same(lease, llm, hits):
    """`sent`, by which the budget is judged here, is what the model gets."""
    engine = lease.as_query_engine(llm=llm, similarity_top_k=10)

    engine.query(QUESTION)

    for node in hits:
        assert node.get_content(MetadataMode.LLM).strip() in llm.last_prompt
    assert count(sent(hits)) <= count(llm.last_prompt)


@pytest.mark.filterwarnings("ignore::oprag.errors.UnfilledBudgetWarning")
def test_what_is_changed_after_a_query_holds_for_the_next(hits):
    postprocessor = OrderPreservingPostprocessor(token_budget=900, token_counter=words)
    everything = postprocessor.postprocess_nodes(hits)

    fewer = postprocessor.model_copy(update={"top_n": 2})
    postprocessor.token_counter = lambda text: 600
    assert len(everything) > len(fewer.postprocess_nodes(hits)) == 2
    assert len(postprocessor.postprocess_nodes(hits)) == 1
