"""A look beside the first questions, which may be several at once."""

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

from oprag.context import ContextOptions, Problems
from oprag.diagnosing import FirstLook
from oprag.stores import SearchedChunks, SearchFilter, StoredChunk
from tests.kit.fake_store import FakeStore

QUESTIONS = 8
NO_DOCUMENT = [StoredChunk(f"text {n}", {}, str(n)) for n in range(3)]


class _Slow(FakeStore):
    """A store whose chunks come when all questions wait for the findings."""

    is_embedded = False

    def __init__(self, are_asked: threading.Barrier) -> None:
        super().__init__(NO_DOCUMENT)
        self._are_asked = are_asked

    def first(self, *arguments):
        self._are_asked.wait()
        return super().first(*arguments)


def test_of_questions_at_once_none_fails_and_one_tells():
    for _ in range(10):
        look, problems = FirstLook(), Problems("It")
        are_asked = threading.Barrier(QUESTIONS + 1)
        chunks = SearchedChunks(_Slow(are_asked), SearchFilter())

        def ask(_, look=look, problems=problems, are_asked=are_asked, chunks=chunks):
            look.begin(lambda: chunks, ContextOptions())
            are_asked.wait()
            look.tell(problems)

        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            with ThreadPoolExecutor(QUESTIONS) as questions:
                assert len([*questions.map(ask, range(QUESTIONS))]) == QUESTIONS
            for _ in range(100):  # it warns as soon as it has found something
                look.tell(problems)
        assert len(warned) == 1
