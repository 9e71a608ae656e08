"""The options that every component shares, checked in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias

from oprag.context.merging import SourceText
from oprag.context.presets import with_preset
from oprag.context.selection import Overflow, Selection
from oprag.errors import InvalidOptionError, did_you_mean
from oprag.positions import DocumentKey, MissingDocument, MissingPosition, PositionKeys
from oprag.tokens import NamedTokenCounter, TokenCounter, resolve_token_counter

Order: TypeAlias = Literal["document", "score"]

SourceTexts: TypeAlias = Mapping[str, str] | SourceText
"""Full texts by document name: a mapping, or a callable that may give None."""

_CHOICES: dict[str, tuple[str, ...]] = {
    "selection": ("top_k", "budget", "segments", "expand"),
    "overflow": ("stop", "skip"),
    "order": ("document", "score"),
    "missing_position": ("error", "last", "rank"),
    "missing_document": ("error", "one"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextOptions:
    """How retrieved chunks become context.

    Every value is a plain JSON value, except callables, tokenizers, full texts.

    Raises:
        InvalidOptionError: On construction, for a value that an option cannot
            have. It is a `ValueError`.
    """

    top_n: int | None = None
    """Chunks to keep, of the best; None for all. At least 1."""
    token_budget: int | None = None
    """Tokens that the context may take as it is sent, separators included; None
    for no limit. At least 1."""
    selection: Selection = "budget"
    """`"budget"`: chunks in rank order while they fit; `"top_k"`: the same, and no
    more chunks are asked for than `top_n`; `"segments"` and `"expand"`: by rank and
    position, and these need a `token_budget`."""
    overflow: Overflow = "stop"
    """At a chunk that does not fit the budget: `"stop"`, or `"skip"` it."""
    order: Order = "document"
    """`"document"`, or `"score"` for the retriever's own order."""
    document_order: str = "best_rank"
    """How several documents follow one another: `"best_rank"`, `"first_seen"`,
    `"score_sum"`, or a metadata key."""
    merge: bool = False
    """Join touching and overlapping chunks of one document into passages."""
    max_gap: int = 8
    """Characters that may lie between chunks that are merged."""
    gap_mark: str | None = None
    """Put between passages of one document that do not touch; None for nothing."""
    missing_position: MissingPosition = "error"
    """For chunks without a usable position: `"error"`; `"last"`: after the others
    of their document; `"rank"`: their whole document stays in rank order."""
    missing_document: MissingDocument = "error"
    """For chunks that name no document: `"error"`, or `"one"`: all are of one."""
    position_keys: PositionKeys | None = None
    """Where the position is: a metadata key, an attribute name, a callable, or a
    list of these, most significant first; None for the known keys."""
    document_key: DocumentKey | None = None
    """Where the document's identity is: as above, of a list the first that gives
    a value; None for the known keys."""
    token_counter: TokenCounter | str | Any | None = None
    """A callable `str -> int`, a tokenizer, or its name; None for cl100k where it
    is installed, else an approximation."""
    separator: str = "\n\n"
    """What the application puts between the texts; it counts towards the budget."""
    documents: SourceTexts | None = None
    """Full texts, to fill the gaps of merged passages from; None for none."""

    def __post_init__(self) -> None:
        """Reject values that the options cannot have."""
        for option, least in (("top_n", 1), ("token_budget", 1), ("max_gap", 0)):
            _check_number(option, getattr(self, option), least)
        for option, choices in _CHOICES.items():
            value = getattr(self, option)
            if value not in choices:
                allowed = " or ".join(repr(choice) for choice in choices)
                raise _invalid(option, value, f"It takes {allowed}.")
        if not self.document_order or not isinstance(self.document_order, str):
            hint = 'It takes "best_rank", "first_seen", "score_sum" or a metadata key.'
            raise _invalid("document_order", self.document_order, hint)
        if type(self.merge) is not bool:
            raise _invalid("merge", self.merge, "It takes True or False.")
        _check_text("separator", self.separator)
        _check_text("gap_mark", "" if self.gap_mark is None else self.gap_mark)
        for option in ("position_keys", "document_key"):
            _check_keys(option, getattr(self, option))

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> ContextOptions:
        """Make options from keyword arguments, unknown ones rejected.

        Args:
            options: Fields of this class, and `preset`: the name of a bundle of
                settings (`oprag.context.presets`) for what is not given.

        Raises:
            InvalidOptionError: An option is unknown (the message names the nearest
                known one) or has a value that it cannot have.
        """
        known = [field.name for field in fields(cls)]
        given = dict(options)
        options = with_preset(given.pop("preset", None), given)
        for option, value in options.items():
            if option not in known:
                message = (
                    f"There is no option {option!r}."
                    f"{did_you_mean(option, [*known, 'preset'])} Known options: "
                    f"{', '.join(known)}, preset."
                )
                raise InvalidOptionError(message, option=option, value=value)
        return cls(**options)

    def needed_budget(self) -> int | None:
        """The token budget.

        Raises:
            InvalidOptionError: There is none, and the selection needs one.
        """
        if self.token_budget is None and self.selection in {"segments", "expand"}:
            message = (
                f"selection={self.selection!r} chooses what to read for a number of "
                'tokens, and none is given. Set token_budget= (preset="recall" needs '
                'it too), or use selection="budget".'
            )
            raise InvalidOptionError(message, option="token_budget", value=None)
        return self.token_budget

    def counting_once(self) -> ContextOptions:
        """Return the same options with the counter of a tokenizer object made.

        Making it copies the tokenizer, which takes longer than everything else that
        is done for a query. Names are made into a counter only once anyway.
        """
        spec = self.token_counter
        if spec is None or isinstance(spec, (str, NamedTokenCounter)):
            return self
        return replace(self, token_counter=resolve_token_counter(spec))

    def source_text(self) -> SourceText | None:
        """The full texts as a function of the document's name; None without."""
        if self.documents is None or callable(self.documents):
            return self.documents
        return self.documents.get


def _check_number(option: str, value: Any, least: int) -> None:
    if value is None and option != "max_gap":
        return
    if type(value) is not int or value < least:
        raise _invalid(option, value, f"It takes a whole number from {least} on.")


def _check_text(option: str, value: Any) -> None:
    if not isinstance(value, str):
        raise _invalid(option, value, "It takes a text.")


def _check_keys(option: str, keys: Any) -> None:
    listed = list(keys) if isinstance(keys, (list, tuple)) else [keys]
    if keys is None or (
        listed
        and all(callable(key) or (key and isinstance(key, str)) for key in listed)
    ):
        return
    hint = "It takes a metadata key, an attribute name, a callable, or a list of these."
    raise _invalid(option, keys, hint)


def _invalid(option: str, value: Any, hint: str) -> InvalidOptionError:
    message = f"{option}={value!r} is not possible. {hint}"
    return InvalidOptionError(message, option=option, value=value)
