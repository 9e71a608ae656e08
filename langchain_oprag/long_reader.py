"""`LongReader`: a long answer from long units, then a short one from the long one."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs
from langchain_core.runnables.utils import (
    AddableDict,
    ConfigurableFieldSpec,
    get_unique_config_specs,
)
from pydantic import PrivateAttr

from langchain_oprag import _steps
from langchain_oprag._long_prompts import LongPrompts
from langchain_oprag._long_reader_options import LongReaderOptions
from langchain_oprag._models import facts_of
from langchain_oprag._plan import prompt_tokens, room_for_answer
from langchain_oprag._questions import Question, read_question
from langchain_oprag._replies import Reply
from langchain_oprag._steps import Retrieve, Steps
from langchain_oprag._stepwise import StepwiseRunnable
from oprag import calls
from oprag.calls import SENTINEL, Ledger, TokenUsage, format_options
from oprag.context import documented
from oprag.errors import InvalidOptionError
from oprag.routing import DeclineRules
from oprag.tokens import NamedTokenCounter, resolve_token_counter
from oprag.units import Call, PromptLength, read_long


@documented
class LongReader(StepwiseRunnable, LongReaderOptions):
    """Answers from long units in two calls of the model.

    The first reads the units and gives a long answer, of some sentences. The second
    is given the question and the long answer alone, with examples, and gives a short
    one. A context of fewer than 1,000 tokens takes one call.

    The input is a question, or `{"input": question}`, perhaps with `context`
    (documents in reading order, in the place of the retriever's), `chat_history`
    (messages in any form that LangChain takes) and `options` (texts: the question is
    a multiple-choice one). The output has

    - `input`: the question;
    - `context`: the documents that were read, as they were retrieved;
    - `long_answer`: the first call's reply; None where there was one call or none;
    - `answer`: the short answer; the sentinel "unanswerable" where there was nothing
      to read, and no call;
    - `usage`: what it took, see `oprag.calls.Ledger.to_dict`. Its rungs are the
      calls: `"long"` and `"short"`, or `"direct"`.

    A stream gives these keys in this order, `long_answer` and `answer` in pieces that
    join to them. The calls of the model carry the tag `call:<name>`.

    Args:
        **options: The fields of `LongReaderOptions`.
        name: What runs are called in traces; None for the class's name.

    Raises:
        ValidationError: On construction and assignment, for an option that does not
            exist or cannot have this value. It is a `ValueError`.
        LongReadingError: When invoked: the model failed, or gave an empty reply. It
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

    _counter: tuple[Any, NamedTokenCounter] | None = PrivateAttr(default=None)

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """Configurable fields of the retriever and the model."""
        inner = [self.llm, *([self.retriever] if self.retriever else [])]
        return get_unique_config_specs(
            spec for runnable in inner for spec in runnable.config_specs
        )

    def _steps(self, given: Any, config: RunnableConfig) -> Steps:
        question = read_question(given, type(self).__name__)
        yield AddableDict(input=question.text)
        documents = yield from self._read(question, config)
        yield AddableDict(context=documents)
        desk = _Desk(self, config, self._resolved_counter())
        context = self.separator.join(document.page_content for document in documents)
        reading = read_long(
            context,
            _asked(question),
            desk,
            ledger=desk.ledger,
            token_counter=desk.counter,
            examples=self.examples,
            one_call_below=self.one_call_below,
        )
        yield from _followed(reading, desk)
        yield AddableDict(usage=desk.ledger.to_dict())

    def _read(
        self, question: Question, config: RunnableConfig
    ) -> Generator[Retrieve, Any, list[Document]]:
        found = question.given.get("context")
        option = "context"
        if found is None:
            option = "retriever"
            if self.retriever is None:
                message = (
                    "LongReader has no retriever= and the input has no context. Give "
                    'one of them: {"input": question, "context": documents}.'
                )
                raise InvalidOptionError(message, option=option, value=None)
            found = yield Retrieve(self.retriever, question.query, config, {})
        if isinstance(found, Sequence) and all(isinstance(d, Document) for d in found):
            return list(found)
        message = f"{option} gave {found!r:.100}, not a list of documents."
        raise InvalidOptionError(message, option=option, value=found)

    def _resolved_counter(self) -> NamedTokenCounter:
        # Resolving copies a tokenizer object, which takes longer than a query.
        if self._counter is None or self._counter[0] is not self.token_counter:
            counter = resolve_token_counter(self.token_counter)
            self._counter = (self.token_counter, counter)
        return self._counter[1]


def _asked(question: Question) -> str:
    if not question.options:
        return question.in_conversation
    return f"{question.in_conversation}\n{format_options(question.options)}"


class _Desk:
    """What `oprag.units.long_reading` asks of LangChain, for one question."""

    def __init__(
        self,
        options: LongReaderOptions,
        config: RunnableConfig,
        counter: NamedTokenCounter,
    ) -> None:
        self.ledger = Ledger(options.prices)
        self.counter = counter
        self._options = options
        self._config = config
        self._facts = facts_of(options.llm, config)
        self._prompts = LongPrompts(options.prompts or {})
        self._reported: str | None = None

    def length(self, call: Call) -> PromptLength:
        """Say how long the prompt of a call is, and may be."""
        tokens = prompt_tokens(self._prompts.messages(call), self.counter)
        window = self._options.max_context_tokens or self._facts.window
        given = self._options.answer_tokens
        return PromptLength(tokens, window, room_for_answer(given, self._facts, window))

    def model(self) -> str | None:
        """Name the model as the user does, or as it has a price."""
        name, reported = self._facts.name, self._reported
        return reported if name is None or reported in self._prices() else name

    def ask(self, call: Call) -> Generator[_steps.Call | AddableDict, Any, calls.Reply]:
        """Make a call; hand its pieces on under the key that they are output by."""
        key = "answer" if call.final else "long_answer"
        reply = Reply(DeclineRules(), final=True)
        messages = self._prompts.messages(call)
        tags: RunnableConfig = {"tags": [f"call:{call.name}"]}
        began = time.perf_counter()

        def hand_on(text: str) -> list[AddableDict]:
            return [AddableDict({key: text})] if text else []

        config = merge_configs(self._config, tags)
        yield _steps.Call(self._options.llm, messages, config, reply, hand_on)
        yield from hand_on(reply.finish())
        self._reported = reply.model
        seconds = time.perf_counter() - began
        usage = reply.usage or self._counted(messages, reply.text)
        return calls.Reply(reply.text, False, usage, seconds)  # noqa: FBT003 -- it cannot decline

    def _counted(self, messages: Sequence[BaseMessage], reply: str) -> TokenUsage:
        sent = prompt_tokens(messages, self.counter)
        return TokenUsage(sent, self.counter(reply), estimated=True)

    def _prices(self) -> Mapping[str, Any]:
        return self._options.prices or {}


def _followed(reading: Generator[Call, Any, Any], desk: _Desk) -> Iterator[Any]:
    """Make the calls that a reading asks for; give the output of the last."""
    answer: Any = None
    failure: Exception | None = None
    called = False
    while True:
        try:
            call = reading.throw(failure) if failure else reading.send(answer)
        except StopIteration as end:
            if end.value.answer is None:
                yield AddableDict(long_answer=None)
                yield AddableDict(answer=SENTINEL)
            return
        if call.final and not called:
            yield AddableDict(long_answer=None)
        called = True
        failure = None
        try:
            answer = yield from desk.ask(call)
        except Exception as error:  # noqa: BLE001 -- the reading decides
            failure = error
