"""The shared options as pydantic fields, and what both components do with them."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import fields
from typing import Any

from llama_index.core.bridge.pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from oprag.context import (
    ContextOptions,
    Order,
    Overflow,
    Selection,
    check_preset,
    unfilled_message,
    with_preset,
)
from oprag.errors import InvalidOptionError, UnfilledBudgetWarning, refuse_misspelt
from oprag.positions import MissingDocument, MissingPosition

_NAMES = tuple(field.name for field in fields(ContextOptions))


class ContextFields(BaseModel):
    """Every field of `oprag.context.ContextOptions`, and `rescore`.

    The rules are there; here a value that breaks one is a `ValidationError`, on
    construction and on assignment. Unknown names are rejected.
    """

    model_config = ConfigDict(extra="forbid", strict=True, validate_assignment=True)

    top_n: int | None = Field(
        default=None, description="Nodes to keep, of the best; None for all."
    )
    token_budget: int | None = Field(
        default=None,
        description=(
            "Tokens that the nodes may take together as they are sent: with the "
            "metadata shown to the model and the separators. None for no limit."
        ),
    )
    selection: Selection = Field(
        default="budget",
        description=(
            "budget: nodes in rank order while they fit; top_k: the same, without "
            "asking for more nodes; segments and expand: text chosen by rank and "
            "position, for a token_budget, so that nodes may come in part."
        ),
    )
    preset: str | None = Field(
        default=None,
        description=(
            "A named bundle of settings for what is not set here; recall. None for "
            "none."
        ),
    )
    overflow: Overflow = Field(
        default="stop",
        description="At a node that does not fit the budget: stop, or skip it.",
    )
    order: Order = Field(
        default="document",
        description="document, or score for the retriever's own order.",
    )
    document_order: str = Field(
        default="best_rank",
        description=(
            "How several documents follow one another: best_rank, first_seen, "
            "score_sum, or a metadata key."
        ),
    )
    merge: bool = Field(
        default=False,
        description="Join touching and overlapping nodes of one document.",
    )
    max_gap: int = Field(
        default=8, description="Characters that may lie between nodes that are merged."
    )
    gap_mark: str | None = Field(
        default=None,
        description="Put between nodes of one document that do not touch.",
    )
    missing_position: MissingPosition = Field(
        default="error",
        description=(
            "For nodes without a usable position: error; last: after the others of "
            "their document; rank: their whole document stays in rank order."
        ),
    )
    missing_document: MissingDocument = Field(
        default="error",
        description="For nodes that name no document: error, or one: all are of one.",
    )
    position_keys: Any = Field(
        default=None,
        description=(
            "Where the position is: a metadata key, an attribute of the node, a "
            "callable on the node, or a list of these, most significant first. None "
            "for the known keys."
        ),
    )
    document_key: Any = Field(
        default=None,
        description=(
            "Where the document's identity is, as position_keys; of a list the first "
            "that gives a value. None for the known keys."
        ),
    )
    token_counter: Any = Field(
        default=None,
        description=(
            "A callable from a text to its number of tokens, a tokenizer, or a name. "
            "None for cl100k."
        ),
    )
    separator: str = Field(
        default="\n\n",
        description=(
            "What the application puts between the nodes' texts; LlamaIndex's response "
            "synthesizers put a blank line."
        ),
    )
    documents: Any = Field(
        default=None,
        description=(
            "Full texts by document name, a mapping or a callable, to fill the gaps of "
            "merged nodes from."
        ),
    )
    rescore: str | None = Field(
        default=None,
        description=(
            "Metadata key to write values to that fall in output order, for "
            "applications that sort by it afterwards; score also is the node's score."
        ),
    )

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, given: Any) -> Any:
        refuse_misspelt(given, cls.model_fields)
        return given

    # By field, because a rule for the whole would leave a wrong value assigned.
    @field_validator(*_NAMES, mode="after")
    @classmethod
    def _check_option(cls, value: Any, info: ValidationInfo) -> Any:
        ContextOptions(**{str(info.field_name): value})
        return value

    @field_validator("preset", mode="after")
    @classmethod
    def _check_preset(cls, value: str | None) -> str | None:
        check_preset(value)
        return value

    @field_validator("rescore", mode="after")
    @classmethod
    def _check_rescore(cls, value: str | None) -> str | None:
        check_rescore(value)
        return value

    def context_options(self) -> ContextOptions:
        """Return the options as the core takes them.

        Raises:
            InvalidOptionError: A value is not possible.
        """
        options = {name: getattr(self, name) for name in _NAMES}
        preset = with_preset(self.preset, {})
        options |= {n: preset[n] for n in preset if n not in self.model_fields_set}
        return ContextOptions(**options)


def check_rescore(rescore: Any) -> None:
    """Reject what is not a metadata key.

    Raises:
        InvalidOptionError: It is neither None nor a text of at least one character.
    """
    if rescore is None or (rescore and isinstance(rescore, str)):
        return
    message = (
        f"rescore={rescore!r} is not possible. It takes a metadata key, or None to "
        "change no score."
    )
    raise InvalidOptionError(message, option="rescore", value=rescore)


def refuse_lost_state(component: BaseModel, state: dict[str, Any]) -> None:
    """Refuse a pickle that would come back with other settings.

    LlamaIndex leaves out what cannot be pickled, so that it returns as its default.

    Args:
        component: What is being pickled.
        state: What LlamaIndex made of it.

    Raises:
        pickle.PicklingError: A setting is missing from the state.
    """
    kept = state["__dict__"]
    lost = [
        name
        for name in type(component).model_fields
        if name not in kept and name != "callback_manager"
    ]
    if lost:
        message = (
            f"{type(component).__name__} cannot be pickled: the value of "
            f"{', '.join(lost)} cannot be. Use a name or a function defined in a "
            "module instead of a lambda or a local function."
        )
        raise pickle.PicklingError(message)


def warn_unfilled(component: object, token_budget: int, nodes: int, how: str) -> None:
    """Warn that the retriever, not the budget, decided how much is read."""
    name = type(component).__name__
    message = unfilled_message(name, token_budget, nodes, how)
    warnings.warn(message, UnfilledBudgetWarning, stacklevel=3)
