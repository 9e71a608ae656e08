"""Models that give objects cannot decline in words: Self-Route takes none."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import (
    BaseOutputParser,
    CommaSeparatedListOutputParser,
    JsonOutputParser,
    StrOutputParser,
)
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel

from oprag.errors import InvalidOptionError
from tests.kit.openai_server import ScriptedServer
from tests.langchain import routes
from tests.llamaindex import self_routing

METHODS = ("function_calling", "json_mode", "json_schema")


class Shape(BaseModel):
    """An answer."""

    answer: str


class Untyped(BaseOutputParser):
    """Does not say what it gives."""

    def parse(self, text: str) -> Any:
        return text.strip()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("include_raw", [False, True])
@pytest.mark.parametrize("decline", ["word", "tool"])
def test_in_langchain_they_are_refused_whatever_is_around_them(
    method, include_raw, decline
):
    with ScriptedServer([]) as server:
        model = routes.chat_model(server, model="gpt-4o")
        shaped = model.with_structured_output(
            Shape, method=method, include_raw=include_raw
        )
        for option, llms in [
            ("llm", {"llm": shaped}),
            ("llm", {"llm": shaped.with_retry()}),
            ("llm", {"llm": model.with_fallbacks([shaped])}),
            ("llm", {"llm": model | JsonOutputParser()}),
            ("llm", {"llm": model | CommaSeparatedListOutputParser()}),
            (r"step_llms\['full'\]", {"step_llms": {"full": shaped}}),
        ]:
            with pytest.raises(InvalidOptionError, match=f"{option}= .* of the answer"):
                routes.chain_of(server, decline=decline, **llms)


def test_what_gives_text_in_the_end_is_taken():
    with ScriptedServer([]) as server:
        model = routes.chat_model(server)
        shaped = model.with_structured_output(Shape, method="json_mode")
        for llm in (
            model | StrOutputParser(),
            model | Untyped(),
            model.with_types(output_type=AIMessage),
            shaped | RunnableLambda(lambda found: found.answer),
            model.with_config(tags=["mine"]),
        ):
            routes.chain_of(server, llm=llm)


@pytest.mark.parametrize("decline", ["word", "tool"])
def test_in_llamaindex_they_are_refused_for_each_step(decline):
    with ScriptedServer([]) as server:
        options = {"is_function_calling_model": True}
        llm = self_routing.scripted_llm(server, **options)
        shaped = llm.as_structured_llm(Shape)
        for option, llms in [
            ("llm", {"llm": shaped}),
            (r"step_llms\['full'\]", {"llm": llm, "step_llms": {"full": shaped}}),
        ]:
            with pytest.raises(InvalidOptionError, match=f"{option}= .* of the answer"):
                self_routing.engine_over(server, decline=decline, **llms)
