"""Two answers to the question of a tab, from the same passages in two orders."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Thread

from oprag_cli.play.desk import ORDERS, ReadingOrder, Step
from oprag_cli.play.session import Session, attempt


@dataclass
class Answer:
    """An answer while it is written."""

    order: ReadingOrder
    text: str = ""
    problem: str = ""
    working: bool = True
    facts: list[str] = field(default_factory=list)
    """Lines on the tokens, once the answer is there."""
    cited: list[str] = field(default_factory=list)
    """Numbers that it cites, unknown ones too."""


class Answering:
    """The answers of a tab: one for each order, to one question at a time.

    Args:
        session: The session of the tab.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.step: Step | None = None
        """The passages that were sent; None before the first question."""
        self.answers: list[Answer] = []
        self._wanted = False

    @property
    def model(self) -> str:
        """The chat model, as the user named it; empty for none."""
        return self.session.workshop.chat_model

    @property
    def working(self) -> bool:
        """Whether an answer is being written."""
        return any(answer.working for answer in self.answers)

    @property
    def cited(self) -> list[int]:
        """Numbers of the passages that are cited, in the order they were sent in."""
        if self.step is None:
            return []
        cited = {number for answer in self.answers for number in answer.cited}
        return [n for n in self.step.numbers("document") if str(n) in cited]

    def want(self) -> None:
        """Have the question answered: now, or as soon as its passages are there."""
        self._wanted = bool(self.model)
        self.start_wanted()

    def start_wanted(self) -> None:
        """Begin to answer, if that is wanted and the passages are there.

        If an answer to an earlier question still comes, it is not shown any more.
        """
        step, session = self.session.step, self.session
        if not self._wanted or step is None or session.searching:
            return
        self._wanted = False
        self.step = step
        self.answers = [Answer(order) for order in ORDERS]
        session.version += 1
        for answer in self.answers:
            Thread(target=self._work, args=[step, answer], daemon=True).start()

    def _work(self, step: Step, answer: Answer) -> None:
        answer.problem = attempt(lambda: self._answer(step, answer))
        answer.working = False
        self.session.version += 1

    def _answer(self, step: Step, answer: Answer) -> None:
        from oprag.tokens import resolve_token_counter
        from oprag_cli.answers import answer_from_passages, find_cited_numbers
        from oprag_cli.chat_models import load_chat_model
        from oprag_cli.search import Search

        def write(piece: str) -> None:
            answer.text += piece
            answer.cited = find_cited_numbers(answer.text)
            self.session.version += 1

        sent = step.write_sent(answer.order)
        found = step.retrieved._replace(
            context=sent, tokens=resolve_token_counter()(sent)
        )
        model = load_chat_model(self.model)
        search = Search(step.desk.shelf.read, step.desk.index, found)
        given = answer_from_passages(model, self.model, search, write)
        report = given.report().split("\n\n", 1)[1]
        answer.facts = [line.partition(": ")[2] for line in report.splitlines()]
