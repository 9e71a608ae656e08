"""The options that every component shares, as pydantic fields."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from langchain_core.documents import Document
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    SkipValidation,
    ValidationInfo,
    field_validator,
    model_validator,
)

from langchain_oprag._convert import Ordered, put_in_order
from oprag.context import (
    ContextOptions,
    Order,
    Overflow,
    Selection,
    SourceTexts,
    unfilled_message,
    with_preset,
)
from oprag.errors import UnfilledBudgetWarning, refuse_misspelt
from oprag.positions import DocumentKey, MissingDocument, MissingPosition, PositionKeys
from oprag.tokens import NamedTokenCounter, TokenizerSpec, resolve_token_counter

_SHARED = tuple(
    field.name
    for field in fields(ContextOptions)
    if field.name not in {"top_n", "token_counter"}
)


class SharedOptions(BaseModel):
    """Options that all components take under the same names.

    They are checked by `oprag.context.ContextOptions`, on construction and on
    assignment; pydantic itself checks and copies nothing. A component names this
    class last among its bases, so that its configuration holds.
    """

    model_config = ConfigDict(
        arbitrary_types_allowed=True, extra="forbid", validate_assignment=True
    )

    token_budget: SkipValidation[int | None] = None
    """Tokens that the context may take as it is sent, separators included; None
    for no limit."""
    selection: SkipValidation[Selection] = "budget"
    """`"budget"`: documents in rank order while they fit; `"top_k"`: the same, without
    asking for more than `k`; `"segments"` and `"expand"`: text chosen by rank and
    position, for a `token_budget`, so that documents may come in part."""
    preset: SkipValidation[str | None] = None
    """A named bundle of settings for what is not set here: `"recall"`."""
    overflow: SkipValidation[Overflow] = "stop"
    """At a document that does not fit the budget: `"stop"`, or `"skip"` it."""
    order: SkipValidation[Order] = "document"
    """`"document"`, or `"score"` for the retriever's own order."""
    document_order: SkipValidation[str] = "best_rank"
    """How several documents follow one another: `"best_rank"`, `"first_seen"`,
    `"score_sum"`, or a metadata key."""
    merge: SkipValidation[bool] = False
    """Join touching and overlapping chunks; the result then has fewer documents."""
    max_gap: SkipValidation[int] = 8
    """Characters that may lie between chunks that are merged."""
    gap_mark: SkipValidation[str | None] = None
    """Put between passages of one document that do not touch; None for nothing."""
    missing_position: SkipValidation[MissingPosition] = "error"
    """For chunks without a usable position: `"error"`, `"last"` or `"rank"`."""
    missing_document: SkipValidation[MissingDocument] = "error"
    """For chunks that name no document: `"error"`, or `"one"`: all are of one."""
    position_keys: SkipValidation[PositionKeys | None] = None
    """Where the position is: a metadata key, an attribute of `Document`, a callable
    on it, or a list of these; None for the known keys."""
    document_key: SkipValidation[DocumentKey | None] = None
    """Where the document's identity is: as above, of a list the first that gives a
    value; None for the known keys."""
    rescore: str | None = Field(default=None, min_length=1, strict=True)
    """Metadata key to write scores to that fall from 1 in the order of the result,
    for applications that sort by it; the value that was there is kept under
    `original_<key>`. None for none."""
    token_counter: SkipValidation[TokenizerSpec] = None
    """A callable `str -> int`, a tokenizer, or its name; None for cl100k where it is
    installed, else an approximation."""
    separator: SkipValidation[str] = "\n\n"
    """What the application puts between the documents; it counts as sent text."""
    documents: SkipValidation[SourceTexts | None] = Field(default=None, repr=False)
    """Full texts by document name, to fill the gaps of merged passages from: a
    mapping, or a callable that may give None; None for none."""

    _counter: tuple[Any, NamedTokenCounter] | None = PrivateAttr(default=None)
    _warned: bool = PrivateAttr(default=False)

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, given: Any) -> Any:
        refuse_misspelt(given, cls.model_fields)
        return given

    # Field by field, because pydantic keeps an assigned value that only a validator
    # of the whole model refuses.
    @field_validator(*_SHARED, "preset", "top_n", check_fields=False)
    @classmethod
    def _check(cls, value: Any, info: ValidationInfo) -> Any:
        ContextOptions.from_options({str(info.field_name): value})
        return value

    def _context_options(
        self, top_n: int | None, counter: NamedTokenCounter | None
    ) -> ContextOptions:
        shared = {name: getattr(self, name) for name in _SHARED}
        return ContextOptions(
            top_n=top_n, token_counter=counter, **{**shared, **self._of_preset()}
        )

    def _of_preset(self) -> dict[str, Any]:
        """The preset's settings, but for those that were set explicitly."""
        settings = with_preset(self.preset, {})
        set_here = self.model_fields_set
        return {name: settings[name] for name in settings if name not in set_here}

    def _selection(self) -> Selection:
        selection: Selection = self._of_preset().get("selection", self.selection)
        return selection

    def _budget_to_fill(self) -> int | None:
        """The token budget, unless as many documents as come are all that is wanted."""
        return None if self._selection() == "top_k" else self.token_budget

    def _put_in_order(
        self, documents: Sequence[Document], top_n: int | None
    ) -> Ordered:
        """Select, order and merge.

        Args:
            documents: Best first.
            top_n: How many to keep at most; None for all.
        """
        counter = None if self.token_budget is None else self._resolved_counter()
        options = self._context_options(top_n, counter)
        return put_in_order(documents, options, rescore=self.rescore)

    def _resolved_counter(self) -> NamedTokenCounter:
        # Resolving copies a tokenizer object, which takes longer than a query.
        if self._counter is None or self._counter[0] is not self.token_counter:
            self._counter = (
                self.token_counter,
                resolve_token_counter(self.token_counter),
            )
        return self._counter[1]

    def _warn_unfilled(self, found: int, setting: str) -> None:
        """Say once that all that was found fits the budget, and what to change."""
        if self._warned or self.token_budget is None:
            return
        self._warned = True
        name = type(self).__name__
        message = unfilled_message(name, self.token_budget, found, setting)
        warnings.warn(message, UnfilledBudgetWarning, stacklevel=3)
