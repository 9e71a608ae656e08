"""Gold passages: texts that hold an answer, found again in the documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from oprag.chunk import Span
from oprag_eval.data.records import Document

_WORD = re.compile(r"\S+")


class Found(NamedTuple):
    """The place of a gold passage."""

    document: str
    span: Span


def find_passage(
    passage: str, documents: Mapping[str, Document], among: Iterable[str] = ()
) -> list[Found]:
    """Find every document that holds a passage, white space aside.

    Args:
        passage: Not blank.
        documents: By id.
        among: Ids of the documents that may hold it. Empty: all.

    Returns:
        Its first place in each, in the order of the documents; empty if none has it.
    """
    words = _WORD.findall(passage)
    if not words:
        return []
    wanted = re.compile(r"\s+".join(map(re.escape, words)))
    return [
        Found(doc_id, Span(*match.span()))
        for doc_id in [*among] or documents
        if (match := wanted.search(documents[doc_id].text))
    ]


def place_passages(
    passages: Iterable[str], documents: Mapping[str, Document], doc_id: str
) -> tuple[str, list[Span]] | None:
    """Place all gold passages of a question in one document.

    Args:
        passages: Their texts.
        documents: By id.
        doc_id: The document that the question names. Empty: the one that holds all.

    Returns:
        The document and the spans; None unless exactly one holds all of them.
    """
    listed = [*passages]
    places = [
        {each.document: each.span for each in find_passage(text, documents, names)}
        for text in listed
        for names in [[doc_id] if doc_id else []]
    ]
    if not places:
        return None
    shared = set.intersection(*(set(each) for each in places))
    if len(shared) != 1:
        return None
    (document,) = shared
    return document, [each[document] for each in places]


def missing_passages(
    passages: Iterable[str], documents: Mapping[str, Document], doc_id: str
) -> Iterator[str]:
    """Yield the passages that stand in no document, or not in the one that is named."""
    for text in passages:
        if not find_passage(text, documents, [doc_id] if doc_id else []):
            yield text
