"""Named bundles of options: what was measured to work, under one word."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from oprag.errors import InvalidOptionError, did_you_mean

PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {"recall": MappingProxyType({"selection": "expand", "merge": True})}
)
"""Settings of each preset. `"recall"`: as much of the evidence as a number of tokens
holds."""


def check_preset(name: Any) -> None:
    """Reject what is no preset.

    Raises:
        InvalidOptionError: It is neither None nor the name of one.
    """
    if name is None or (isinstance(name, str) and name in PRESETS):
        return
    hint = did_you_mean(str(name), PRESETS)
    known = ", ".join(map(repr, PRESETS))
    message = f"There is no preset {name!r}.{hint} Known presets: {known}."
    raise InvalidOptionError(message, option="preset", value=name)


def with_preset(name: str | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Add a preset's settings to the options that were given.

    Args:
        name: The preset; None for none.
        given: Options that were set explicitly; these always hold.

    Raises:
        InvalidOptionError: There is no such preset.
    """
    check_preset(name)
    return {**(PRESETS[name] if name else {}), **given}
