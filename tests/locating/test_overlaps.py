"""Overlaps prove the order of chunks, or nothing: never a wrong one."""

import random

import pytest
from langchain_text_splitters import RecursiveCharacterTextSplitter

from oprag.locating import chain_pages
from tests.kit.effort import cases
from tests.kit.growth import LINEAR, time_growth
from tests.locating.chained_pages import damaged, documents, is_right
from tests.locating.texts import reference

pytestmark = pytest.mark.filterwarnings("ignore")
SPLITTER = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200)


def lines(count: int, of: str = "page") -> str:
    rng = random.Random(f"{of} {count}")  # noqa: S311 -- a text, no secret
    letters = "abcdefghijklmnopqrstuvwxyz"
    return "\n".join(
        " ".join("".join(rng.choices(letters, k=6)) for _ in range(10))
        for _ in range(count)
    )


def cut(text: str) -> list[str]:
    chunks = SPLITTER.split_text(text)
    assert len(chunks) > 2
    return chunks


def other_pages() -> dict[int, list[str]]:
    return {number: cut(lines(40, f"other {number}")) for number in range(1, 5)}


def ordered(chain) -> list[str]:
    return sorted(chain.starts, key=chain.starts.__getitem__)


def test_shuffled_chunks_of_a_page_stand_where_their_page_has_them():
    text = lines(60)
    chunks = cut(text)
    shuffled = random.Random(1).sample(chunks, len(chunks))  # noqa: S311 -- as above
    chain = chain_pages({0: shuffled, **other_pages()})[0]
    assert ordered(chain) == chunks
    assert all(text.startswith(chunk, at) for chunk, at in chain.starts.items())


def test_a_hidden_chunk_breaks_the_chain():
    chunks = cut(lines(60))
    del chunks[2]
    assert chain_pages({0: chunks, **other_pages()})[0].why_not == "unlinked"


def test_without_overlaps_nothing_is_proved():
    splitter = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=0)
    chunks = splitter.split_text(lines(60))
    assert chain_pages({0: chunks, **other_pages()})[0].why_not == "unlinked"


def test_a_text_that_is_drawn_twice_proves_nothing():
    page = lines(30)
    assert chain_pages({0: cut(f"{page}\n{page}"), **other_pages()})[0].why_not


def test_chunks_of_two_sizes_prove_nothing():
    page = lines(40)
    small = RecursiveCharacterTextSplitter(chunk_size=400, chunk_overlap=80)
    chunks = [*cut(page), *small.split_text(page)]
    assert chain_pages({0: chunks, **other_pages()})[0].why_not == "nested"


def test_the_same_page_twice_is_proved_as_once():
    chunks = cut(lines(60))
    chains = chain_pages({0: chunks[::-1], 9: chunks, **other_pages()})
    assert ordered(chains[0]) == ordered(chains[9]) == chunks


def test_a_head_that_is_the_foot_too_joins_nothing():
    head = lines(2, "head")
    text = f"{head}\n{lines(40)}\n{head}"
    chunks = cut(text)
    for lost in range(len(chunks)):
        left = [chunk for n, chunk in enumerate(chunks) if n != lost]
        chain = chain_pages({0: left})[0]
        assert chain.why_not or ordered(chain) == left


def test_one_chunk_alone_is_in_order():
    assert chain_pages({3: ["A page of few words."]})[3].starts == {
        "A page of few words.": 0
    }


def test_only_the_pages_that_are_wanted_are_looked_at():
    pages = other_pages()
    assert [*chain_pages(pages, [2])] == [2]
    assert chain_pages(pages, [2])[2] == chain_pages(pages)[2]


def test_whatever_the_order_of_the_store_the_result_is_the_same():
    pages = other_pages()
    turned = {key: chunks[::-1] for key, chunks in reversed(pages.items())}
    assert chain_pages(pages) == chain_pages(turned)


@pytest.mark.parametrize("hidden", [0, 0.01, 0.25, 0.5])
def test_no_order_is_wrong_whatever_repeats_itself_is_lost_or_hidden(hidden):
    rng = random.Random(hidden)  # noqa: S311 -- as above
    proved = 0
    for document in documents(57, cases(400)):
        seen = damaged(rng, document, hidden)
        for page, chain in chain_pages(seen, hidden=hidden > 0).items():
            if len(chain.starts) > 1:
                proved += 1
                assert is_right(document, page, ordered(chain))
    # Of neighbours that are half hidden hardly one pair is left to prove anything.
    assert proved or hidden == 0.5


def test_the_time_for_chunks_grows_as_their_number_does():
    chunks = SPLITTER.split_text(reference(450_000))

    def chain(count):
        of_one_page = {0: chunks[:count]}
        pages = {n // 3: chunks[n : n + 3] for n in range(0, count, 3)}
        return lambda: (chain_pages(pages, range(8)), chain_pages(of_one_page))

    assert time_growth(chain, 500) < LINEAR
