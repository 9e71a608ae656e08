"""`LongReader`: a long answer from long units, then a short one from the long one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.utils import AddableDict
from pydantic import ConfigDict, SkipValidation, ValidationInfo, field_validator

from langchain_oprag._answers import Answering, DrivenRunnable
from langchain_oprag._options import CheckedOptions, Model, Retriever, option_field
from langchain_oprag._prompts import Question, fill_prompt, long_prompts, read_question
from langchain_oprag._searched import list_verified_stores
from langchain_oprag.results import as_documents, as_passages
from langchain_oprag.retrievers import RetrieverFetch
from oprag.calls import SENTINEL, CallModel, Dialogue
from oprag.context import ContextOptions
from oprag.diagnosing import Verifiable, Verification
from oprag.documents import check_entries
from oprag.effects import Effects
from oprag.errors import InvalidOptionError
from oprag.tokens import TokenizerSpec, resolve_token_counter
from oprag.units import READER_DESCRIPTIONS, LongAnswer, check_reader_option, read_long

_reader_field = partial(option_field, descriptions=READER_DESCRIPTIONS)


class LongReader(Verifiable, DrivenRunnable, CheckedOptions):
    """Answers from long units in two calls of the model.

    The first reads the units and writes a long answer, of some sentences. The second
    reads only the question and the long answer, with examples, and writes a short
    one. A context of fewer than 1,000 tokens takes one call.

    The input is a question, or `{"input": question}`, perhaps with `context`
    (documents in reading order, in the place of the retriever's) and `chat_history`
    (messages in any form that LangChain takes), or `{"messages": …}`. The output has

    - `input`: the question;
    - `context`: the documents that were read, each with its place;
    - `long_answer`: the first call's reply; None if there was one call or none;
    - `answer`: the short answer; the sentinel "unanswerable" if there was nothing
      to read, and no call;
    - `usage`: the calls and their tokens, see `oprag.calls.Ledger.to_dict`. Its `steps`
      are the calls: `"long"` and `"short"`, or `"direct"`;
    - `messages`, if the input has them: the short answer as an `AIMessage`.

    A stream gives these keys in this order, `long_answer` and `answer` in pieces that
    join to them. LangGraph and `astream_events` show the short answer alone. The calls
    of the model carry the tag `call:<name>`.

    Args:
        **options: The fields below.
        name: The name of runs in traces; None for the class's name.

    Raises:
        InvalidOptionError: On construction and assignment, for an option that does not
            exist or cannot have this value; when invoked without documents in the
            input, and without a retriever.
        ModelCallError: When invoked: the model failed, or gave an empty reply. It
            carries the long answer, if there is one, and the tokens used.
        ContextWindowError: When invoked: a prompt does not fit the window.

    Source:
        LongRAG (arXiv 2406.15319).

    Example:
        >>> from langchain_core.language_models import FakeListChatModel
        >>> reader = LongReader(
        ...     llm=FakeListChatModel(responses=["Ann built it in 1912.", "1912"]),
        ...     one_call_below=0,
        ... )
        >>> unit = Document("The bridge was built by Ann, in 1912.")
        >>> result = reader.invoke({"input": "When was it built?", "context": [unit]})
        >>> result["long_answer"], result["answer"]
        ('Ann built it in 1912.', '1912')
    """

    model_config = ConfigDict(use_attribute_docstrings=True)

    llm: Model
    """The chat model that reads and answers."""
    retriever: Retriever | None = None
    """Any `Runnable` from a query to documents in reading order, a `LongUnitRetriever`
    say; None if they come with the input."""
    prompts: SkipValidation[Mapping[str, Any] | None] = None
    """Prompts in the place of the built-in ones: `"long"` and `"direct"` with
    `{context}` and `{question}`, `"short"` with `{question}` and `{long_answer}`. A
    format string or a prompt template."""
    one_call_below: SkipValidation[int] = _reader_field("one_call_below", 1000)
    max_context_tokens: SkipValidation[int | None] = None
    """Tokens of prompt and answer that the model takes; None for the number in the
    model's profile, if it has one."""
    answer_tokens: SkipValidation[int | None] = _reader_field("answer_tokens")
    prices: SkipValidation[Mapping[str, Sequence[float]] | None] = _reader_field(
        "prices"
    )
    separator: str = _reader_field("separator")
    token_counter: TokenizerSpec = _reader_field("token_counter")

    @field_validator("*")
    @classmethod
    def _check_reader_value(cls, value: Any, info: ValidationInfo) -> Any:
        if info.field_name == "prompts":
            long_prompts(value or {})
        check_reader_option(str(info.field_name), value)
        return value

    def _verification(self) -> Verification:
        if self.retriever is None:
            message = "LongReader has no retriever=, so there is no store to verify."
            raise InvalidOptionError(message, option="retriever", value=None)
        if isinstance(self.retriever, Verifiable):
            return self.retriever._verification()  # noqa: SLF001 -- of this package
        return Verification(list_verified_stores(self.retriever), ContextOptions())

    def _inside(self) -> list[Runnable[Any, Any]]:
        return [self.llm, *([self.retriever] if self.retriever else [])]

    def _begin_answering(self, given: Any, config: RunnableConfig) -> _LongReading:
        question = read_question(given, type(self).__name__)
        return _LongReading(self, question, config)


class _LongReading(Answering):
    """One question to the long reader."""

    kind = "call"

    def __init__(
        self, reader: LongReader, question: Question, config: RunnableConfig
    ) -> None:
        counter = resolve_token_counter(reader.token_counter)
        super().__init__(reader, question, config, counter)
        self._reader = reader
        self._prompts = long_prompts(reader.prompts or {})
        self._documents: list[Document] = []

    def retrieve(self) -> Effects[list[AddableDict]]:
        """Return the documents of the input, or else retrieve them."""
        found, retriever = self.question.given.get("context"), self._reader.retriever
        option = "retriever" if found is None else "context"
        if found is None:
            if retriever is None:
                message = (
                    "LongReader has no retriever= and the input has no context. Give "
                    'one of them: {"input": question, "context": documents}.'
                )
                raise InvalidOptionError(message, option=option, value=None)
            fetch = RetrieverFetch(retriever, self.config, {})
            found = yield fetch.ask(self.question.text)
        check_entries(option, found, Document)
        self._documents = as_documents(as_passages(found))
        return [AddableDict(context=self._documents)]

    def begin_dialogue(self) -> Dialogue[LongAnswer]:
        """Run the long reader, call by call."""
        texts = [document.page_content for document in self._documents]
        return read_long(
            self._reader.separator.join(texts),
            self.question.in_conversation,
            self,
            ledger=self.ledger,
            token_counter=self.counter,
            one_call_below=self._reader.one_call_below,
        )

    def messages(self, prompt: str, values: Mapping[str, str]) -> list[BaseMessage]:
        """Fill the prompt of a call in."""
        return self.question.put_after_system(
            fill_prompt(self._prompts[prompt], values)
        )

    def format_text(self, request: CallModel, text: str) -> Iterator[AddableDict]:
        """Return a piece of a reply, under its key of the output."""
        if request.prompt == "direct" and not self.has_output:
            yield AddableDict(long_answer=None)
        key = "long_answer" if request.purpose == "draft" else "answer"
        yield AddableDict({key: text})

    def format_end(self, result: LongAnswer) -> Iterator[AddableDict]:
        """Return the usage, and the sentinel if there was nothing to read."""
        if result.answer is None:
            yield AddableDict(long_answer=None)
            yield AddableDict(answer=SENTINEL)
        yield AddableDict(usage=self.ledger.to_dict())
