"""In the chains of LangChain, and in LCEL."""

from tests.langchain.places.registry import places_of
from tests.langchain.places.running import (
    Application,
    each_mode,
    each_place,
    with_and_without,
)


def asked(place, chain, names):
    """Each chain has its own words for the question."""
    question = names["question"]
    inputs = {
        "stuff-documents": {
            "context": names["retriever"].invoke(question),
            "input": question,
        },
        "history-aware": {"input": question, "chat_history": ["an earlier turn"]},
        "retrieval-qa": {"query": question},
        "conversational-retrieval": {"question": question, "chat_history": []},
        "lcel": question,
    }
    return Application(chain, inputs.get(place.id, {"input": question}))


@each_mode
@each_place(places_of("chains"))
async def test_the_model_reads_what_was_retrieved_in_order(place, mode):
    ordered, plain = await with_and_without(place, mode, asked)

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)
