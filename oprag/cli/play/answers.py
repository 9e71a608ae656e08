"""Self-Route's answer to the question of a tab, while it is written, and its cost."""

from __future__ import annotations

from threading import Thread
from typing import Any

from oprag.cli.play.session import Session, Step, attempt

HOW = (
    "No chat model is named. To have questions answered, start the page with one: "
    "oprag play --model openai:gpt-4o-mini (or set OPRAG_MODEL)."
)


class Answering:
    """One answer of a tab at a time.

    Args:
        session: The tab's.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._workshop = session.workshop
        self.question = ""
        self.text = ""
        self.problem = ""
        self.facts: list[str] = []
        """Lines about the passages read, the route, and the tokens."""
        self.working = False

    def start(self) -> None:
        """Begin to answer the question; nothing while another is being answered."""
        step = self._session.step
        if self.working or step is None or not self._workshop.chat_model:
            return
        self.question = step.retrieved.question
        self.text, self.problem, self.facts = "", "", []
        self.working = True
        self._session.version += 1
        Thread(target=self._work, args=[step], daemon=True).start()

    def view(self) -> dict[str, Any]:
        """Return the answer's state, for the page."""
        model = self._workshop.chat_model
        return {
            "model": model,
            "how": "" if model else HOW,
            "question": self.question,
            "text": self.text,
            "problem": self.problem,
            "facts": self.facts,
            "working": self.working,
        }

    def _work(self, step: Step) -> None:
        self.problem = attempt(lambda: self._answer(step))
        self.working = False
        self._session.version += 1

    def _write(self, piece: str) -> None:
        self.text += piece
        self._session.version += 1

    def _answer(self, step: Step) -> None:
        from oprag.cli.answers import answer_by_self_route
        from oprag.cli.chat_models import load_chat_model
        from oprag.cli.search import Search
        from oprag.tokens import resolve_token_counter

        workshop, desk = self._workshop, step.desk
        answer = answer_by_self_route(
            load_chat_model(workshop.chat_model),
            workshop.chat_model,
            Search(desk.shelf.read, desk.index, step.retrieved),
            self._write,
            token_budget=step.options.token_budget,
            order=step.options.order,
            max_context_tokens=workshop.max_context_tokens,
            decline=workshop.decline,
        )
        names = {passage.text_id for passage in step.retrieved.passages}
        whole = sum(map(resolve_token_counter(), [desk.whole[name] for name in names]))
        self.facts = [
            *answer.report().splitlines(),
            "",
            f"The full documents alone: {whole:,} tokens in.",
        ]
