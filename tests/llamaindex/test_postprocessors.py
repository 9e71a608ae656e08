"""`OrderPreservingPostprocessor`: options, budget, and what LlamaIndex asks of it."""

import pickle
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core import Document
from llama_index.core.schema import MetadataMode, NodeWithScore

from llamaindex_oprag import OffsetTokenNodeParser, OrderPreservingPostprocessor
from oprag.errors import BudgetTooSmallError, UnfilledBudgetWarning
from oprag.tokens import resolve_token_counter
from tests.kit.corpora import texts
from tests.kit.words import words


def sent(nodes: list[NodeWithScore], mode: MetadataMode = MetadataMode.LLM) -> str:
    """The context as LlamaIndex's synthesizers put it together."""
    return "\n\n".join(node.get_content(mode) for node in nodes)


def test_a_pickle_that_would_lose_an_option_is_refused():
    """LlamaIndex drops it, and the copy would count with another tokenizer."""
    postprocessor = OrderPreservingPostprocessor(
        token_counter=lambda text: words(text) + 1
    )

    with pytest.raises(pickle.PicklingError, match="token_counter"):
        pickle.dumps(postprocessor)


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
    text, budget, random, options, metadata, template
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
