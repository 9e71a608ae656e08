"""`python -m benchmarks.conversations`: what a chat costs that searches at every turn.

BM25 ranks chunks of 128 tokens, a tool of LangChain fills the budget with them, and a
scripted chat model records each prompt at its door. It writes `conversations.md`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import bm25s  # type: ignore[import-untyped]  # has no types
from bm25s.stopwords import STOPWORDS_EN  # type: ignore[import-untyped]  # as above
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatResult
from langchain_core.retrievers import BaseRetriever

from langchain_oprag import (
    EvidenceMiddleware,
    OffsetTokenSplitter,
    create_retrieval_tool,
)
from oprag.marks import escape_marks
from oprag.stores.bm25_tokenizer import words_of
from oprag.tokens import resolve_token_counter

BUDGETS = {"qmsum": 4_000, "squality": 2_000, "chunking_eval": 5_000}
BUDGETS |= {"nocha_sample": 8_000}
"""The sets, and the tokens that a search may return."""
TURNS = 20
CACHED = 0.1
"""What a cached token costs."""
TASK = SystemMessage("Answer from the passages. Name them by their numbers.")
PLACE = re.compile(r"^\[\d+\] \S+, characters ([\d\- and]+)$", re.MULTILINE)


class Turn(NamedTuple):
    """A question of a chat."""

    question: str
    answer: str
    evidence: Sequence[tuple[int, int]] = ()


class Read(NamedTuple):
    """What one prompt held."""

    tokens: int
    cached: int
    twice: int
    """Characters of the document that it shows more than once."""
    evidence: float | None
    """Share of the characters of the question's evidence; None where there is none."""

    @property
    def price(self) -> float:
        """In tokens that no cache holds."""
        return self.tokens - (1 - CACHED) * self.cached


class RankedByWords(BaseRetriever):
    """BM25 over the chunks of one text, all of them, best first."""

    chunks: list[Document]
    index: Any = None

    def model_post_init(self, context: Any, /) -> None:
        """Index the words."""
        super().model_post_init(context)
        self.index = bm25s.BM25()
        words = [words_of(each.page_content, STOPWORDS_EN) for each in self.chunks]
        self.index.index(words, show_progress=False)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 -- LangChain's
    ) -> list[Document]:
        words = words_of(query, STOPWORDS_EN)
        asked = [word for word in words if word in self.index.vocab_dict]
        scores = self.index.get_scores(asked) if asked else [0.0] * len(self.chunks)
        best = sorted(range(len(self.chunks)), key=lambda n: (-scores[n], n))
        return [self.chunks[n] for n in best]


class Recording(GenericFakeChatModel):
    """Answers as scripted, and keeps what it was sent."""

    prompts: list[list[BaseMessage]]

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.prompts.append(messages)
        return super()._generate(messages)


Prompt = Callable[[list[BaseMessage]], list[BaseMessage]]
"""Makes what the model reads of a conversation that ends with a search."""


def replaced(messages: list[BaseMessage]) -> list[BaseMessage]:
    """The context of this turn alone, in the system message, before what was said."""
    said = [m for m in messages if isinstance(m, (HumanMessage, AIMessage)) and m.text]
    return [SystemMessage(f"{TASK.text}\n\n{messages[-1].text}"), *said]


def replaced_last(messages: list[BaseMessage]) -> list[BaseMessage]:
    """The same, with the context behind all that was said."""
    *said, asked = replaced(messages)[1:]
    return [TASK, *said, HumanMessage(f"{messages[-1].text}\n\n{asked.text}")]


def appended(messages: list[BaseMessage]) -> list[BaseMessage]:
    """All contexts, as they were found."""
    return [TASK, *messages]


def unseen(messages: list[BaseMessage]) -> list[BaseMessage]:
    """All contexts, each character once."""
    return [TASK, *EvidenceMiddleware().apply(messages)]


ARMS: dict[str, tuple[Prompt, float]] = {
    "replaced, in the system message": (replaced, 1),
    "replaced, behind what was said": (replaced_last, 1),
    "appended, all again": (appended, 1),
    "appended, only what is unseen": (unseen, 1),
    "the same, three quarters of that a search": (unseen, 0.75),
}
"""How a prompt is made, and of how much of the budget."""


def chat(
    name: str, text: str, turns: Sequence[Turn], budget: int
) -> dict[str, list[Read]]:
    """What the model reads at each turn, for each of `ARMS`."""
    splitter = OffsetTokenSplitter(chunk_size=128, chunk_overlap=0)
    chunks = splitter.split_documents([Document(text, metadata={"source": name})])
    ranked = RankedByWords(chunks=chunks)
    read = {}
    for arm, (prompt, share) in ARMS.items():
        search = create_retrieval_tool(ranked, token_budget=int(share * budget))
        replies = iter([AIMessage(turn.answer) for turn in turns])
        model, messages = Recording(messages=replies, prompts=[]), []
        for number, turn in enumerate(turns):
            asked = {"query": turn.question}
            call = {"name": search.name, "args": asked, "id": f"{number}"}
            messages += [HumanMessage(turn.question), AIMessage("", tool_calls=[call])]
            messages.append(search.invoke({**call, "type": "tool_call"}))
            messages.append(model.invoke(prompt(messages)))
        read[arm] = [*_read(model.prompts, text, turns)]
    return read


def _read(
    prompts: Sequence[list[BaseMessage]], text: str, turns: Sequence[Turn]
) -> Iterator[Read]:
    count, before = resolve_token_counter("cl100k_base"), ""
    for prompt, turn in zip(prompts, turns, strict=True):
        written = "\n".join(map(_written, prompt))
        cached = count(_beginning(before, written))
        shown = _shown(written, text)
        wanted = {n for start, end in turn.evidence for n in range(start, end)}
        kept = len(wanted & {*shown}) / len(wanted) if wanted else None
        yield Read(count(written), cached, len(shown) - len({*shown}), kept)
        before = written


def _beginning(before: str, after: str) -> str:
    """What both begin with."""
    pairs = zip(before, after, strict=False)
    return after[: sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))]


def _written(message: BaseMessage) -> str:
    calls = getattr(message, "tool_calls", None)
    asked = json.dumps([call["args"] for call in calls]) if calls else ""
    return f"<{message.type}>\n{message.text}{asked}"


def _shown(written: str, text: str) -> list[int]:
    """The characters that stand behind the places of a prompt, as these say."""
    shown: list[int] = []
    for place in PLACE.finditer(written):
        spans = [(int(a), int(b)) for a, b in re.findall(r"(\d+)-(\d+)", place[1])]
        start, end = spans[0]
        if not written.startswith(escape_marks(text[start:end]), place.end() + 1):
            raise ValueError(f"{place[0]} stands before another text.")
        shown += [n for start, end in spans for n in range(start, end)]
    return shown


HEAD = f"""# What a chat costs that searches at every turn

Made by `python -m benchmarks.conversations`. Each document is a chat, its questions are
the turns, {TURNS} at most; a search returns at most 4,000 tokens (qmsum), 2,000
(squality), 5,000 (chunking_eval), 8,000 (nocha_sample). Means of a turn:

- *Tokens* of the prompt, with what was asked and answered before.
- *Cached*: the share with which it begins as the prompt before it.
- *Price*, in tokens that no cache holds; one that a cache holds costs {CACHED}.
- *Twice*: characters of the document that the prompt shows again.
- *Evidence*: the share of the characters of the question's evidence that the prompt
  holds, where it is known.

"""


def table(read: dict[str, dict[str, list[Read]]]) -> str:
    """The measured prompts of each set, in Markdown."""
    lines = [
        "| set | context | tokens | cached | price | of replacing | twice | evidence |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, arms in read.items():
        first = mean(each.price for each in next(iter(arms.values())))
        for arm, prompts in arms.items():
            tokens = sum(each.tokens for each in prompts)
            cached = sum(each.cached for each in prompts) / tokens
            price = mean(each.price for each in prompts)
            twice = sum(each.twice for each in prompts) / len(prompts)
            kept = [each.evidence for each in prompts if each.evidence is not None]
            lines.append(
                f"| {name} | {arm} | {tokens / len(prompts):,.0f} | {cached:.1%} | "
                f"{price:,.0f} | {price / first:.0%} | {twice:,.0f} | "
                f"{f'{mean(kept):.1%}' if kept else '–'} |"
            )
    return "\n".join(lines) + "\n"


def chats(folder: Path) -> Iterator[tuple[str, str, list[Turn]]]:
    """Each document of a set with its questions."""
    documents, questions = (
        [
            json.loads(line)
            for line in (folder / file).read_text("utf-8").split("\n")
            if line
        ]
        for file in ("docs.jsonl", "questions.jsonl")
    )
    for document in documents:
        asked = [q for q in questions if q["doc_id"] == document["doc_id"]][:TURNS]
        turns = [
            Turn(q["question"], (q["answers"] or ["Yes."])[0], q.get("evidence") or ())
            for q in asked
        ]
        yield document["doc_id"], document["text"], turns


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.conversations")
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    default = Path(os.environ.get("OPRAG_BENCHMARK_DATA", beside))
    parser.add_argument("--data", type=Path, default=default)
    parser.add_argument("--sets", nargs="*", choices=BUDGETS, default=[*BUDGETS])
    given = parser.parse_args()
    if not given.data.is_dir():
        sys.exit(f"No question sets in {given.data}; name their folder with --data.")
    read: dict[str, dict[str, list[Read]]] = {}
    for name in given.sets:
        read[name] = {arm: [] for arm in ARMS}
        for document, text, turns in chats(given.data / name):
            for arm, prompts in chat(document, text, turns, BUDGETS[name]).items():
                read[name][arm] += prompts
    (Path(__file__).parent / "conversations.md").write_text(HEAD + table(read), "utf-8")


if __name__ == "__main__":
    main()
