"""The model alone, without a text: what it knows of the questions already."""

from __future__ import annotations

from dataclasses import dataclass

from oprag_eval.bench import Bench
from oprag_eval.contexts import Context
from oprag_eval.data import Question
from oprag_eval.reading import read
from oprag_eval.system import Attempt, System


@dataclass(frozen=True, kw_only=True)
class ClosedBook(System):
    """Asks without a context.

    What it gets right, retrieval need not be praised for.
    """

    name: str = "closed-book"

    @property
    def budgeted(self) -> bool:
        """It reads nothing."""
        return False

    async def attempt(
        self,
        question: Question,
        budget: int | None,  # noqa: ARG002 -- it has none
        bench: Bench,
    ) -> Attempt:
        """Ask."""
        return await read(question, Context("", (), 0), bench, closed_book=True)
