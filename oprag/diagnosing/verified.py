"""`verify()` of the components of both frameworks."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oprag.diagnosing.report import Diagnosis
    from oprag.diagnosing.verifying import Verification


class Verified:
    """A component that says before the first question what would fail."""

    @abstractmethod
    def _verification(self, sample: int | None) -> Verification:
        """Return what is to be looked at; imported no earlier than that."""

    def verify(self, sample: int | None = 200) -> Diagnosis:
        """Say before the first question what would fail question by question.

        Args:
            sample: Chunks of the store to look at, the first ones; None for all.

        Returns:
            All that the doctor finds on them: see `oprag.diagnosing.Diagnosis`.

        Raises:
            UnfitIndexError: The store is empty, or chunks lack what names their
                document or their position, or these cannot be true (with
                "locate": be found in the full texts), or a full text that may be
                needed cannot be had. The error carries the diagnosis.
            InvalidOptionError: What store is searched cannot be seen.

        Warns:
            PositionWarning: In the place of `UnfitIndexError`, with
                `on_problem="warn"`.
        """
        return self._verification(sample).run()

    async def averify(self, sample: int | None = 200) -> Diagnosis:
        """Async version of `verify`."""
        return await self._verification(sample).arun()
