"""What sorts again after oprag undoes the order; falling scores are a way out."""

from langchain_oprag import OrderPreservingRetriever
from tests.langchain.compat import ConversationalRetrievalChain
from tests.langchain.corpus import numbers, words
from tests.langchain.places.ingredients import ingredients
from tests.langchain.places.registry import places_of
from tests.langchain.places.running import (
    answering,
    chunks_in,
    each_mode,
    each_place,
    with_and_without,
)
from tests.langchain.recording import RecordingChatModel


@each_mode
@each_place(places_of("order_breakers"))
async def test_the_order_is_undone(place, mode):
    """The other place, `instead`, is tested where it belongs."""
    undone, _ = await with_and_without(place, mode, answering)

    assert undone != sorted(undone)


@each_mode
@each_place(places_of("rescoring"))
async def test_scores_that_fall_in_reading_order_survive_the_sorting(place, mode):
    ordered, plain = await with_and_without(place, mode, answering)

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)


class CountingModel(RecordingChatModel):
    """Its tokens are words."""

    def get_num_tokens(self, text):
        return words(text)


def test_a_limit_of_the_chain_cuts_the_end_of_the_text_and_a_budget_the_worst_chunks():
    """Twelve words are three chunks. The order stays; what is read does not."""
    names = ingredients(oprag=True)
    best = sorted(numbers(names["retriever"].invoke(names["question"])[:3]))
    in_budget = OrderPreservingRetriever(
        vectorstore=names["vectorstore"],
        token_budget=12,
        token_counter=words,
        separator=" ",
    )

    read = []
    for retriever in (names["ordered"], in_budget):
        model = CountingModel()
        ConversationalRetrievalChain.from_llm(
            model, retriever=retriever, max_tokens_limit=12
        ).invoke({"question": names["question"], "chat_history": []})
        read.append(chunks_in(model.sent))

    assert read[0] == numbers(names["ordered"].invoke(names["question"]))[:3]
    assert read[0] != best
    assert read[1] == best
