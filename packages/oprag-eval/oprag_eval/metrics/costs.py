"""What Self-Route takes of the tokens of full documents."""

from __future__ import annotations

from oprag.errors import invalid_option


def token_share(used: int, long_context: int) -> float:
    """Return Self-Route's token share: input tokens used / those of the full documents.

    Args:
        used: Input tokens of all steps, over all questions.
        long_context: Input tokens of the same questions asked with the full
            documents; at least 1.

    Returns:
        0.3839 stands for the 38.39 % of the paper. Over 1 where routing cost more.

    Raises:
        InvalidOptionError: The divisor is not at least 1.

    Source:
        Self-Route (arXiv:2407.16833), section 5: "token %".
    """
    if long_context < 1:
        takes = "It takes at least 1 token."
        raise invalid_option("long_context", long_context, takes)
    return used / long_context
