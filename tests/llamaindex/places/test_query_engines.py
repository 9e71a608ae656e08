"""In query engines, and in engines that ask other engines."""

import json

from tests.llamaindex.corpus import QUESTION, numbers
from tests.llamaindex.places.ingredients import OTHER_QUESTIONS, ingredients
from tests.llamaindex.places.registry import places_of
from tests.llamaindex.places.running import (
    build,
    each_mode,
    each_place,
    with_and_without,
)


@each_mode
@each_place(places_of("query_engines"))
async def test_the_model_reads_what_was_retrieved_in_order(place, mode):
    ordered, plain = await with_and_without(place, mode)

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)


@each_mode
async def test_each_of_several_sub_questions_is_answered_in_order(mode):
    (place,) = [p for p in places_of("query_engines") if p.id == "sub-question"]
    read = {}
    for oprag in (True, False):
        names = ingredients(oprag=oprag)
        items = [
            {"sub_question": question, "tool_name": "search"}
            for question in (QUESTION, *OTHER_QUESTIONS)
        ]
        names["planner"].replies = [json.dumps({"items": items})]
        engine = build(place.how, names)
        if mode == "query":
            engine.query(QUESTION)
        else:
            await engine.aquery(QUESTION)
        read[oprag] = [numbers(prompt) for prompt in names["llm"].prompts[:3]]

    assert read[True] == [sorted(each) for each in read[False]]
    assert all(each != sorted(each) for each in read[False])
