"""`verify()` and `averify()`, as every component has them that searches a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oprag.diagnosing.report import Diagnosis
    from oprag.diagnosing.verifying import Verification


class Verifiable:
    """Tells before the first question what would fail question by question."""

    def verify(self, sample: int | None = 200) -> Diagnosis:
        """Say before the first question what would fail question by question.

        Args:
            sample: Chunks of the store to look at, the first ones; None for all. Of
                documents of which these say too little (one chunk without a
                position, pages alone) the others are looked for in the whole store.

        Returns:
            All that the doctor finds on them: see `oprag.diagnosing.Diagnosis`.

        Raises:
            UnfitIndexError: The store is empty; or chunks lack what names their
                document or their position, or these cannot be true (with "locate":
                be found in the full texts); or the full text of a document cannot
                be had; or none tells the neighbours that `widen` reads. The
                error carries the diagnosis.
            InvalidOptionError: `sample` is not possible, or what store is searched
                cannot be seen.

        Warns:
            PositionWarning: In the place of `UnfitIndexError`, with
                `on_problem="warn"`, where questions are answered all the same.
        """
        return self._verification().run(sample)

    async def averify(self, sample: int | None = 200) -> Diagnosis:
        """Async version of `verify`."""
        return await self._verification().arun(sample)

    def _verification(self) -> Verification:
        """What the component asks of its store."""
        raise NotImplementedError
