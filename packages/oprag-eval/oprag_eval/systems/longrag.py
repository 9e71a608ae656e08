"""LongRAG (arXiv 2406.15319): long units, found by their chunks, read in two calls."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from oprag.calls import Ledger
from oprag.context import ContextOptions
from oprag.errors import InvalidOptionError
from oprag.units import (
    DIRECT_PROMPT,
    UnitIndex,
    group_documents,
    order_units,
    read_long,
)
from oprag_eval.bench import Bench
from oprag_eval.data import Question
from oprag_eval.models import Call
from oprag_eval.requests import answer_call, choice_question, read_reply
from oprag_eval.splittings import Splitting
from oprag_eval.system import Attempt, Context, Count, Piece, System
from oprag_eval.systems.dialogue import BenchModel
from oprag_eval.systems.retrieved import Compat

Links: TypeAlias = Literal["found", "none"]
"""`"found"`: those that the set lists, or in the texts, else neighbours in a folder
(`oprag.units`). `"none"`: every document is a unit, as in sets of units."""

_OPTIONS = ContextOptions()
_SEARCHED = 200
"""Chunks that are searched for units; the authors' depth."""


@dataclass(frozen=True, kw_only=True)
class LongRag(System):
    """Reads the units of the best chunks, whole.

    Documents are grouped by the links between those of one question. A unit is as
    good as its best chunk, of the best 200. The defaults are the paper's for NQ; for
    HotpotQA it reads 8 units.

    Raises:
        InvalidOptionError: `compat="official"` with `links="none"`: the authors' code
            loses every document that has no link.
    """

    name: str = "longrag"
    k: Count = 4
    """Units that are read."""
    max_tokens: Count = 4000
    """Tokens of a unit at most."""
    chunk_size: Count = 512
    """Tokens of the chunks that are searched."""
    links: Links = "found"
    compat: Compat = "fixed"
    """`"official"` groups as the authors' code does, and loses the same documents: see
    `oprag.units.group_documents`."""

    def __post_init__(self) -> None:
        if self.compat == "official" and self.links == "none":
            message = (
                'compat="official" with links="none" is not possible: the authors\' '
                "grouping loses every document without links. Leave one of them out."
            )
            raise InvalidOptionError(message, option="links", value=self.links)

    budgeted = False
    """`k` decides how much is read."""

    async def attempt(
        self,
        question: Question,
        budget: int | None,  # noqa: ARG002 -- it has none
        bench: Bench,
    ) -> Attempt:
        """Find units, read them, and take the short answer out of the long one.

        A multiple-choice question names its options in the first call and is put to
        the long answer in the second.
        """
        context = self.context(question, bench)
        ledger = Ledger()
        documents = bench.dataset.documents
        read = dict.fromkeys(piece.document for piece in context.pieces)
        titles = ", ".join(documents[name].title or name for name in read)
        calls = functools.partial(_call, question, bench, titles)
        said = bench.wording.said
        model = BenchModel(question, bench, calls, said=said)
        reading_long = read_long(
            context.text,
            choice_question(question, bench.answer_style),
            model,
            ledger=ledger,
            token_counter=bench.counter,
        )
        text = (await model.carry_out(reading_long)).answer or ""
        return Attempt(
            prediction=read_reply(text, question, bench.answer_style),
            reply=text,
            pieces=context.pieces,
            context_tokens=bench.counter(context.text),
            steps=tuple(model.steps),
            usage={"answer": ledger.usage},
        )

    def context(self, question: Question, bench: Bench) -> Context:
        """Choose units and order them; no model is asked."""
        alone = self.links == "none"
        splitting = Splitting("tokens", self.chunk_size)
        hits = bench.ranked(question, splitting, k=_SEARCHED if alone else None)
        names = question.doc_ids
        if alone:  # each document is a unit: a corpus has very many
            names = tuple(dict.fromkeys(hit.metadata["doc_uri"] for hit in hits))
        kind = "long units", self.max_tokens, self.links, self.compat
        grouped, index = bench.kept(kind, names, lambda: self._grouped(names, bench))
        # Official grouping has lost some documents.
        hits = [hit for hit in hits if hit.metadata["doc_uri"] in grouped]
        placed = order_units(
            index.rank_units(hits[:_SEARCHED], _OPTIONS), self.k, _OPTIONS
        )

        def read(name: str) -> str:
            return bench.dataset.documents[name].text

        text = _OPTIONS.separator.join(each.unit.text(read) for each in placed)
        pieces = [
            Piece(name, *span)
            for each in placed
            for name, span in zip(
                each.unit.documents, each.unit.spans(read), strict=True
            )
        ]
        return Context(text, tuple(pieces))

    def _grouped(
        self, names: Sequence[str], bench: Bench
    ) -> tuple[set[str], UnitIndex]:
        """Return the documents in units, and the units; no names mean all documents."""
        read = [
            bench.dataset.documents[name] for name in names or bench.dataset.documents
        ]
        texts = {document.doc_id: document.text for document in read}
        listed = [(d.doc_id, to) for d in read for to in d.links if to in texts]
        units = group_documents(
            texts,
            (listed or None) if self.links == "found" else (),
            max_tokens=self.max_tokens,
            token_counter=bench.counter,
            compat="official" if self.compat == "official" else None,
        )
        grouped = {name for unit in units for name in unit.documents}
        return grouped, UnitIndex(units)


def _call(
    question: Question,
    bench: Bench,
    titles: str,
    prompt: str,
    values: Mapping[str, str],
) -> Call:
    """Make the call for one of the long reader's prompts.

    With options the call that gives the final answer is a multiple-choice question.
    """
    if prompt == "long":
        filled = bench.wording.of_units("long").format(titles=titles, **values)
        return Call("long_answer", filled, values)
    if question.options:
        key = "context" if prompt == "direct" else "long_answer"
        return answer_call(question, values[key], bench.answer_style, bench.wording)
    if prompt == "direct":
        return Call("answer", DIRECT_PROMPT.format(**values), values)
    filled = bench.wording.of_units("short").format(**values)
    return Call("short_answer", filled, values)
