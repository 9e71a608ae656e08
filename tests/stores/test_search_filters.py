"""A filter of a search, and a source of full texts."""

import pytest

from oprag.documents import StoreSource, document_source
from oprag.errors import (
    DocumentNotFoundError,
    IncompleteDocumentError,
    InvalidOptionError,
)
from oprag.metadata import document_key, document_version, text_stamp
from oprag.stores import (
    ChunkStore,
    SearchFilter,
    StoredChunk,
    combine_filters,
    inner_retrievers,
    is_unchanged,
)
from tests.kit.fake_store import FakeStore

NAME = "a.txt"
SECRET = "the other tenant's words"


def rows(owners, *, version="", texts=None, **metadata):
    texts = texts or [SECRET if owner == "b" else "our words. " for owner in owners]
    made, start = [], 0
    version = version and document_version(version, ["".join(texts)])
    for index, (owner, text) in enumerate(zip(owners, texts, strict=True)):
        place = {"char_start": start, "char_end": start + len(text)}
        start += len(text)
        own = {"chunk_index": index, "n_chunks": len(owners), "tenant": owner}
        own |= {"doc_key": document_key(NAME), "doc_version": version, **metadata}
        if not index:
            own |= text_stamp("".join(texts))
        chunk_id = f"{version}-{index}"
        made.append(StoredChunk(text, {**own, **place}, chunk_id))
    return made


OWN = SearchFilter({"tenant": "a"})


def test_texts_that_the_application_gave_are_its_own_decision(tmp_path):
    (tmp_path / NAME).write_text("all", encoding="utf-8")
    unseen = SearchFilter(unseen="nobody knows")
    for documents in ({NAME: "all"}, {NAME: "all"}.get, tmp_path):
        source = document_source(documents)
        assert source.within(OWN) is source
        assert source.within(unseen).get(NAME) == "all"


async def test_a_document_that_is_admitted_wholly_comes_back():
    source = StoreSource(FakeStore(rows("aaa"))).within(OWN)
    assert source.get(NAME) == await source.aget(NAME) == "our words. " * 3


@pytest.mark.parametrize("owners", ["ab", "ba", "aba", "bab", "aabb"])
async def test_of_a_document_that_is_not_nothing_comes_back(owners):
    whole = StoreSource(FakeStore(rows(owners)))
    source = whole.within(OWN)
    for ask in (lambda: source.get(NAME), lambda: source.read(NAME)):
        with pytest.raises(DocumentNotFoundError, match="hides chunks of") as caught:
            ask()
        assert caught.value.document == NAME
        assert SECRET not in f"{caught.value} {caught.value.__cause__}"
    with pytest.raises(DocumentNotFoundError):
        await source.aget(NAME)
    assert SECRET in whole.get(NAME)


def test_one_that_is_hidden_wholly_is_as_if_it_were_not_there():
    source = StoreSource(FakeStore(rows("bb"))).within(OWN)
    with pytest.raises(DocumentNotFoundError) as caught:
        source.get(NAME)
    assert type(caught.value) is DocumentNotFoundError
    assert "fake store within the search's filter" in str(caught.value)


@pytest.mark.parametrize("other", ["ab", "ba", "bb", "abb"])
def test_of_two_versions_only_an_admitted_one_is_read(other):
    old = rows(other, version="old", texts=["x"] * len(other))
    new = rows("aa", version="new", texts=["x"] * 2)
    assert StoreSource(FakeStore([*old, *new])).within(OWN).get(NAME) == "xx"

    mixed = rows("ab", version="new", texts=["x"] * 2)
    source = StoreSource(FakeStore([*old, *mixed])).within(OWN)
    with pytest.raises(DocumentNotFoundError):
        source.get(NAME)


def test_a_store_that_ignores_the_filter_gives_nothing_away():
    store = FakeStore(rows("aba"))
    store.ignores = True
    with pytest.raises(DocumentNotFoundError):
        StoreSource(store).within(OWN).get(NAME)
    unmarked = [row._replace(metadata={**row.metadata}) for row in rows("aaa")]
    del unmarked[1].metadata["tenant"]
    store.rows = unmarked
    with pytest.raises(DocumentNotFoundError):
        StoreSource(store).within(OWN).get(NAME)


def test_ids_limit_what_is_read_as_a_filter_does():
    source = StoreSource(FakeStore(rows("aaa")))
    assert source.within(SearchFilter(ids=frozenset({"-0", "-1", "-2"}))).get(NAME)
    with pytest.raises(DocumentNotFoundError):
        source.within(SearchFilter(ids=frozenset({"-0", "-2"}))).get(NAME)


def test_a_gap_between_chunks_that_are_all_there_is_no_fault_of_the_filter():
    apart = rows("aa")
    apart[0].metadata["text_length"] = 101
    apart[1].metadata.update(char_start=90, char_end=101)
    with pytest.raises(IncompleteDocumentError):
        StoreSource(FakeStore(apart)).within(OWN).get(NAME)


class OwnStore(ChunkStore):
    """As users write them: of filters it knows nothing."""

    name = "the company's store"

    def read(self, wanted=None, ids=None):
        return rows("ab")


def test_a_store_that_does_not_say_that_it_takes_filters_is_refused():
    source = StoreSource(OwnStore())
    with pytest.raises(InvalidOptionError) as caught:
        source.within(OWN)
    message = str(caught.value)
    assert "{'tenant': 'a'}" in message
    assert "the company's store" in message
    assert "leave documents= out" in message
    assert SECRET in source.within(SearchFilter()).get(NAME)


def test_filters_come_on_top_of_one_another():
    marked = rows("aa", texts=["x", "y"], level="low")
    marked[1].metadata["level"] = "high"
    within = FakeStore(marked).within({"tenant": "a"})
    assert len(within.read({document_key(NAME): None})) == 2
    assert len(within.within({"level": "low"}).read({document_key(NAME): None})) == 1
    assert within.filters == ({"tenant": "a"},)
    with pytest.raises(InvalidOptionError, match="'no filter of its own'"):
        within.within("no filter of its own")


def test_several_searches_have_one_filter_or_none_that_can_be_carried_over():
    none, other = SearchFilter(), SearchFilter({"tenant": "b"})
    unseen = SearchFilter(unseen="nobody knows")
    assert combine_filters([]) == combine_filters([none, none]) == none
    assert combine_filters([OWN, none, OWN]) == combine_filters([none, OWN]) == OWN
    assert combine_filters([none, unseen]) == combine_filters([unseen, OWN]) == unseen
    assert combine_filters([OWN, other]).unseen


class Retriever:
    inner = "one"

    def retrieve(self):
        """Retrieve."""


class Tuned(Retriever):
    """Only says how many."""

    k = 3

    def describe(self):
        """Describe."""


class Changed(Tuned):
    def retrieve(self):
        """Do as one likes."""


class ChangedFurtherUp(Changed):
    pass


def test_a_subclass_that_searches_in_its_own_way_is_told_from_others():
    assert is_unchanged(Retriever(), Retriever)
    assert is_unchanged(Tuned(), Retriever)
    assert not is_unchanged(Changed(), Retriever)
    assert not is_unchanged(ChangedFurtherUp(), Retriever)
    assert not is_unchanged(object(), Retriever)


def test_only_listed_classes_are_looked_into():
    listed = {("tests", "Retriever"): "inner"}
    assert inner_retrievers(Retriever(), listed) == ["one"]
    assert inner_retrievers(Tuned(), listed) == []
    assert inner_retrievers(Retriever(), {("elsewhere", "Retriever"): "inner"}) == []
