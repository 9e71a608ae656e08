"""The shared options as pydantic fields: made of the core's list."""

from __future__ import annotations

import pickle
from typing import Any

from llama_index.core.bridge.pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    field_validator,
)

from llamaindex_oprag.documents import SourceLike, document_source, source_or_none
from oprag.context import (
    DEFAULTS,
    DESCRIPTIONS,
    ContextOptions,
    OnProblem,
    Order,
    OwnErrors,
    Problems,
    Selection,
    check_option,
)
from oprag.documents import SearchFilter
from oprag.ordering import DocumentOrder
from oprag.positions import DocumentKey, PositionKeys
from oprag.tokens import TokenizerSpec

_CALLABLE = ("position_keys", "document_key", "document_order", "token_counter")
_JSON = tuple(n for n in DESCRIPTIONS if n not in {*_CALLABLE, "documents"})


def option_field(name: str) -> Any:
    """Make a field of an option: its default and description are the core's."""
    return Field(
        default=DEFAULTS.get(name),
        description=DESCRIPTIONS[name],
        repr=name != "documents",
    )


class ContextFields(OwnErrors, BaseModel):
    """Every field of `oprag.context.ContextOptions`.

    They are checked by the core, on construction and on assignment; pydantic itself
    checks and copies nothing.
    """

    model_config = ConfigDict(
        arbitrary_types_allowed=True, extra="forbid", validate_assignment=True
    )

    top_n: int | None = option_field("top_n")
    token_budget: int | None = option_field("token_budget")
    selection: Selection = option_field("selection")
    order: Order = option_field("order")
    document_order: DocumentOrder = option_field("document_order")
    merge: bool | None = option_field("merge")
    citations: bool = option_field("citations")
    on_problem: OnProblem = option_field("on_problem")
    position_keys: PositionKeys | None = option_field("position_keys")
    document_key: DocumentKey | None = option_field("document_key")
    token_counter: TokenizerSpec = option_field("token_counter")
    separator: str = option_field("separator")
    documents: SourceLike | None = option_field("documents")

    # Field by field, because pydantic keeps an assigned value that only a validator
    # of the whole model refuses. Values stay as they are given: a folder is a path in
    # JSON, and nothing is read. What may be a callable has no JSON schema.
    @field_validator(*_JSON, mode="wrap", check_fields=False)
    @classmethod
    def _check_value(cls, value: Any, _: Any, info: ValidationInfo) -> Any:
        check_option(str(info.field_name), value)
        return value

    @field_validator(*_CALLABLE, "documents", mode="plain", check_fields=False)
    @classmethod
    def _check_callable(cls, value: Any, info: ValidationInfo) -> Any:
        if info.field_name == "documents" and value is not None:
            unseen = "a postprocessor cannot see what the search filters by"
            document_source(value).within(SearchFilter(unseen=unseen))
        check_option(str(info.field_name), value)
        return value

    _source: tuple[Any, Any] = PrivateAttr(default=(None, None))

    _problems: Problems = PrivateAttr()
    """The warnings that were given."""

    def model_post_init(self, _: Any) -> None:
        """Begin without any problem."""
        self._problems = Problems(type(self).__name__)

    def context_options(self) -> ContextOptions:
        """Return the options as the core takes them."""
        if self._source[0] is not self.documents:
            self._source = self.documents, source_or_none(self.documents)
        options = {name: getattr(self, name) for name in DEFAULTS}
        return ContextOptions(**{**options, "documents": self._source[1]})


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
