"""`LongReader`: a long answer from long units, then a short one from the long one."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.utils import AddableDict
from pydantic import ConfigDict, SkipValidation, ValidationInfo, field_validator

from langchain_oprag._answering import Answering, Retrieve, Steps
from langchain_oprag._driver import DrivenRunnable
from langchain_oprag._options import CheckedOptions, Model, Retriever, option_field
from langchain_oprag._prompts import Question, fill, long_prompts, read_question
from langchain_oprag.results import as_documents, as_passages
from oprag.calls import SENTINEL, CallModel
from oprag.errors import InvalidOptionError, named
from oprag.tokens import NamedTokenCounter, TokenizerSpec, resolve_token_counter
from oprag.units import READER_DESCRIPTIONS, check_reader_option, read_long

_reader_field = partial(option_field, descriptions=READER_DESCRIPTIONS)


class LongReaderOptions(CheckedOptions):
    """What the reader can be told; pydantic itself checks and copies little."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    llm: Model
    """The chat model that reads and answers."""
    retriever: Retriever | None = None
    """Any `Runnable` from a query to documents in reading order, a `LongUnitRetriever`
    say; None where they come with the input."""
    prompts: SkipValidation[Mapping[str, Any] | None] = None
    """Prompts in the place of the built-in ones: `"long"` and `"direct"` with
    `{context}` and `{question}`, `"short"` with `{question}` and `{long_answer}`. A
    format string or a prompt template."""
    one_call_below: SkipValidation[int] = _reader_field("one_call_below", 1000)
    max_context_tokens: SkipValidation[int | None] = None
    """Tokens of prompt and answer that the model takes; None for what the model's
    profile says, if it has one."""
    answer_tokens: SkipValidation[int | None] = _reader_field("answer_tokens")
    prices: SkipValidation[Mapping[str, Sequence[float]] | None] = _reader_field(
        "prices"
    )
    separator: str = _reader_field("separator")
    token_counter: TokenizerSpec = _reader_field("token_counter")

    @field_validator("*")
    @classmethod
    def _check(cls, value: Any, info: ValidationInfo) -> Any:
        if info.field_name == "prompts":
            long_prompts(value or {})
        check_reader_option(str(info.field_name), value)
        return value


class LongReader(DrivenRunnable, LongReaderOptions):
    """Answers from long units in two calls of the model.

    The first reads the units and writes a long answer, of some sentences. The second
    reads only the question and the long answer, with examples, and writes a short
    one. A context of fewer than 1,000 tokens takes one call.

    The input is a question, or `{"input": question}`, perhaps with `context`
    (documents in reading order, in the place of the retriever's) and `chat_history`
    (messages in any form that LangChain takes), or `{"messages": …}`. The output has

    - `input`: the question;
    - `context`: the documents that were read, each with its place;
    - `long_answer`: the first call's reply; None where there was one call or none;
    - `answer`: the short answer; the sentinel "unanswerable" where there was nothing
      to read, and no call;
    - `usage`: what it took, see `oprag.calls.Ledger.to_dict`. Its `rungs` are the
      calls: `"long"` and `"short"`, or `"direct"`;
    - `messages`, where the input has them: the short answer as an `AIMessage`.

    A stream gives these keys in this order, `long_answer` and `answer` in pieces that
    join to them. LangGraph and `astream_events` show the short answer alone. The calls
    of the model carry the tag `call:<name>`.

    Args:
        **options: The fields of `LongReaderOptions`.
        name: What runs are called in traces; None for the class's name.

    Raises:
        InvalidOptionError: On construction and assignment, for an option that does not
            exist or cannot have this value. It is a `ValueError`.
        ModelCallError: When invoked: the model failed, or gave an empty reply. It
            carries the long answer, where there is one, and what was spent.
        ContextWindowError: When invoked: a prompt does not fit the window. Units are
            read whole or not at all.
        InvalidOptionError: When invoked: there are no documents in the input, and
            there is no retriever.

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

    def _inside(self) -> list[Runnable[Any, Any]]:
        return [self.llm, *([self.retriever] if self.retriever else [])]

    def _answering(self, given: Any, config: RunnableConfig) -> _LongReading:
        question = read_question(given, type(self).__name__)
        counter = resolve_token_counter(self.token_counter)
        return _LongReading(self, question, config, counter)


class _LongReading(Answering):
    """One question to the long reader."""

    kind = "call"

    def __init__(
        self,
        options: LongReaderOptions,
        question: Question,
        config: RunnableConfig,
        counter: NamedTokenCounter,
    ) -> None:
        super().__init__(options, question, config, counter)
        self._options = options
        self._prompts = long_prompts(options.prompts or {})
        self._begun = False

    def steps(self) -> Steps:
        """Answer the question.

        The output is `input`, `context`, `long_answer`, `answer`, `usage`.
        """
        options = self._options
        yield AddableDict(input=self.question.text)
        documents = yield from self._documents()
        yield AddableDict(context=documents)
        reading = yield from read_long(
            options.separator.join(document.page_content for document in documents),
            self.question.in_conversation,
            self,
            ledger=self.ledger,
            token_counter=self.counter,
            one_call_below=options.one_call_below,
        )
        if reading.answer is None:
            yield AddableDict(long_answer=None)
            yield AddableDict(answer=SENTINEL)
        yield AddableDict(usage=self.ledger.to_dict())

    def messages(self, prompt: str, values: Mapping[str, str]) -> list[BaseMessage]:
        """Fill the prompt of a call in."""
        return fill(self._prompts[prompt], values)

    def output(self, call: CallModel, text: str) -> Iterator[AddableDict]:
        """Return a piece of a reply under the key that it is output by."""
        if call.prompt == "direct" and not self._begun:
            yield AddableDict(long_answer=None)
        self._begun = True
        if text:
            key = "long_answer" if call.purpose == "draft" else "answer"
            yield AddableDict({key: text})

    def _documents(self) -> Generator[Retrieve, Any, list[Document]]:
        found = self.question.given.get("context")
        option, retriever = "context", self._options.retriever
        if found is None:
            option = "retriever"
            if retriever is None:
                message = (
                    "LongReader has no retriever= and the input has no context. Give "
                    'one of them: {"input": question, "context": documents}.'
                )
                raise InvalidOptionError(message, option=option, value=None)
            found = yield Retrieve(retriever, self.question.text, self.config, {})
        if isinstance(found, Sequence) and all(isinstance(d, Document) for d in found):
            return as_documents(as_passages(found))
        message = (
            f"{option} gave {named(found)}, not a list of documents. Give [document]."
        )
        raise InvalidOptionError(message, option=option, value=found)
