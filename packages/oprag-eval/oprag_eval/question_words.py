"""The words in which questions are asked: our own, or the papers' content.

One task line for each set says how its answers are to look, because its measure
compares words: QMSum's are sentences, Qasper's may be yes or no. All words here are our
own; their content is given with its source.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

from oprag.calls import CONTEXT_PART, SENTINEL
from oprag.errors import InvalidOptionError
from oprag.units import LONG_PROMPT, SHORT_PROMPT
from oprag_eval.data import Dataset

AnswerStyle: TypeAlias = Literal["letter", "brackets"]
"""`"letter"`: multiple choice is answered with the option's letter alone, and an open
question in as few words as it takes. `"brackets"`: multiple choice with a short
explanation and then the option's number as `[[n]]`, and an open question in 1 to 20
words. LongRAG's calls for open questions are its own in both.

Source:
    `"brackets"`: DOS RAG (arXiv:2506.03989), appendix A.8.
"""

WordingSource: TypeAlias = Literal["own", "paper"]
"""`"own"`: the same for every set, but for its task line; all may be declined.
`"paper"`: the content of the papers' prompts."""

_OPEN_REFUSAL = f"""
If the text does not hold the answer to the question, write the following and \
nothing more: {SENTINEL}
"""
_CHOICE_REFUSAL = f"""
If the text does not show which option is right, write the following and nothing \
more: {SENTINEL}
"""
_ASKED = "\n\nQuestion: {question}\n"
_OPTIONS = "{options}\n"
_ANSWER = "Answer:"
_TERSE = "alone, in as few words as it takes"
_BRIEF = "in 1 to 20 words, and nothing beyond it"
_LETTER = "the letter of the right option and nothing more"
_EXPLAINED = """\
say in a sentence or two what the text shows, and after that write the number of the \
right option in double square brackets, [[1]] for the first."""
_PAPER_CHOICE_RULE = f"Exactly one option is right: write {_LETTER}."
_PAPER_EXPLAINED = (
    CONTEXT_PART
    + _ASKED
    + _OPTIONS
    + """
Choose the option that fits the text best. Explain your choice briefly first, and then \
give its number in double square brackets: [[1]] stands for the first option."""
)
_PAPER_BRIEF = (
    CONTEXT_PART
    + _ASKED
    + """
Answer from this text alone. Be short and factual, 1 to 20 words if you can, without \
an explanation or a detail that is not asked for."""
)
_PAPER_MAY_DECLINE = f"""
If the text does not say it outright, write: {SENTINEL}"""

_TITLES_PART = """\
The text consists of articles of Wikipedia, each with its title and its text. In this \
order they are: {titles}

"""
_OF_NQ = """
Look through the articles and take the answer out of them. Give it directly, and keep \
it very short."""
_OF_HOTPOTQA = """
Look for the articles that help, and answer from them. There are two kinds of \
questions. Where things are compared, the answer is yes or no, or one of the two. To \
any other, give a short answer in exactly the words of the articles, so that it can \
mean one thing only. Give it directly, and write nothing besides."""
_FURTHER_ANSWERS = {
    "the Danube": "Danube",
    "27 September 1825": "September 1825",
    "Wolfgang Amadeus Mozart": "Mozart",
    "a heptagon": "heptagon",
    "the mountain forests of central Mexico": "central Mexico",
}
"""Further answers to examples of LongRAG's second prompt.

The authors repeat the examples with them.
"""
_AFTER_ANSWER = re.compile(r"\banswer:\s(.*)", re.IGNORECASE)


class Task(NamedTuple):
    """The words that are particular to a set."""

    material: str = ""
    """The kind of text, for the papers' prompts; empty if no paper asks the set."""
    form: str = ""
    """The form of an open answer. Empty: in as few words as it takes."""
    units: str = ""
    """The task of LongRAG's first call, if its paper asks the set."""


_NO_TASK = Task()
_PHRASE = "as concisely as you can, in a single phrase if possible, unexplained"
_ALONE = "alone, without another word"
_PASSAGES = Task("several passages", _ALONE)
_STORY = Task("a story, which is a novel or the script of a film,", _PHRASE)
_ARTICLE = Task(
    "a scientific article",
    "as concisely as you can, in a single phrase or sentence if possible, unexplained; "
    "to a question that asks for yes or no, write yes or no",
)
_NUMBER = Task("a long text with something hidden in it", _ALONE)

TASKS: Mapping[str, Task] = MappingProxyType(
    {
        "infinitebench/en.mc": Task("a book"),
        "infinitebench/en.qa": Task("a book", f"very concisely, {_ALONE}"),
        "infinitebench/passkey": _NUMBER,
        "longbench/2wikimqa": _PASSAGES,
        "longbench/hotpotqa": _PASSAGES,
        "longbench/multifieldqa_en": Task("a text", f"briefly, {_ALONE}"),
        "longbench/musique": _PASSAGES,
        "longbench/narrativeqa": _STORY,
        "longbench/qasper": _ARTICLE,
        "longbench/qmsum": Task(
            "the transcript of a meeting", "in one or more sentences"
        ),
        "longrag/hotpot_qa": Task("articles of Wikipedia", _ALONE, _OF_HOTPOTQA),
        "longrag/nq": Task("articles of Wikipedia", _ALONE, _OF_NQ),
        "narrativeqa": _STORY,
        "passkey/larger": _NUMBER,
        "passkey/literal": _NUMBER,
        "passkey/reworded": _NUMBER,
        "quality": Task("an article or a story"),
    }
)
"""The tasks, by the names that sets are loaded by.

Source:
    Self-Route (arXiv:2407.16833), table 5, after LongBench and ∞Bench; LongRAG's
    code (arXiv:2406.15319).
"""

_OWN_FORMS = {
    "longbench/qmsum": "in one or more sentences",
    "longbench/qasper": f"{_TERSE}; to a question that asks for yes or no, yes or no",
}
"""Task lines of our own prompts, if they differ from the usual one."""


@dataclass(frozen=True)
class Wording:
    """The words of a run; see `wording_for`."""

    source: WordingSource = "own"
    decline: bool = True
    """Whether the model may decline; the steps of Self-Route before the last one
    always let it, or nothing would be routed."""
    task: Task = _NO_TASK
    """Our own words use only its form."""

    def template(
        self, style: AnswerStyle, *, options: bool, routing: bool = False
    ) -> str:
        """Return the prompt of a question, to be filled."""
        may = self.decline or routing
        if self.source == "paper":
            return self._of_paper(style, options=options, may=may, routing=routing)
        explained = options and style == "brackets"
        form = self.task.form or (_BRIEF if style == "brackets" else _TERSE)
        task = f"write {_LETTER if options else f'the answer {form}'}."
        task = _EXPLAINED if explained else task
        if may:
            task = f"{_CHOICE_REFUSAL if options else _OPEN_REFUSAL}Otherwise {task}"
        else:
            task = "\n" + (f"First {task}" if explained else task.replace("w", "W", 1))
        return f"{CONTEXT_PART}{task}{_ASKED}{_OPTIONS if options else ''}{_ANSWER}"

    def _of_paper(
        self, style: AnswerStyle, *, options: bool, may: bool, routing: bool
    ) -> str:
        """Return DOS RAG's prompt for the style `"brackets"`, else that of Self-Route.

        DOS RAG's options may not be declined. Self-Route gives the task before the
        text and again after it.
        """
        if style == "brackets":
            body = _PAPER_EXPLAINED if options else _PAPER_BRIEF
            let = routing if options else may
            return f"{body}{_PAPER_MAY_DECLINE if let else ''}\n{_ANSWER}"
        form = self.task.form or _TERSE
        rule = _PAPER_CHOICE_RULE if options else f"Write the answer {form}."
        if may:
            rule += f" If it cannot be answered from the text, write: {SENTINEL}"
        head = f"You are given {self.task.material} and a question on it. {rule}\n\n"
        asked = f"{_ASKED}{_OPTIONS if options else ''}{_ANSWER}"
        return f"{head}{CONTEXT_PART}\n{rule}{asked}"

    def of_units(self, prompt: Literal["long", "short"]) -> str:
        """Return a prompt of LongRAG; the first of the paper takes `{titles}`, too."""
        if self.source == "own" or not self.task.units:
            return LONG_PROMPT if prompt == "long" else SHORT_PROMPT
        if prompt == "long":
            return f"{_TITLES_PART}{CONTEXT_PART}{self.task.units}{_ASKED}{_ANSWER}"
        examples = []
        for example in SHORT_PROMPT.split("\n\n"):
            examples.append(example)
            for answer, further in _FURTHER_ANSWERS.items():
                if example.endswith(f": {answer}"):
                    examples.append(example.removesuffix(answer) + further)
        return "\n\n".join(examples)

    def said(self, reply: str) -> str:
        """Return the part of a LongRAG reply that counts.

        In the paper it is the part after `answer:`.
        """
        of_paper = self.source == "paper" and self.task.units
        found = _AFTER_ANSWER.search(reply) if of_paper else None
        return found[1] if found else reply


def wording_for(
    dataset: Dataset,
    source: WordingSource = "own",
    *,
    decline: bool = True,
    style: AnswerStyle = "letter",
) -> Wording:
    """Choose the words for a set, whose name gives the task line.

    Raises:
        InvalidOptionError: No paper asks this set.
    """
    name = dataset.name.removesuffix("/documents")
    task = TASKS.get(name, _NO_TASK)
    if source == "own":
        return Wording(decline=decline, task=Task(form=_OWN_FORMS.get(name, "")))
    if not task.material and style == "letter":
        message = (
            f"prompts='paper': no paper asks the questions of {dataset.name!r} for "
            "letters or short answers. Give own."
        )
        raise InvalidOptionError(message, option="prompts", value=source)
    return Wording("paper", decline=decline, task=task)
