"""Self-Route's answer to the question of a tab, while it is written, and its cost."""

from __future__ import annotations

from threading import Thread
from typing import Any

from oprag.calls import TokenUsage, without_secrets
from oprag.cli.play.session import Session, Step
from oprag.cli.telling import note
from oprag.errors import OpragError

HOW = (
    "No chat model is named. Start the page with one to have questions answered: "
    "oprag play --model openai:gpt-4o-mini, or once for all with "
    "OPRAG_MODEL=openai:gpt-4o-mini."
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
        """What was read, the route, tokens and money."""
        self.working = False

    def start(self) -> None:
        """Begin to answer the question; nothing while another is being answered."""
        step = self._session.step
        if self.working or step is None or not self._workshop.chat_model:
            return
        self.question, self.text, self.problem, self.facts = "", "", "", []
        self.question = step.retrieved.question
        self.working = True
        self._session.version += 1
        Thread(target=self._work, args=[step], daemon=True).start()

    def view(self) -> dict[str, Any]:
        """What the page shows."""
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
        try:
            self._answer(step)
        except OpragError as error:
            self.problem = without_secrets(error.message)
        except Exception as error:  # noqa: BLE001 -- else the page waits for ever
            note(f"The question could not be answered: {error!r}")
            self.problem = "The question could not be answered; the terminal says why."
        self.working = False
        self._session.version += 1

    def _write(self, piece: str) -> None:
        self.text += piece
        self._session.version += 1

    def _answer(self, step: Step) -> None:
        from oprag.cli.routing import route_report, stream_routed_answer
        from oprag.cli.searching import Search

        workshop = self._workshop
        answer = stream_routed_answer(
            workshop.client(),
            workshop.chat_model,
            Search(step.desk.shelf.read, step.desk.index, step.retrieved),
            self._write,
            token_budget=step.options.token_budget,
            order=step.options.order.value,
            max_context_tokens=workshop.max_context_tokens,
        )
        report = route_report(answer)
        names = step.desk.shelf.names
        for passage in step.retrieved.passages:
            shown = names.get(passage.uri, passage.name)
            report = report.replace(passage.name, shown)
        self.facts = [*report.splitlines(), "", *self._cost(step, answer.usage)]
        if answer.cut:
            self.facts.append("The answer is cut off: its longest length was reached.")

    def _cost(self, step: Step, usage: dict[str, Any]) -> list[str]:
        """Tokens, and money where there is a price, beside the full documents'."""
        from oprag.tokens import resolve_token_counter

        counter = resolve_token_counter()
        names = {passage.uri for passage in step.retrieved.passages}
        full = sum(counter(step.desk.whole[name]) for name in names)
        sent = TokenUsage(
            usage["input_tokens"],
            usage["output_tokens"],
            usage["cached_tokens"],
            estimated=usage["estimated"],
        )
        said = f"Tokens: {sent.input_tokens:,} in, {sent.output_tokens:,} out."
        lines = [f"{said} The full documents alone: {full:,} in."]
        if price := self._workshop.price:
            paid, whole = price.cost(sent), price.cost(TokenUsage(full, 0))
            lines.append(f"Cost: {paid:.4f}. The full documents alone: {whole:.4f}.")
        return lines
