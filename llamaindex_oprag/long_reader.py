"""`LongReaderSynthesizer`: a long answer from units, then a short one from that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from llama_index.core.settings import Settings
from llama_index.core.types import RESPONSE_TEXT_TYPE

from llamaindex_oprag._answers import EMPTY_RESPONSE, Answering, DrivenSynthesizer
from llamaindex_oprag._llms import check_llm
from llamaindex_oprag._options import default_tokenizer
from llamaindex_oprag._prompts import check_template
from llamaindex_oprag.results import as_nodes, as_passages
from oprag.calls import Dialogue, arun_dialogue, run_dialogue
from oprag.documents import check_entries
from oprag.effects import run_in_thread
from oprag.errors import refuse_unknown
from oprag.tokens import NamedTokenCounter, TokenizerSpec, resolve_token_counter
from oprag.units import (
    DIRECT_PROMPT,
    LONG_PROMPT,
    PROMPT_VARIABLES,
    SHORT_PROMPT,
    LongAnswer,
    check_reader_option,
    read_long,
)

_PROMPTS = {f"{name}_prompt": name for name in PROMPT_VARIABLES}
"""Names of the prompts, and of the calls that they are for."""


class LongReaderSynthesizer(DrivenSynthesizer):
    """Answers from long units in two calls of the model.

    The first reads the units and writes a long answer, of some sentences. The second
    reads only the question and the long answer, with examples, and writes a short
    one. A context of fewer than 1,000 tokens takes one call. Put it after a
    `LongUnitRetriever`::

        RetrieverQueryEngine(retriever, LongReaderSynthesizer(llm))

    A response has

    - `response`: the short answer; LlamaIndex's "Empty Response" if there was
      nothing to read, and no call;
    - `source_nodes`: the nodes that were read, each with its place;
    - `metadata["long_answer"]`: the first call's reply; None if there was one call
      or none;
    - `metadata["usage"]`: the calls and their tokens, see `oprag.calls.Ledger.to_dict`.
      Its `steps` are the calls: `"long"` and `"short"`, or `"direct"`. With OpenAI and
      servers like it a stream is counted by the provider only if the LLM has
      `additional_kwargs={"stream_options": {"include_usage": True}}`.

    A streamed response is the short answer, piece by piece; the call before it is not
    streamed. `metadata` is complete when the stream has ended. An async stream
    calls the model only when it is read.

    Args:
        llm: Reads and answers; None for `Settings.llm`.
        callback_manager: None for `Settings.callback_manager`. As everywhere in
            LlamaIndex it is set on the LLM.
        streaming: Whether to return as soon as the short answer begins.
        long_prompt: The prompt of the first call, in the place of the built-in one: a
            template, or the text of one, with `{context_str}` and `{query_str}`.
        short_prompt: The prompt of the second call, with `{query_str}` and
            `{long_answer}`.
        direct_prompt: The prompt of the only call for a short context, with the
            variables of `long_prompt`.
        max_context_tokens: Tokens of prompt and answer that the model takes; None for
            the number in the LLM's metadata, unless it is only the default of its
            class.
        **options: The other options, such as `one_call_below` and `answer_tokens`.

    Raises:
        InvalidOptionError: On construction and by `update_prompts`, for an option that
            cannot have this value.
        ModelCallError: When asked: the model failed, or gave an empty reply. It
            carries the long answer, if there is one, and the tokens used.
        ContextWindowError: When asked: a prompt does not fit the window. Units are
            read whole or not at all.

    Source:
        LongRAG (arXiv 2406.15319).
    """

    def __init__(
        self,
        llm: LLM | None = None,
        *,
        callback_manager: CallbackManager | None = None,
        streaming: bool = False,
        long_prompt: str | BasePromptTemplate = LONG_PROMPT,
        short_prompt: str | BasePromptTemplate = SHORT_PROMPT,
        direct_prompt: str | BasePromptTemplate = DIRECT_PROMPT,
        one_call_below: int = 1000,
        max_context_tokens: int | None = None,
        answer_tokens: int | None = None,
        prices: Mapping[str, Sequence[float]] | None = None,
        separator: str = "\n\n",
        token_counter: TokenizerSpec = None,
    ) -> None:
        self.one_call_below = one_call_below
        self.max_context_tokens = max_context_tokens
        self.answer_tokens = answer_tokens
        self.prices = prices
        self.separator = separator
        self.token_counter = token_counter
        for option, value in vars(self).items():
            check_reader_option(option, value)
        super().__init__(
            llm=check_llm("llm", Settings.llm if llm is None else llm),
            callback_manager=callback_manager or Settings.callback_manager,
            streaming=streaming,
        )
        self.templates: dict[str, BasePromptTemplate] = {}
        self._update_prompts(
            {
                "long_prompt": long_prompt,
                "short_prompt": short_prompt,
                "direct_prompt": direct_prompt,
            }
        )

    @property
    def counter(self) -> NamedTokenCounter:
        """The counter of tokens, loaded when it is first used."""
        return resolve_token_counter(default_tokenizer(self.token_counter))

    def get_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> RESPONSE_TEXT_TYPE:
        """Answer from bare texts, in their reading order.

        Returns:
            The short answer, or its pieces with `streaming`.

        Raises:
            OpragError: As for the class.
        """
        reading = _LongReading(self, query_str, text_chunks)
        pieces = run_dialogue(reading, streaming=self._streaming)
        return pieces if self._streaming else "".join(pieces)

    async def aget_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> RESPONSE_TEXT_TYPE:
        """Async version of `get_response`."""
        begin = partial(_LongReading, self, query_str, text_chunks)
        reading = await run_in_thread(begin)
        pieces = arun_dialogue(reading, streaming=self._streaming)
        if self._streaming:
            return pieces
        return "".join([piece async for piece in pieces])

    def _begin_answering(
        self,
        query: QueryBundle,
        nodes: Sequence[NodeWithScore],
        additional: Sequence[NodeWithScore],
    ) -> _LongReading:
        texts = [n.node.get_content(metadata_mode=MetadataMode.LLM) for n in nodes]
        return _LongReading(self, query.query_str, texts, nodes, additional)

    def _get_prompts(self) -> PromptDictType:
        return {f"{name}_prompt": each for name, each in self.templates.items()}

    def _update_prompts(
        self, prompts_dict: Mapping[str, str | BasePromptTemplate]
    ) -> None:
        refuse_unknown(prompts_dict, _PROMPTS)
        templates = dict(self.templates)
        for option, prompt in prompts_dict.items():
            templates[_PROMPTS[option]] = check_template(
                prompt,
                option,
                llm=self._llm,
                variables=PROMPT_VARIABLES[_PROMPTS[option]],
            )
        self.templates = templates


class _LongReading(Answering):
    """One question to the long reader.

    Args:
        reader: The reader, for its options.
        query: The question.
        texts: The texts to read.
        nodes: The nodes of these texts.
        additional: Further nodes to name as sources.
    """

    def __init__(
        self,
        reader: LongReaderSynthesizer,
        query: str,
        texts: Sequence[str],
        nodes: Sequence[NodeWithScore] = (),
        additional: Sequence[NodeWithScore] = (),
    ) -> None:
        super().__init__(reader, nodes, additional)
        check_entries("text_chunks", texts, str)
        self._reader = reader
        self._query = query
        self._text = reader.separator.join(texts)
        self._long_answer: str | None = None

    def begin_dialogue(self) -> Dialogue[LongAnswer]:
        """Run the long reader, call by call."""
        return read_long(
            self._text,
            self._query,
            self,
            ledger=self.ledger,
            token_counter=self.counter,
            one_call_below=self._reader.one_call_below,
        )

    def llm(self, prompt: str) -> LLM:
        """Return the model, which is the same for all calls."""
        llm: LLM = self._reader._llm  # noqa: SLF001 -- where LlamaIndex keeps it
        return llm

    def template(self, prompt: str) -> BasePromptTemplate:
        """Return the prompt of a call."""
        return self._reader.templates[prompt]

    def format_end(self, result: LongAnswer) -> Iterable[str]:
        """Return LlamaIndex's words if there was nothing to read."""
        self._long_answer = result.long_answer
        return (EMPTY_RESPONSE,) if result.answer is None else ()

    def nodes_read(self) -> list[NodeWithScore]:
        """Return the retrieved nodes: all of them are read."""
        return as_nodes(as_passages(self.retrieved))

    def facts(self) -> dict[str, Any]:
        """Return the long answer; None if there is none, or none yet."""
        return {"long_answer": self._long_answer}
