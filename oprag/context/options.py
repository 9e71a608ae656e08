"""The options that every component shares: the one list of them, checked here.

The fields of the adapters' components are made from this list. The description of an
option and its default are nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from inspect import cleandoc
from typing import Any, Literal, TypeAlias, TypedDict, get_args

from oprag.chunk import FullText
from oprag.documents import (
    DocumentSource,
    SourceLike,
    document_source,
    refuse_strangers,
)
from oprag.errors import (
    DocumentNotFoundError,
    InvalidOptionError,
    invalid_option,
    refuse_unknown,
)
from oprag.ordering import SortDocuments
from oprag.positions import DocumentKey, PositionKeys
from oprag.tokens import TokenizerSpec

Order: TypeAlias = Literal["document", "rank"]
Selection: TypeAlias = Literal["budget", "recall"]
"""Ways to choose the text that is kept; docs/selection.md compares them."""
OnProblem: TypeAlias = Literal["error", "warn"]
Widen: TypeAlias = int | Literal["fill"]
"""The number of neighbours to read on each side of a hit, or as many as fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextOptions:
    """The options that turn retrieved chunks into context.

    Every value is a plain JSON value, except callables, tokenizers and full texts.

    Args:
        top_n: The number of best chunks to keep; None for all.
        token_budget: Tokens of the context as sent, with separators, marks and the
            metadata that a framework puts before a text. None for no limit.
        selection: `"budget"` keeps chunks in rank order while they fit. `"recall"`
            keeps the text that is worth most by its own rank and its neighbours', for a
            `token_budget`, and may keep parts of chunks.
        order: `"document"`, or `"rank"` for the retriever's own order.
        sort_documents: How several documents follow one another: `"best_rank"`, or a
            function from the chunks of one document, best first, to a sort key.
        merge: Join touching and overlapping chunks of one document; the result then
            has fewer of them. None: only `selection="recall"` joins them.
        citations: Whether to write each text's place, and `[…]` between texts of one
            document that do not touch, when text is made for a model. The budget
            leaves room for both.
        on_problem: For documents that cannot be put in order: `"error"`, or `"warn"`
            and go on. Chunks without a place then follow those of their document by
            rank, and documents whose places contradict one another stand by rank,
            marked.
        position_keys: The source of the position: a metadata key, an attribute of the
            framework's object, a callable on it, or a list of these, most significant
            first. None for the known keys. Your own key says where a chunk begins, not
            where its end is.
        document_key: The source of the document's identity, as in `position_keys`; of
            a list, the first that gives a value. None for the known keys.
        token_counter: A callable `str -> int`, a tokenizer, or its name; None for
            cl100k if its file is here or can be fetched, else an approximation.
        separator: The text that the application puts between the texts; it counts
            towards the budget.
        documents: Full texts by document name, as anything that `document_source`
            takes: a mapping, a function, a folder, a store, a list of documents. None
            for none. They fill gaps, widen, and find chunks that lack a place,
            contradict another, or have a header. Texts in memory prove every place. A
            store is read as the search's filter admits.

    Raises:
        InvalidOptionError: On construction, for a value that an option cannot
            have. It is a `ValueError`.
    """

    top_n: int | None = None
    token_budget: int | None = None
    selection: Selection = "budget"
    order: Order = "document"
    sort_documents: SortDocuments = "best_rank"
    merge: bool | None = None
    citations: bool = False
    on_problem: OnProblem = "error"
    position_keys: PositionKeys | None = None
    document_key: DocumentKey | None = None
    token_counter: TokenizerSpec = None
    separator: str = "\n\n"
    documents: SourceLike | None = None

    def __post_init__(self) -> None:
        """Reject values that the options cannot have."""
        for option in DEFAULTS:
            check_option(option, getattr(self, option))
        if self.documents is not None:
            object.__setattr__(self, "documents", document_source(self.documents))

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> ContextOptions:
        """Make options from keyword arguments, unknown ones rejected.

        Raises:
            InvalidOptionError: An option is unknown (see `refuse_unknown`) or has a
                value that it cannot have.
        """
        refuse_unknown(options, DEFAULTS)
        return cls(**options)

    def require_budget(self) -> int | None:
        """Return the token budget.

        Raises:
            InvalidOptionError: There is none, and the selection needs one.
        """
        if self.token_budget is None and self.selection == "recall":
            message = (
                f"selection={self.selection!r} chooses what to read for a number of "
                'tokens, and none is given. Set token_budget=, or selection="budget".'
            )
            raise InvalidOptionError(message, option="token_budget", value=None)
        return self.token_budget

    @property
    def merges(self) -> bool:
        """Whether neighbours are joined."""
        return self.selection == "recall" if self.merge is None else self.merge

    def best_first(self) -> ContextOptions:
        """Return the same choice of text, in rank order and with nothing joined."""
        return replace(self, order="rank", merge=False, citations=False)

    def source_text(self) -> TextsByName | None:
        """Return the full texts as a function of the document's name; None without any.

        A text that is not exact counts as none: offsets are into the exact text.
        """
        if not isinstance(self.documents, DocumentSource):
            return None
        return TextsByName(self.documents)


class TextsByName:
    """Full texts by name, and a record of the names that were asked for.

    Args:
        source: The source that they are read from.
    """

    def __init__(self, source: DocumentSource) -> None:
        self.source = source
        self._asked: dict[str, bool] = {}

    @property
    def at_hand(self) -> bool:
        """Whether the texts are in memory."""
        return self.source.at_hand

    def __call__(self, name: str) -> str | None:
        """Return the exact text of a document; None if there is none."""
        found = self.find_text(name)
        return None if found is None else found.text

    def find_text(self, name: str) -> FullText | None:
        """Return the exact text with all that is known of it; None if there is none."""
        try:
            found = self.source.read(name)
        except DocumentNotFoundError:
            self._asked[name] = False
            return None
        self._asked[name] = True
        return found if found.exact else None

    def check_any_found(self) -> None:
        """Refuse a source that has none of the documents that were asked for.

        Raises:
            DocumentNotFoundError: As `oprag.documents.refuse_strangers`.
        """
        refuse_strangers(self._asked, self.source)


DEFAULTS: dict[str, Any] = {f.name: f.default for f in fields(ContextOptions)}
"""The value of every option that is not given."""


def _arguments(documented: type) -> dict[str, str]:
    """Return the description of each argument in a docstring."""
    section = cleandoc(documented.__doc__ or "").partition("\nArgs:\n")[2]
    entries = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", section, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in entries}


DESCRIPTIONS: dict[str, str] = {
    **dict.fromkeys(DEFAULTS, ""),  # python -OO has no docstrings
    **_arguments(ContextOptions),
    "widen": (
        "Also read chunks beside each hit from its store: this many on each side; "
        '`"fill"`: as many as the `token_budget` has room for. With `"recall"`, or a '
        "number and no `k`, fewer hits are kept. The search's filter holds. None: none."
    ),
    "bm25": (
        "Find chunks of the store by the question's words, too (BM25). The search's "
        'filter holds. Needs `pip install "oprag[bm25]"`.'
    ),
    "verify_index": (
        "Look at a sample of the store with the first question, and warn once of what "
        "will fail. False: never."
    ),
}
"""Descriptions of all options, also of those that only the adapters have."""


class OrderingKeywords(TypedDict, total=False):
    """The options of order and of the keys that it is read from, for type checkers."""

    order: Order
    sort_documents: SortDocuments
    position_keys: PositionKeys | None
    document_key: DocumentKey | None
    separator: str


class ContextKeywords(OrderingKeywords, total=False):
    """The shared options, but for those that a component documents or types itself."""

    on_problem: OnProblem
    token_counter: TokenizerSpec
    token_budget: int | None
    selection: Selection
    merge: bool | None
    citations: bool


def check_option(option: str, value: Any) -> None:
    """Reject a value that an option cannot have.

    Raises:
        InvalidOptionError: The message says which values it takes.
    """
    if option in _CHECKED:
        possible, takes = _CHECKED[option]
        if not possible(value):
            raise invalid_option(option, value, f"It takes {takes}.")


_Check: TypeAlias = tuple[Callable[[Any], bool], str]
"""A test of a value, and the possible values in words, after "It takes"."""


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 1


def _is_switch(value: Any) -> bool:
    return type(value) is bool


def _is_key(value: Any) -> bool:
    keys = value if isinstance(value, (list, tuple)) else [value]
    named = all(callable(key) or (isinstance(key, str) and key) for key in keys)
    return named and len(keys) > 0


def _or_none(possible: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or possible(value)


def _one_of(choices: Any) -> _Check:
    allowed = get_args(choices)
    return lambda value: value in allowed, " or ".join(map(repr, allowed))


_COUNT = _or_none(_is_count), "a whole number from 1 on, or None for as many as come"
_KEYS = (
    _or_none(_is_key),
    "a metadata key, an attribute, a function, or a list of them",
)
_SWITCH = _is_switch, "True or False"
_CHECKED: dict[str, _Check] = {
    **dict.fromkeys(("top_n", "k", "similarity_top_k"), _COUNT),
    "token_budget": (_COUNT[0], "a whole number from 1 on, or None for no limit"),
    **dict.fromkeys(
        ("max_context_tokens", "answer_tokens"),
        (_COUNT[0], "a whole number from 1 on, or None for the model's own limit"),
    ),
    "one_call_below": (
        lambda value: type(value) is int and value >= 0,
        "a whole number from 0 on",
    ),
    "selection": _one_of(Selection),
    "order": _one_of(Order),
    "sort_documents": (
        lambda value: callable(value) or value == "best_rank",
        "'best_rank', or a function from a document's chunks to a key",
    ),
    "merge": (_or_none(_is_switch), "True, False or None"),
    "bm25": _SWITCH,
    "verify_index": _SWITCH,
    "citations": _SWITCH,
    "on_problem": _one_of(OnProblem),
    "position_keys": _KEYS,
    "document_key": _KEYS,
    "separator": (lambda value: isinstance(value, str), "a text"),
    "sample": (_COUNT[0], "a number of chunks, or None for all"),
    "widen": (
        lambda value: value in (None, "fill") or _is_count(value),
        'a number of neighbours from 1 on, "fill", or None',
    ),
}
