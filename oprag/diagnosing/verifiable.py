"""`verify()` and `averify()`, as every component has them that searches a store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Never

from oprag.context import DESCRIPTIONS, refuse_unknown

if TYPE_CHECKING:
    from oprag.diagnosing.report import Diagnosis
    from oprag.diagnosing.verifying import Verification


class Verifiable:
    """Tells before the first question what would fail question by question."""

    def verify(self, sample: int | None = 200, **options: Never) -> Diagnosis:
        """Say before the first question what would fail question by question.

        Args:
            sample: Chunks of the store to look at, the first ones; None for all. Of
                documents of which these say too little (one chunk without a
                position, pages alone) the others are looked for in the whole store.
            **options: None: all others are the component's own.

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
        self._refuse_options_of_its_own(options)
        return self._verification().run(sample)

    async def averify(self, sample: int | None = 200, **options: Never) -> Diagnosis:
        """Async version of `verify`."""
        self._refuse_options_of_its_own(options)
        return await self._verification().arun(sample)

    def _refuse_options_of_its_own(self, options: Mapping[str, Any]) -> None:
        set_on = f"Give it to {type(self).__name__}: verify() goes by its options."
        own = {name: set_on for name in options if name in DESCRIPTIONS}
        refuse_unknown(options, ("sample",), own)

    def _verification(self) -> Verification:
        """What the component asks of its store."""
        raise NotImplementedError
