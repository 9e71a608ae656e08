"""Pickles that LlamaIndex would make with settings left out."""

from __future__ import annotations

import pickle
from typing import Any

from llama_index.core.bridge.pydantic import BaseModel


def refuse_lost_state(component: BaseModel, state: dict[str, Any]) -> None:
    """Refuse a pickle that would come back with other settings.

    LlamaIndex leaves out a setting that cannot be pickled, so that its default comes
    back instead.

    Args:
        component: The component that is being pickled.
        state: The state that LlamaIndex made of it.

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
