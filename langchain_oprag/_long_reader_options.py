"""The options of the long reader, as pydantic fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.retrievers import RetrieverLike
from langchain_core.runnables import Runnable
from pydantic import (
    BaseModel,
    ConfigDict,
    SkipValidation,
    ValidationInfo,
    field_validator,
)

from langchain_oprag._long_prompts import LongPrompts
from oprag.calls import as_prices
from oprag.context import ContextOptions
from oprag.errors import InvalidOptionError
from oprag.tokens import TokenizerSpec
from oprag.units import format_examples


class LongReaderOptions(BaseModel):
    """What the reader can be told; pydantic itself checks and copies little."""

    model_config = ConfigDict(
        arbitrary_types_allowed=True,
        extra="forbid",
        use_attribute_docstrings=True,
        validate_assignment=True,
    )

    llm: Runnable[Any, Any]
    """The chat model that reads and answers."""
    retriever: RetrieverLike | None = None
    """Any `Runnable` from a query to documents in reading order, a `LongUnitRetriever`
    say; None where they come with the input."""
    prompts: SkipValidation[Mapping[str, Any] | None] = None
    """Prompts in the place of the built-in ones: `"long"` and `"direct"` with
    `{context}` and `{question}`, `"short"` with `{examples}`, `{question}` and
    `{long_answer}`. A format string or a prompt template."""
    examples: SkipValidation[int] = 4
    """Examples that the second call is given, 0 to 8."""
    one_call_below: SkipValidation[int] = 1000
    """A context of fewer tokens takes one call; 0: always two."""
    max_context_tokens: SkipValidation[int | None] = None
    """Tokens of prompt and answer that the model takes; None for what the model's
    profile says, if it has one."""
    answer_tokens: SkipValidation[int | None] = None
    """Tokens of the window that are kept free for the answer; None for the model's own
    limit, else 256, or an eighth of a smaller window."""
    prices: SkipValidation[Mapping[str, Sequence[float]] | None] = None
    """Price of a million tokens by model: input, cached input, output."""
    separator: SkipValidation[str] = "\n\n"
    """Put between units."""
    token_counter: SkipValidation[TokenizerSpec] = None
    """A callable `str -> int`, a tokenizer, or its name; None for cl100k where it is
    installed, else an approximation."""

    @field_validator("prompts", "examples", "prices", "separator")
    @classmethod
    def _check(cls, value: Any, info: ValidationInfo) -> Any:
        if info.field_name == "separator":
            ContextOptions(separator=value)
        elif info.field_name == "prompts":
            LongPrompts(value or {})
        elif info.field_name == "prices":
            as_prices(value)
        else:
            format_examples(value)
        return value

    @field_validator("one_call_below", "max_context_tokens", "answer_tokens")
    @classmethod
    def _check_number(cls, value: Any, info: ValidationInfo) -> Any:
        option = str(info.field_name)
        least = 0 if option == "one_call_below" else 1
        if value is None and least:
            return value
        if type(value) is not int or value < least:
            message = f"{option}={value!r} is not possible. It takes {least} or more."
            raise InvalidOptionError(message, option=option, value=value)
        return value
